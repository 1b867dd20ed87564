"""How a response is framed, and who has to read it."""

from __future__ import annotations

import asyncio
import resource
import socket
from contextlib import closing

import pytest

from idp.server.http1 import client_stream
from tests.idp.server.http1.serving import (
    chunks,
    request,
    served,
    until_end_of_body,
    waiting_for_answers,
)
from tests.support import patience
from tests.support.browsers.raw_socket import received, unread
from tests.support.patience import loop_turns, until

PIECES = 400  # of 16 KiB, more than the kernel takes for a client that does not read
MEGABYTE = 1024 * 1024


async def test_a_head_request_gets_the_head_alone():
    async with served() as service, service.client() as client:
        client.send(request("HEAD", "/") + request("HEAD", "/bare/200") + request("GET", "/"))
        answer = await client.answer(is_bare=True)
        other = await client.answer(is_bare=True)

        assert (answer.status, answer.fields["content-length"]) == (200, "2")
        assert "transfer-encoding" not in other.fields
        assert (await client.answer()).body == b"2:"


@pytest.mark.parametrize("status", [204, 304])
async def test_a_response_that_has_no_body_has_no_length_either(status):
    async with served() as service, service.client() as client:
        client.send(request("GET", f"/bare/{status}") + request("GET", "/"))
        answer = await client.answer()

        assert answer.status == status
        assert not {"content-length", "transfer-encoding"} & set(answer.fields)
        assert (await client.answer()).body == b"1:"


