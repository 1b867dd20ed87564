"""`idp audit export` that is killed amid a write, at each step of its writes, and goes on."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import asynccontextmanager

import pytest

from idp.audit import sealing
from idp.cli import local
from idp.cli.event_export import exporter as event_exporter
from idp.cli.event_export import line_files, state_file
from idp.cli.event_export.exporter import Exporter, ExportOptions
from idp.cli.event_export.line_files import LineFile
from idp.foundation import private_files
from tests.support.store.auditing import store_events

EVENTS = 40
MAX_BYTES = 3_000  # of a file of the series: about ten events


class Killed(BaseException):
    """The process ends here."""


class DyingSystem:
    """The module `os` for one run, which ends at the write or sync of this number: of a write, a
    half is on disk. What the run does afterwards is not done, as if it had been killed."""

    def __init__(self, last_step: int) -> None:
        self._steps_left = last_step

    def __getattr__(self, name):
        return getattr(os, name)

    def write(self, descriptor, octets):
        self._step(lambda: os.write(descriptor, octets[: len(octets) // 2]))
        return os.write(descriptor, octets)

    def fsync(self, descriptor):
        self._step(lambda: None)
        os.fsync(descriptor)

    def _step(self, dying):
        self._steps_left -= 1
        if self._steps_left == 0:
            dying()
        if self._steps_left <= 0:
            raise Killed


async def export(service, directory, last_step=None) -> None:
    """Exports what is there. Raises `Killed` at the step."""
    lines = LineFile(directory / "events.jsonl", service.clock, MAX_BYTES)

    @asynccontextmanager
    async def opened():
        yield await local.backend(service, None)

    with pytest.MonkeyPatch.context() as patch:
        if last_step:
            system = DyingSystem(last_step)
            patch.setattr(line_files, "os", system)
            patch.setattr(private_files, "os", system)
        state = state_file.StateFile(directory / "state")
        try:
            await Exporter(lines, state, ExportOptions("access"), asyncio.Event()).run(opened)
        finally:
            lines.close()  # as the kernel does when the process ends


def positions_in(directory) -> list[int]:
    """Of all whole lines, in the order of the files."""
    first = directory / "events.jsonl"
    return [
        int(json.loads(line)["position"])
        for path in (first, *sorted(directory.glob("events-*.jsonl")))
        for line in path.read_bytes().rpartition(b"\n")[0].splitlines()
        if line.strip()
    ]


@pytest.mark.promise("audit: export")
async def test_a_killed_export_leaves_out_no_event(server, tmp_path, monkeypatch):
    monkeypatch.setattr(event_exporter, "_PAGE_SIZE", 7)
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
    assert len(list(tmp_path.glob("events-*.jsonl"))) > 1
