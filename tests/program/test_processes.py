"""Several processes on one port: all serve, one stop ends them all, and none is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.program.samples import close
from tests.support import patience
from tests.support.browsers.visitor import Visitor
from tests.support.programs.program import MISHAPS, eventually, is_alive, sockets
from tests.support.protocol.relying_party import VERIFIER
from tests.support.slices import one_in


def get(program, path="/healthz") -> httpx.Response:
    """A request on a connection of its own."""
    return httpx.get(
        f"http://127.0.0.1:{program.port}{path}", headers=host(program), timeout=patience.SECONDS
    )


def host(program) -> dict:
    return {"Host": f"localhost:{program.port}"}


async def connect(program):
    return await asyncio.open_connection("127.0.0.1", program.port)


class Upload:
    """A token request whose body has not all been sent: it is under way until `finish`."""

    BODY = f"grant_type=authorization_code&code=x&code_verifier={VERIFIER}".encode()

    async def begin(self, program) -> Upload:
        self.reader, self.writer = await connect(program)
        head = (
            f"POST /oauth/v2/token HTTP/1.1\r\nHost: localhost:{program.port}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(self.BODY)}\r\nExpect: 100-continue\r\n\r\n"
        )
        self.writer.write(head.encode())
        assert b"100" in await self.reader.readuntil(b"\r\n\r\n")  # a worker has it in hand
        self.writer.write(self.BODY[:10])
        return self

    async def finish(self) -> bytes:
        """Send the rest; the answer, when the connection has ended after it."""
        self.writer.write(self.BODY[10:])
        answer = await self.reader.read()
        await close(self.writer)
        return answer


async def kept_connection(program):
    """A connection on which one request has been answered."""
    reader, writer = await connect(program)
    await ask(reader, writer, program, "/readyz")
    return reader, writer


async def ask(reader, writer, program, path) -> bytes:
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost:{program.port}\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return head + await reader.readexactly(length)


async def is_refused(program) -> bool:
    """Whether nobody listens any more."""
    try:
        _, writer = await connect(program)
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:  # it was queued, and the queue has just been closed
        return False
    await close(writer)
    return False


async def until_refused(program):
    async with asyncio.timeout(patience.SECONDS):
        while not await is_refused(program):
            await asyncio.sleep(0.01)


# Serving


async def test_both_processes_take_connections(start_program):
    program = start_program("--processes", "2")
    workers = program.workers()
    before = [len(sockets(pid)) for pid in workers]
    kept = [await kept_connection(program) for _ in range(40)]
    after = [len(sockets(pid)) for pid in workers]

    assert len(workers) == 2
    assert all(more > fewer for more, fewer in zip(after, before, strict=True))
    for _, writer in kept:
        await close(writer)


def test_the_line_is_printed_once_and_when_all_serve(start_program):
    program = paused = None
    while not paused:  # a worker that is held before it serves
        program = start_program("--processes", "2", waits=False)
        eventually(lambda program=program: len(program.workers()) == 2, "two workers")
        late = program.workers()[1]
        os.kill(late, signal.SIGSTOP)
        paused = None if program.output else late
        if not paused:
            os.kill(late, signal.SIGCONT)
            program.stop()
    with pytest.raises(AssertionError, match="no JSON line"):
        program.wait_for(lambda: bool(program.output), "JSON line", seconds=1)
    os.kill(paused, signal.SIGCONT)
    program.wait_for(lambda: bool(program.output), "JSON line")
    program.stop()

    assert len(program.output) == 1


async def test_a_sign_in_goes_on_at_whichever_process(start_program):
    program = start_program("--processes", "2")
    no_reuse = httpx.Limits(max_keepalive_connections=0)
    for _ in range(4):
        visitor = Visitor(program.issuer, limits=no_reuse)
        demo = program.demo()
        tokens = await demo.tokens(visitor, *program.user)
        assert (await demo.userinfo(visitor, tokens["access_token"])).status == 200
        assert "code" in await demo.silently(visitor)
        await visitor.close()


# Stopping


@pytest.mark.parametrize("processes", ["1", "2"])
async def test_a_request_under_way_is_answered_and_no_new_one_taken(start_program, processes):
    program = start_program("--processes", processes)
    uploads = [await Upload().begin(program) for _ in range(8)]
    program.signal()
    await until_refused(program)
    answers = await asyncio.gather(*[upload.finish() for upload in uploads])

    assert all(b" 400 " in answer.split(b"\r\n")[0] for answer in answers)
    assert all(b"invalid_client" in answer for answer in answers)
    assert all(b"\r\nConnection: close\r\n" in answer for answer in answers)
    assert program.wait() == 0


@pytest.mark.parametrize("processes", ["1", "2"])
async def test_a_sign_in_whose_password_is_hashed_is_answered(start_program, processes):
    program = start_program("--processes", processes)
    visitor = Visitor(program.issuer)
    page = await visitor.open(program.demo().authorize_url())
    page = await visitor.submit(page, loginName=program.user[0])
    sent = asyncio.ensure_future(visitor.send(page, password=program.user[1]))
    upload = await Upload().begin(program)
    program.signal()
    answer = await sent
    await upload.finish()

    assert answer.status == 303
    assert answer.location.startswith(program.issuer)
    await visitor.close()
    assert program.wait() == 0


async def test_a_draining_process_is_not_ready(start_program):
    program = start_program()
    upload = await Upload().begin(program)
    reader, writer = await kept_connection(program)
    program.signal()
    await until_refused(program)
    ready = await ask(reader, writer, program, "/readyz")
    alive = await ask(reader, writer, program, "/healthz")
    await upload.finish()
    await close(writer)

    assert b" 503 " in ready.split(b"\r\n")[0]
    assert b" 200 " in alive.split(b"\r\n")[0]
    assert program.wait() == 0


async def statuses(program) -> list[bytes]:
    """The status of `/readyz` on fresh connections, until one is refused."""
    found = []
    while True:
        try:
            reader, writer = await connect(program)
        except ConnectionRefusedError:
            return found
        head = await ask(reader, writer, program, "/readyz")
        await close(writer)
        assert b"\r\nConnection: close\r\n" in head or b" 200 " in head
        found.append(head.split(b" ")[1])
        await asyncio.sleep(0.005)


@pytest.mark.load
@pytest.mark.parametrize("processes", ["1", "2"])
async def test_connections_are_accepted_until_the_delay_of_a_stop_ends(start_program, processes):
    program = start_program("--processes", processes, IDP_SHUTDOWN_DELAY_SECONDS=2)
    probing = asyncio.ensure_future(statuses(program))
    await asyncio.sleep(0.2)
    program.signal()
    signalled = time.monotonic()
    found = await probing

    assert 1.9 < time.monotonic() - signalled < 6
    assert set(found) == {b"200", b"503"}
    assert found.count(b"503") >= 20
    assert found == sorted(found)  # never ready again
    assert program.wait() == 0


@pytest.mark.load
@pytest.mark.parametrize("processes", ["1", "2"])
async def test_ctrl_c_stops_without_the_delay(start_program, processes):
    program = start_program("--processes", processes, IDP_SHUTDOWN_DELAY_SECONDS=60)
    os.killpg(program.pid, signal.SIGINT)

    assert program.wait(15) == 0


@pytest.mark.parametrize(
    ("number", "processes"), [(signal.SIGTERM, "2"), (signal.SIGINT, "2"), (signal.SIGINT, "1")]
)
async def test_a_stop_that_reaches_every_process_is_one_stop(start_program, number, processes):
    """As systemd and a terminal's Ctrl-C do it."""
    program = start_program("--processes", processes)
    upload = await Upload().begin(program)
    os.killpg(program.pid, number)
    await until_refused(program)
    answer = await upload.finish()

    assert b" 400 " in answer.split(b"\r\n")[0]
    assert program.wait() == 0


