"""`idp audit export`: every sealed event as a line of JSON, whatever interrupts it."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
from contextlib import asynccontextmanager, suppress

import msgspec
import pytest

from idp.audit import event_streams, sealing
from idp.cli import local
from idp.cli.event_export import exporter as event_exporter
from idp.cli.event_export import line_files, state_file
from idp.cli.event_export.exporter import Exporter, ExportOptions
from idp.cli.event_export.line_files import LineFile
from idp.foundation.errors import IdpError
from idp.records import AUDIT_HEADS, EVENTS
from idp.start import exit_codes
from storage import Delete, Unavailable, Update
from tests.support import patience
from tests.support.management.callers import instance_owner
from tests.support.patience import until
from tests.support.programs.program import command, environment
from tests.support.programs.shell import Shell
from tests.support.store.auditing import sealed_in, store_events

TO_FILE = ("--to", "events.jsonl", "--state", "state")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(event_streams, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(event_exporter, "PAUSE_SECONDS", 0.01)


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shell = Shell(tmp_path / "data").install()
    asyncio.run(shell._with_service(sealing.seal))
    return shell


def add(shell, n, type="session.opened"):
    async def added(service):
        await store_events(service, n, type)
        await sealing.seal(service)

    asyncio.run(shell._with_service(added))


def reports(capsys) -> list[str]:
    """What the command wrote on stderr, without the log of the test's own service."""
    return [line for line in capsys.readouterr().err.splitlines() if not line.startswith("{")]


