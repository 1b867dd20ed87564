"""Processes that write and seal events, for a test that kills them.

`python -m tests.fire.background.auditing DATA STORE write N SECONDS`, whose clock is ahead by so
much, or without end `… seal`, or `… export`, into a file in the directory of the data.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from idp.audit import sealing
from idp.cli.backends import BackendLocation, open_backend
from idp.cli.event_export import CursorFile, Exporter, ExportOptions, LineStream
from idp.config.settings import Config
from idp.foundation.clock import ShiftedClock
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


async def export(data: str, store: str) -> None:
    flags = {"data": data, "store": store, "issuer": "http://localhost:1"}
    cursor = CursorFile(Path(data) / "state")
    with cursor.locked(), (Path(data) / "events.jsonl").open("ab", buffering=0) as file:
        options = ExportOptions("access", follows=True)
        print("ready", flush=True)
        await Exporter(LineStream(file), cursor, options, asyncio.Event()).run(
            lambda: open_backend(BackendLocation(flags=flags))
        )


async def main(data: str, store: str, mode: str, *arguments: str) -> None:
    if mode == "export":
        await export(data, store)
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