@pytest.mark.load
@pytest.mark.parametrize("processes", ["1", "2"])
async def test_the_second_signal_ends_it_at_once(start_program, processes):
    program = start_program("--processes", processes)
    upload = await Upload().begin(program)
    workers = program.workers()
    program.signal()
    await until_refused(program)
    program.signal()

    assert program.wait(5) != 0, "a request was not answered"
    assert not [pid for pid in workers if is_alive(pid)]
    await close(upload.writer)


@pytest.mark.load
async def test_a_drain_has_an_end(start_program):
    program = start_program("--processes", "2", IDP_DRAIN_SECONDS="0")
    upload = await Upload().begin(program)
    program.signal()

    assert program.wait(10) == 0
    assert await upload.reader.read() == b""
    await close(upload.writer)


@pytest.mark.parametrize("milliseconds", one_in(4, range(0, 700, 100)))
def test_a_stop_amid_the_start_leaves_nothing(start_program, milliseconds):
    program = start_program("--processes", "2", waits=False)
    time.sleep(0.1 + milliseconds / 1000)  # any moment will do
    workers = program.workers()
    program.signal()

    assert program.wait(patience.SECONDS) in (0, -signal.SIGTERM)
    eventually(lambda: not [pid for pid in workers if is_alive(pid)], "the end of its children")
    assert not [word for word in MISHAPS if word in program.printed], program.printed
    assert get(start_program()).status_code == 200


# Losing processes


async def test_a_worker_that_is_killed_is_replaced(start_program):
    program = start_program("--processes", "2")
    killed, other = program.workers()
    os.kill(killed, signal.SIGKILL)
    program.wait_for(lambda: "worker replaced" in program.printed, "word of it")
    eventually(lambda: len(program.workers()) == 2, "a new worker")

    with ThreadPoolExecutor(16) as pool:  # some of them wait at the new one until it serves
        statuses = list(pool.map(lambda _: get(program, "/readyz").status_code, range(32)))
    assert statuses == [200] * 32
    assert killed not in program.workers()
    assert other in program.workers()
    assert len(program.output) == 1


async def test_a_stop_while_a_worker_is_replaced_is_a_stop(start_program):
    program = start_program("--processes", "2")
    os.kill(program.workers()[0], signal.SIGKILL)
    program.wait_for(lambda: "worker replaced" in program.printed, "word of it")
    program.signal()

    assert program.wait(patience.SECONDS) == 0
    assert program.workers() == []


@pytest.mark.load
def test_when_the_supervisor_is_killed_its_workers_leave(start_program):
    program = start_program("--processes", "2")
    workers = program.workers()
    os.kill(program.pid, signal.SIGKILL)
    program.process.wait(10)

    eventually(lambda: not [pid for pid in workers if is_alive(pid)], "the workers' end")
    assert "Traceback" not in program.printed