async def test_a_response_in_pieces_comes_in_chunks_where_the_client_knows_them():
    async with served() as service, service.client() as client:
        client.send(request("GET", "/streaming?pieces=3"))
        answer = await client.answer()
        assert answer.fields["transfer-encoding"] == "chunked"
        assert answer.body == bytes(3 * 16 * 1024)

        client.send(b"GET /streaming?pieces=3 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        old = await client.answer(is_bare=True)
        assert "transfer-encoding" not in old.fields
        assert await client.rest() == bytes(3 * 16 * 1024)


@pytest.mark.parametrize("announced", [("Connection: close",), ("Connection: x, Close",)])
async def test_the_client_may_have_the_connection_closed(announced):
    async with served() as service, service.client() as client:
        client.send(request("GET", "/", *announced))
        assert (await client.answer()).fields["connection"] == "close"
        assert await client.rest() == b""


async def test_an_early_answer_reaches_a_client_that_still_sends():
    async with served() as service, service.client() as client:
        client.send(request("POST", "/early", "Content-Length: 4000000"))
        client.send(bytes(2_000_000))
        answer = await client.answer()
        assert (answer.status, answer.body) == (403, b"no")
        client.send(bytes(2_000_000) + request("GET", "/"))
        assert await client.rest() == b""

    assert not service.seen.read


async def settled(measured):
    """The value of this, once it has not changed for a while."""
    async with asyncio.timeout(patience.SECONDS):
        while True:
            before = measured()
            await loop_turns(200)
            if before and measured() == before:
                return before


async def test_who_does_not_read_stops_who_writes():
    async with served() as service:
        client = unread(service.port, request("GET", f"/streaming?pieces={PIECES}"))
        written = await settled(lambda: service.seen.written)
        assert written < PIECES
        reader, writer = await asyncio.open_connection(sock=client)
        await until_end_of_body(reader)
        writer.close()

        assert service.seen.written == PIECES


async def test_requests_behind_a_response_that_is_not_read_wait():
    large = request("POST", "/", "Content-Length: 4000000") + bytes(4_000_000)
    async with served() as service:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
        client.connect(("127.0.0.1", service.port))
        reader, writer = await asyncio.open_connection(sock=client, limit=1024)
        writer.write(large * 3)

        assert await settled(lambda: len(service.seen.read)) < 3
        rest = len(b"1:") * 3 + 3 * 4_000_000
        while rest > 0:
            rest -= len(await reader.read(65536))
        await until(lambda: len(service.seen.read) == 3)
        writer.close()


async def test_what_a_client_sends_that_reads_nothing_takes_no_memory():
    async with served() as service, service.client(limit=1024) as client:
        client.send(request("GET", "/large"))
        await until(lambda: service.server._connection_of_stream)
        (stream,) = service.server._connection_of_stream
        await until(lambda: stream._drained is not None and stream._exchange is None)
        client.send(bytes(8_000_000))

        assert await settled(lambda: stream._reader.buffered) < MEGABYTE
        client.reset()


def memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def upload(service, target, megabytes, part=bytes(MEGABYTE)):
    async with service.client() as client:
        client.send(request("POST", target, f"Content-Length: {megabytes * MEGABYTE}"))
        for _ in range(megabytes):
            client.send(part)
            await client.writer.drain()
        async with asyncio.timeout(600):
            return (await client.answer()).body


async def test_a_long_upload_takes_no_memory():
    async with served() as service:
        await upload(service, "/count", 4)
        before = memory()

        assert await upload(service, "/count", 128) == b"%d" % (128 * MEGABYTE)
        assert memory() - before < 24 * MEGABYTE


@pytest.mark.load
@pytest.mark.gen_test(timeout=1200)
async def test_an_upload_of_8_gb_takes_no_memory():
    async with served() as service:
        await upload(service, "/count", 4)
        before = memory()

        assert await upload(service, "/count", 8192) == b"%d" % (8192 * MEGABYTE)
        assert memory() - before < 24 * MEGABYTE


@pytest.mark.parametrize("target", ["/careful", "/late?prepares=1"])
async def test_a_handler_that_is_not_ready_for_the_body_stops_the_client(target):
    async with served() as service, service.client() as client:
        client.send(request("POST", target, "Content-Length: 8000000"))
        client.send(bytes(8_000_000))
        left = await settled(lambda: client.writer.transport.get_write_buffer_size())
        assert left > 100_000
        assert sum(service.seen.pieces) < 1_000_000
        service.seen.goes_on.set()

        assert (await client.answer()).status == 200


async def test_a_connection_is_not_read_without_end_while_a_request_is_answered():
    async with served() as service, service.client() as client:
        client.send(request("GET", "/late"))
        client.send(request("GET", "/") * 500_000)
        left = await settled(lambda: client.writer.transport.get_write_buffer_size())

        assert left > MEGABYTE
        client.writer.transport.abort()


@pytest.mark.full
async def test_a_client_that_leaves_before_the_answer_is_noticed():
    async with served() as service:
        async with service.client() as client:
            client.send(request("GET", "/late"))
            await service.seen.begun.wait()

        async with asyncio.timeout(patience.SECONDS):
            await service.seen.left.wait()
        await until(lambda: not service.server._connection_of_stream)
        service.seen.goes_on.set()


@pytest.mark.parametrize("body", [b"half", b""])
async def test_a_client_that_leaves_within_its_body_is_noticed(body):
    async with served() as service:
        async with service.client() as client:
            client.send(request("POST", "/late", "Content-Length: 8") + body)
            await service.seen.begun.wait()

        async with asyncio.timeout(patience.SECONDS):
            await service.seen.left.wait()
        await until(lambda: not service.server._connection_of_stream)

    assert not service.seen.read


async def test_a_client_that_only_sends_no_more_gets_its_answers():
    raw = request("POST", "/", body=b"one") + request("POST", "/", "Transfer-Encoding: chunked")
    async with served() as service:
        answers = await service.answers(raw + chunks(b"two") + request("GET", "/"))

    assert [each.rpartition(b"\r\n")[2] for each in answers.split(b"HTTP/1.1 ")[1:]] == [
        *[b"1:one", b"2:two", b"3:"],
    ]


async def test_a_client_that_only_sends_no_more_is_waited_for_while_its_answer_is_made():
    async with served() as service, service.client() as client:
        with waiting_for_answers():
            client.send(request("GET", "/late"))
            client.end()
            await service.seen.begun.wait()
            await loop_turns(50)
            service.seen.goes_on.set()

            assert (await client.answer()).body == b"late"
            assert await client.rest() == b""


async def test_a_client_that_only_sends_no_more_gets_all_parts_of_an_answer_that_has_begun(
    monkeypatch,
):
    monkeypatch.setattr(client_stream, "HALF_CLOSED_SECONDS", 0)
    monkeypatch.setattr(client_stream, "LINGER_SECONDS", patience.SECONDS)
    async with served() as service, service.client() as client:
        client.send(request("GET", "/parts"))
        await service.seen.begun.wait()
        client.end()
        (stream,) = service.server._connection_of_stream
        await until(lambda: stream._has_client_ended)
        await loop_turns(50)
        service.seen.goes_on.set()

        assert (await client.answer()).body == b"one two"


async def test_a_client_that_sends_no_more_is_given_up_when_no_part_follows(monkeypatch):
    monkeypatch.setattr(client_stream, "HALF_CLOSED_SECONDS", 0)
    monkeypatch.setattr(client_stream, "LINGER_SECONDS", 0)
    async with served() as service, service.client() as client:
        client.send(request("GET", "/parts"))
        await service.seen.begun.wait()
        client.end()

        async with asyncio.timeout(patience.SECONDS):
            await service.seen.left.wait()
        service.seen.goes_on.set()


@pytest.mark.parametrize("raw", [b"", b"GET / HT", request("POST", "/", "Content-Length: 4")])
async def test_a_connection_that_ends_within_a_request_is_closed(raw):
    async with served() as service:
        assert await service.answers(raw) == b""
        await until(lambda: not service.server._connection_of_stream)

    assert not service.seen.read


async def test_what_was_answered_is_sent_when_the_server_ends():
    async with served() as service:
        client = unread(service.port, request("GET", f"/streaming?pieces={PIECES}"))
        await until(
            lambda: any(each.is_sending() for each in service.server._connection_of_stream)
        )
        reader, writer = await asyncio.open_connection(sock=client)
        ending = asyncio.create_task(service.server.close_all_connections())
        body = await reader.read()
        await ending
        writer.close()

        assert len(body) >= service.seen.written * 16 * 1024 > 0


OLD = b"GET /cut HTTP/1.0\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "raw",
    [request("GET", "/cut"), OLD, request("HEAD", "/cut"), request("GET", "/cut?length=100")],
    ids=["chunked", "HTTP/1.0", "HEAD", "with a length"],
)
async def test_a_response_that_its_handler_ends_early_ends_in_a_reset(raw):
    async with served() as service:
        with closing(unread(service.port, raw)) as client:
            service.seen.goes_on.set()
            part, is_reset = await received(client)

    assert is_reset
    assert not part.endswith(b"\r\n0\r\n\r\n")


@pytest.mark.parametrize(
    ("raw", "is_reset"),
    [(request("GET", "/cut"), False), (OLD, True)],
    ids=["chunked", "HTTP/1.0"],
)
async def test_a_response_that_is_not_complete_when_the_server_ends_does_not_seem_so(
    raw, is_reset
):
    async with served() as service:
        client = unread(service.port, raw)
        head, _ = await received(client, b"part")
        await service.server.close_all_connections()
        rest, has_been_reset = await received(client)
        client.close()

    assert head.startswith(b"HTTP/1.1 200 ")
    assert b"0\r\n\r\n" not in rest
    assert has_been_reset is is_reset


async def test_an_idle_connection_that_the_server_closes_is_not_reset():
    async with served() as service:
        client = unread(service.port, request())
        await received(client, b"1:")
        await service.server.close_all_connections()
        ending = await received(client)
        client.close()

    assert ending == (b"", False)
