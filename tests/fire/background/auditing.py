"""Processes that write and seal events, for a test that kills them.

`python -m tests.fire.background.auditing DATA STORE write N SECONDS`, whose clock is ahead by so
much, or without end `… seal`, or `… export BYTES`, into files of so many bytes in the directory of
the data.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from idp.audit import sealing
from idp.cli.backends import BackendLocation, open_backend
from idp.cli.event_export import state_file
from idp.cli.event_export.exporter import Exporter, ExportOptions
from idp.cli.event_export.line_files import LineFile
from idp.config.settings import Config
from idp.foundation.clock import ShiftedClock, SystemClock
from idp.start import bootstrap
from tests.support.store.auditing import store_events

AT_ONCE = 50


async def opened(data: str, store: str):
    return await bootstrap.open_service(
        Config(data=data, store=store, issuer="http://localhost:1")
    )


async def write(service, n: int, ahead: float) -> None:
    """Write `n` events, by a clock that differs from that of others."""
    clock = ShiftedClock()
    clock.ahead = timedelta(seconds=ahead)
    service = replace(service, clock=clock)
    for _ in range(n // AT_ONCE):
        await store_events(service, AT_ONCE, type="session.opened", payload=[("a", "b")])


async def seal(service) -> None:
    print("ready", flush=True)
    while True:
        if not await sealing.seal_some(service):
            await asyncio.sleep(0.01)


async def export(data: str, store: str, max_bytes: int) -> None:
    flags = {"data": data, "store": store, "issuer": "http://localhost:1"}
    lines = LineFile(Path(data) / "events.jsonl", SystemClock(), max_bytes)
    with state_file.locked(Path(data) / "state") as state:
        options = ExportOptions("access", follows=True)
        print("ready", flush=True)
        await Exporter(lines, state, options, asyncio.Event()).run(
            lambda: open_backend(BackendLocation(flags=flags))
        )


async def main(data: str, store: str, mode: str, *arguments: str) -> None:
    if mode == "export":
        await export(data, store, int(arguments[0]))
        return
    service = await opened(data, store)
    try:
        if mode == "write":
            await write(service, int(arguments[0]), float(arguments[1]))
        else:
            await seal(service)
    finally:
        await bootstrap.close_service(service)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
