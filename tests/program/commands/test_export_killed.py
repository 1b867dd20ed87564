"""`idp audit export` that is killed amid a write, at each step of its writes, and goes on."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import asynccontextmanager, suppress

import pytest

from idp.audit import sealing
from idp.cli import event_export, local
from idp.cli.event_export import CursorFile, Exporter, ExportOptions, LineStream
from idp.foundation import private_files
from tests.support.store.auditing import store_events

EVENTS = 120


class Killed(BaseException):
    """The process ends here."""


class DyingSystem:
    """The module `os` for one run, which ends at the write or sync of this number: of a write, a
    half is on disk. What the run does afterwards is not done, as if it had been killed."""

    def __init__(self, last_step: int) -> None:
        self._steps_left, self._is_mortal = last_step, last_step > 0

    def __getattr__(self, name):
        return getattr(os, name)

    def fsync(self, descriptor):
        self.step(lambda: None)
        os.fsync(descriptor)

    def step(self, dying):
        self._steps_left -= 1
        if self._steps_left == 0:
            dying()
        if self._steps_left == 0 or (self._steps_left < 0 and self._is_mortal):
            raise Killed


class DyingStream:
    """A file that is written by a system that dies."""

    def __init__(self, file, system) -> None:
        self._file, self._system = file, system

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, lines):
        self._system.step(lambda: self._file.write(lines[: len(lines) // 2]))
        return self._file.write(lines)


async def export(service, directory, last_step=None) -> None:
    """Exports what is there. Raises `Killed` at the step."""

    @asynccontextmanager
    async def opened():
        yield await local.backend(service, None)

    system = DyingSystem(last_step or -1)
    with (
        pytest.MonkeyPatch.context() as patch,
        (directory / "events.jsonl").open("ab", buffering=0) as file,
    ):
        patch.setattr(event_export, "os", system)
        patch.setattr(private_files, "os", system)
        lines, cursor = LineStream(DyingStream(file, system)), CursorFile(directory / "state")
        await Exporter(lines, cursor, ExportOptions("access"), asyncio.Event()).run(opened)


def positions_in(directory) -> list[int]:
    """Of all whole lines."""
    found = []
    for line in (directory / "events.jsonl").read_bytes().rpartition(b"\n")[0].splitlines():
        with suppress(ValueError):  # a kill has cut it off
            found.append(int(json.loads(line)["position"]))
    return found


@pytest.mark.promise("audit: export")
async def test_a_killed_export_leaves_out_no_event(server, tmp_path, monkeypatch):
    monkeypatch.setattr(event_export, "_PAGE_SIZE", 4)
    await store_events(server.service, EVENTS, type="session.opened", payload=[("a", "b")])
    await sealing.seal(server.service)
    kills = 0
    while True:
        try:
            await export(server.service, tmp_path, last_step=kills + 1)
        except Killed:
            kills += 1
            server.clock.advance(1)
        else:
            break
    found = positions_in(tmp_path)

    assert kills > 10
    assert list(dict.fromkeys(found)) == list(range(1, EVENTS + 1))
