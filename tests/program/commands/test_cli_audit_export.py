"""`idp audit export`: every sealed event as a line of JSON, whatever interrupts it."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
from contextlib import ExitStack, asynccontextmanager, suppress

import msgspec
import pytest

from idp.audit import event_streams, sealing
from idp.cli import event_export, local
from idp.cli.event_export import CursorFile, Exporter, ExportOptions, LineStream
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

CURSOR = ("--cursor-file", "state")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(event_streams, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(event_export, "PAUSE_SECONDS", 0.01)


@pytest.fixture(autouse=True)
def files():
    """The files that exports of a test write."""
    with ExitStack() as stack:
        yield stack


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


def events_of(text):
    return [json.loads(line) for line in text.splitlines()]


def lines(path):
    return events_of(path.read_bytes())


def places(events):
    return [(each["stream"], int(each["position"])) for each in events]


class TestCommand:
    """What the command prints, and how it ends."""

    @pytest.mark.full
    def test_a_second_run_goes_on_after_the_first(self, shell):
        add(shell, 2)
        before = events_of(shell("audit", "export", *CURSOR).out)
        add(shell, 1500)
        ran = shell("audit", "export", *CURSOR)
        found = places(before + events_of(ran.out))

        assert ran.err == "1500 events were exported\n"
        assert [place for place in found if place[0] == "access"] == [
            ("access", n) for n in range(1, 1503)
        ]
        assert len(found) == len(set(found))
        assert shell("audit", "export", *CURSOR).err == "0 events were exported\n"

    @pytest.mark.full
    def test_without_a_cursor_file_each_run_begins_again_and_leaves_no_file(self, shell, tmp_path):
        add(shell, 3)
        before = set(tmp_path.iterdir())
        runs = [shell("audit", "export", "--stream", "access").out for _ in range(2)]

        for text in runs:
            assert places(events_of(text)) == [("access", n) for n in (1, 2, 3)]
        assert set(tmp_path.iterdir()) == before

    @pytest.mark.full
    def test_it_begins_where_from_says_and_later_where_the_cursor_file_says(self, shell):
        begin = ("audit", "export", "--from", "latest", *CURSOR)
        shell(*begin)
        add(shell, 2)
        events = events_of(shell(*begin).out)
        others = shell("audit", "export", "--from", events[0]["cursor"], "--cursor-file", "other")

        assert places(events) == [("access", 1), ("access", 2)]
        assert places(events_of(others.out)) == [("access", 2)]

    @pytest.mark.full
    @pytest.mark.parametrize(
        "content", [b"", b"[]", b'{"other": 1}', b"\xff\xfe", b'{"cursor": "a", "b": 1}']
    )
    def test_a_foreign_cursor_file_is_refused_and_left_alone(self, shell, tmp_path, content):
        (tmp_path / "state").write_bytes(content)
        ran = shell("audit", "export", *CURSOR, code=exit_codes.USAGE)

        assert ran.err == (
            "idp: state is not the cursor of an export: name another file, or remove it\n"
        )
        assert (tmp_path / "state").read_bytes() == content
        assert ran.out == ""

    @pytest.mark.full
    def test_files_that_can_not_be_used_are_named(self, shell, tmp_path):
        (tmp_path / "state").mkdir()
        unreadable = shell("audit", "export", *CURSOR, code=exit_codes.USAGE)
        nowhere = ("--cursor-file", "none/state")
        missing = shell("audit", "export", *nowhere, code=exit_codes.USAGE)

        assert unreadable.err == "idp: state can't be read: Is a directory\n"
        assert missing.err == "idp: none/state.lock can't be created: No such file or directory\n"

    @pytest.mark.full
    def test_a_second_export_with_the_same_state_is_refused(self, shell, tmp_path):
        with CursorFile(tmp_path / "state").locked():
            ran = shell("audit", "export", *CURSOR, code=exit_codes.TRY_AGAIN)

        assert ran.err == "idp: another export uses state\n"

    @pytest.mark.full
    def test_an_unknown_cursor_says_where_to_begin(self, shell, tmp_path):
        ran = shell("audit", "export", "--from", "x", *CURSOR, code=exit_codes.FAILED)
        assert ran.err == (
            "idp: cursor: was not made by this service; to continue with the first available"
            " event, start with --from oldest\n"
        )

        add(shell, 2)
        shell("audit", "export", *CURSOR)
        cut = {"position": 1}  # as after the restore of an older backup
        asyncio.run(
            shell._with_service(lambda s: s.store.commit(Update(AUDIT_HEADS, "access", set=cut)))
        )
        ran = shell("audit", "export", *CURSOR, code=exit_codes.FAILED)
        assert ran.err == (
            "idp: cursor: is beyond the last event; to continue with the first available"
            " event, remove state and start with --from oldest\n"
        )

    @pytest.mark.full
    def test_a_cursor_that_is_too_old_names_the_first_that_works(self, shell, tmp_path):
        shell("audit", "export", "--stream", "access", *CURSOR)
        add(shell, 3)
        asyncio.run(shell._with_service(remove_two))
        ran = shell("audit", "export", *CURSOR, code=exit_codes.FAILED)
        sentence, _, oldest = ran.err.strip().rpartition(" ")
        (tmp_path / "state").unlink()
        ran = shell("audit", "export", "--from", oldest, *CURSOR)

        assert sentence == (
            "idp: events after the cursor were removed by retention; to continue with the first"
            " available event, remove state and start with --from"
        )
        assert places(events_of(ran.out)) == [("access", 3)]


async def remove_two(service):
    first, second, *_ = await sealed_in(service, "access")
    await service.store.commit(
        Delete(EVENTS, first.id),
        Delete(EVENTS, second.id),
        Update(AUDIT_HEADS, "access", set={"floor": 2, "floor_chain": second.chain}),
    )


class Following:
    """An export that follows, over the store of a service."""

    def __init__(self, files, service, directory) -> None:
        self.service, self.path = service, directory / "events.jsonl"
        self.state = directory / "state"
        self.stopping = asyncio.Event()
        self.exporter = Exporter(
            LineStream(files.enter_context(self.path.open("ab", buffering=0))),
            CursorFile(self.state),
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


async def test_the_lines_are_those_of_the_endpoint(files, server, visitor, tmp_path):
    owner = await instance_owner(server, visitor)
    await sealed(server.service, 3)
    page = await owner.get("/v2/events/stream?stream=access")
    export = Following(files, server.service, tmp_path)
    await export.until(len(page.text.splitlines()))
    await export.stop()

    without = [
        [list(each.items())[:-1] for each in map(json.loads, text.splitlines())]
        for text in (page.text, export.path.read_text())
    ]
    assert without[0] == without[1]
    first = page.text.splitlines()[0].encode()
    assert msgspec.json.encode(json.loads(first)) == first  # the form is the same, too


async def test_what_is_sealed_later_follows_and_the_end_stores_the_state(files, service, tmp_path):
    await sealed(service, 2)
    export = Following(files, service, tmp_path)
    await export.until(2)
    await sealed(service, 3)
    await export.until(5)

    assert await export.stop() == {"access": 5}
    assert places(lines(export.path)) == [("access", n) for n in range(1, 6)]


async def test_a_store_that_is_away_is_reported_once_and_nothing_is_missed(
    files, service, tmp_path, monkeypatch, capsys
):
    await sealed(service, 2)
    export = Following(files, service, tmp_path)
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


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EPIPE, errno.EIO])
@pytest.mark.parametrize("where", ["output", "cursor file"])
async def test_what_can_not_be_written_ends_the_export_and_is_repeated_by_the_next(
    files, service, tmp_path, monkeypatch, number, where
):
    await sealed(service, 2)

    def broken(*_, **__):
        raise OSError(number, "a failure")

    with monkeypatch.context() as patch:
        place = (LineStream, "write") if where == "output" else (event_export, "new_file")
        patch.setattr(*place, broken)
        with pytest.raises(IdpError, match="can't be written: a failure"):
            await Following(files, service, tmp_path).running
        assert not (tmp_path / "state").exists()
    (tmp_path / "events.jsonl").unlink()
    again = Following(files, service, tmp_path)
    await again.until(2)

    assert await again.stop() == {"access": 2}


def test_a_line_that_a_killed_export_left_incomplete_spoils_no_other(tmp_path):
    path = tmp_path / "events.jsonl"
    for content, expected in (
        (b"", b"1\n2\n"),
        (b"0\n", b"0\n1\n2\n"),
        (b"0\n{", b"0\n{\n1\n2\n"),
    ):
        path.write_bytes(content)
        with path.open("ab", buffering=0) as file:
            stream = LineStream(file)
            stream.write(b"1\n")
            stream.write(b"2\n")

        assert path.read_bytes() == expected


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
    assert shell("audit", "export", *CURSOR).err == "0 events were exported\n"


async def _signalled(directory, number):
    with (directory / "events.jsonl").open("ab") as output:
        program = await asyncio.create_subprocess_exec(
            *command("audit", "export", "--follow", *CURSOR, "--data", str(directory / "data")),
            cwd=directory,
            env=environment(),
            stdout=output,
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
