"""The base of commands that work on the store directly."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from idp.cli.opening import open_store_service
from idp.cli.settings import load_for_store
from idp.service import Service
from idp.start import exit_codes

Work = Callable[[Service], Awaitable[None]]


def on_store(work: Work, config_file: Path | None, flags: dict[str, object]) -> None:
    """Calls `work` with the service over the store that the options in `flags` and the settings
    file name, and ends the program with the exit code of its outcome."""
    loaded = load_for_store(config_file, flags)

    async def run() -> None:
        async with open_store_service(loaded) as service:
            await work(service)

    raise SystemExit(exit_codes.guarded(lambda: asyncio.run(run())))
