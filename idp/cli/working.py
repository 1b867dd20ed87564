"""What the commands share that work on the store directly."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from idp import exits
from idp.cli.settings import load
from idp.service import Service

Work = Callable[[Service], Awaitable[None]]


def on_store(work: Work, config_file: Path | None, flags: dict[str, object]) -> None:
    """Do `work` on the store that the flags name, and end the program."""
    config = load(config_file, flags).config

    async def opened() -> None:
        from idp import start

        service = await start.open_service(config, must_exist=True)
        try:
            await work(service)
        finally:
            await start.close_service(service)

    raise SystemExit(exits.guarded(lambda: asyncio.run(opened())))