def lines(path):
    return [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def places(events):
    return [(each["stream"], int(each["position"])) for each in events]


class TestCommand:
    """What the command prints, and how it ends."""

    @pytest.mark.full
    def test_a_second_run_goes_on_after_the_first(self, shell, tmp_path):
        add(shell, 2)
        shell("audit", "export", *TO_FILE)
        before = lines(tmp_path / "events.jsonl")
        add(shell, 1500)
        ran = shell("audit", "export", *TO_FILE)
        after = lines(tmp_path / "events.jsonl")

        assert (ran.out, ran.err) == ("", "1500 events were exported\n")
        assert after[: len(before)] == before
        found = places(after)
        assert [place for place in found if place[0] == "access"] == [
            ("access", n) for n in range(1, 1503)
        ]
        assert len(found) == len(set(found))
        assert shell("audit", "export", *TO_FILE).err == "0 events were exported\n"

    @pytest.mark.full
    def test_standard_output_has_the_lines_alone(self, shell):
        add(shell, 3)
        ran = shell("audit", "export", "--stream", "access", "--to", "-", "--state", "state")

        assert places(map(json.loads, ran.out.splitlines())) == [("access", n) for n in (1, 2, 3)]

    @pytest.mark.full
    def test_it_begins_where_from_says_and_later_where_the_state_says(self, shell, tmp_path):
        begin = ("audit", "export", "--from", "latest", *TO_FILE)
        shell(*begin)
        add(shell, 2)
        shell(*begin)
        events = lines(tmp_path / "events.jsonl")
        shell(
            *("audit", "export", "--from", events[0]["cursor"]),
            *("--to", "others", "--state", "another"),
        )

        assert places(events) == [("access", 1), ("access", 2)]
        assert places(lines(tmp_path / "others")) == [("access", 2)]

    @pytest.mark.full
    @pytest.mark.parametrize(
        "content", [b"", b"[]", b'{"other": 1}', b"\xff\xfe", b'{"cursor": "a", "b": 1}']
    )
    def test_a_foreign_state_file_is_refused_and_left_alone(self, shell, tmp_path, content):
        (tmp_path / "state").write_bytes(content)
        ran = shell("audit", "export", *TO_FILE, code=exit_codes.USAGE)

        assert ran.err == (
            "idp: state is not the state of an export: name another file, or remove it\n"
        )
        assert (tmp_path / "state").read_bytes() == content
        assert not (tmp_path / "events.jsonl").exists()

    @pytest.mark.full
    def test_files_that_can_not_be_used_are_named(self, shell, tmp_path):
        (tmp_path / "state").mkdir()
        unreadable = shell("audit", "export", *TO_FILE, code=exit_codes.USAGE)
        nowhere = ("--to", "-", "--state", "none/state")
        missing = shell("audit", "export", *nowhere, code=exit_codes.USAGE)
        same = shell("audit", "export", "--to", "a", "--state", "a", code=exit_codes.USAGE)
        output = ("--to", "none/events", "--state", "s")
        no_output = shell("audit", "export", *output, code=exit_codes.FAILED)

        assert unreadable.err == "idp: state can't be read: Is a directory\n"
        assert missing.err == "idp: none/state.lock can't be created: No such file or directory\n"
        assert same.err == "idp: --to and --state name the same file\n"
        assert no_output.err == "idp: none can't be written: No such file or directory\n"

    @pytest.mark.full
    def test_a_second_export_with_the_same_state_is_refused(self, shell, tmp_path):
        with state_file.locked(tmp_path / "state"):
            ran = shell("audit", "export", *TO_FILE, code=exit_codes.TRY_AGAIN)

        assert ran.err == "idp: another export uses state\n"

    @pytest.mark.full
    def test_an_unknown_cursor_says_where_to_begin(self, shell, tmp_path):
        ran = shell("audit", "export", "--from", "x", *TO_FILE, code=exit_codes.FAILED)
        assert ran.err == (
            "idp: cursor: was not made by this service; to continue with the first available"
            " event, start with --from oldest\n"
        )

        add(shell, 2)
        shell("audit", "export", *TO_FILE)
        cut = {"position": 1}  # as after the restore of an older backup
        asyncio.run(
            shell._with_service(lambda s: s.store.commit(Update(AUDIT_HEADS, "access", set=cut)))
        )
        ran = shell("audit", "export", *TO_FILE, code=exit_codes.FAILED)
        assert ran.err == (
            "idp: cursor: is beyond the last event; to continue with the first available"
            " event, remove state and start with --from oldest\n"
        )

    @pytest.mark.full
    def test_a_cursor_that_is_too_old_names_the_first_that_works(self, shell, tmp_path):
        shell("audit", "export", "--stream", "access", *TO_FILE)
        add(shell, 3)
        asyncio.run(shell._with_service(remove_two))
        ran = shell("audit", "export", *TO_FILE, code=exit_codes.FAILED)
        sentence, _, oldest = ran.err.strip().rpartition(" ")
        (tmp_path / "state").unlink()
        shell("audit", "export", "--from", oldest, *TO_FILE)

        assert sentence == (
            "idp: events after the cursor were removed by retention; to continue with the first"
            " available event, remove state and start with --from"
        )
        assert places(lines(tmp_path / "events.jsonl")) == [("access", 3)]


async def remove_two(service):
    first, second, *_ = await sealed_in(service, "access")
    await service.store.commit(
        Delete(EVENTS, first.id),
        Delete(EVENTS, second.id),
        Update(AUDIT_HEADS, "access", set={"floor": 2, "floor_chain": second.chain}),
    )


class Following:
    """An export that follows, over the store of a service."""

    def __init__(self, service, directory, **options) -> None:
        self.service, self.path = service, directory / "events.jsonl"
        self.state = directory / "state"
        self.stopping = asyncio.Event()
        self.exporter = Exporter(
            LineFile(self.path, service.clock, **options),
            state_file.StateFile(self.state),
            ExportOptions("access", follows=True),
            self.stopping,
        )
        self.running = asyncio.ensure_future(self.exporter.run(self.opened))

    @asynccontextmanager
    async def opened(self):
        yield await local.backend(self.service, None)

    async def until(self, n: int):
        """Wait until `n` lines are there."""

        def are_there():
            assert not self.running.done(), self.running
            return self.path.exists() and len(lines(self.path)) >= n

        await until(are_there)

    async def stop(self):
        self.stopping.set()
        await self.running
        cursor = json.loads(self.state.read_bytes())["cursor"]
        return event_streams.decode(self.service.master_key, cursor)


@pytest.fixture
def service(server):
    return server.service


async def sealed(service, n):
    await store_events(service, n, "session.opened")
    await sealing.seal(service)


async def test_the_lines_are_those_of_the_endpoint(server, visitor, tmp_path):
    owner = await instance_owner(server, visitor)
    await sealed(server.service, 3)
    page = await owner.get("/v2/events/stream?stream=access")
    export = Following(server.service, tmp_path)
    await export.until(len(page.text.splitlines()))
    await export.stop()

    without = [
        [list(each.items())[:-1] for each in map(json.loads, text.splitlines())]
        for text in (page.text, export.path.read_text())
    ]
    assert without[0] == without[1]
    first = page.text.splitlines()[0].encode()
    assert msgspec.json.encode(json.loads(first)) == first  # the form is the same, too


async def test_what_is_sealed_later_follows_and_the_end_stores_the_state(service, tmp_path):
    await sealed(service, 2)
    export = Following(service, tmp_path)
    await export.until(2)
    await sealed(service, 3)
    await export.until(5)

    assert await export.stop() == {"access": 5}
    assert places(lines(export.path)) == [("access", n) for n in range(1, 6)]


async def test_a_store_that_is_away_is_reported_once_and_nothing_is_missed(
    service, tmp_path, monkeypatch, capsys
):
    await sealed(service, 2)
    export = Following(service, tmp_path)
    await export.until(2)
    failures, gone = 0, asyncio.Event()

    async def away(*_, **__):
        nonlocal failures
        failures += 1
        if failures == 3:
            gone.set()
        raise Unavailable("no server answers")

    with monkeypatch.context() as patch:
        patch.setattr(service.store, "find", away)
        patch.setattr(service.store, "get_many", away)
        await gone.wait()
    await sealed(service, 2)
    await export.until(4)

    assert await export.stop() == {"access": 4}
    assert reports(capsys) == [
        "events can't be read, and the export tries again: no server answers",
        "events can be read again",
    ]


@pytest.mark.parametrize("where", [(line_files.os, "write"), (state_file, "new_file")])
async def test_a_full_disk_is_reported_once_and_nothing_is_lost(
    service, tmp_path, monkeypatch, capsys, where
):
    export = Following(service, tmp_path)
    await until(lambda: export.state.exists())
    failures, is_full = 0, asyncio.Event()
    loop = asyncio.get_running_loop()

    def full(*_, **__):
        nonlocal failures
        failures += 1
        if failures == 3:
            loop.call_soon_threadsafe(is_full.set)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(*where, full)
        await sealed(service, 3)
        await is_full.wait()
    await export.until(3)
    await sealed(service, 1)
    await export.until(4)

    assert await export.stop() == {"access": 4}
    assert places(lines(export.path)) == [("access", n) for n in range(1, 5)]
    reported = reports(capsys)
    assert [line.partition(": ")[2] or line for line in reported] == [
        "No space left on device; the export tries again, no event is lost",
        "the disk has space again",
    ]


async def test_an_export_that_is_stopped_while_the_disk_is_full_repeats_the_events_later(
    service, tmp_path, monkeypatch
):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    export = Following(service, tmp_path)
    await until(lambda: export.state.exists())
    with monkeypatch.context() as patch:
        patch.setattr(line_files.os, "write", full)
        await sealed(service, 3)
        await until(lambda: export.exporter._reported)
        assert await export.stop() == {"access": 0}
    export.exporter._lines.close()
    again = Following(service, tmp_path)
    await again.until(3)

    assert await again.stop() == {"access": 3}


async def test_a_disk_that_fails_otherwise_ends_the_export(service, tmp_path, monkeypatch):
    await sealed(service, 1)

    def broken(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(line_files.os, "write", broken)
    with pytest.raises(IdpError, match="can't be written: Input/output error"):
        await Following(service, tmp_path).running


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_following_export_with_its_state(shell, tmp_path, number):
    add(shell, 2)
    asyncio.run(_signalled(tmp_path, number))
    state = json.loads((tmp_path / "state").read_bytes())["cursor"]

    assert state
    assert [place for place in places(lines(tmp_path / "events.jsonl")) if "access" in place] == [
        ("access", 1),
        ("access", 2),
    ]
    assert shell("audit", "export", *TO_FILE).err == "0 events were exported\n"


async def _signalled(directory, number):
    program = await asyncio.create_subprocess_exec(
        *command("audit", "export", "--follow", *TO_FILE, "--data", str(directory / "data")),
        cwd=directory,
        env=environment(),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        while not (directory / "state").exists():
            assert program.returncode is None
            await asyncio.sleep(0.05)
        program.send_signal(number)
        _, err = await asyncio.wait_for(program.communicate(), patience.SECONDS)
    finally:
        with suppress(ProcessLookupError):
            os.kill(program.pid, signal.SIGKILL)
    assert (program.returncode, err.decode().endswith("events were exported\n")) == (0, True), err
