"""What of a client's bytes is a request, and what is answered to what is none."""

from __future__ import annotations

import asyncio

import pytest

from idp.server.http1.request_reader import RequestReader
from tests.idp.server.http1.serving import chunks, request, served
from tests.support.measured.logged import log_fixture  # noqa: F401 - a fixture
from tests.support.patience import until

CHUNKED = "Transfer-Encoding: chunked"
LARGE = 200_000


async def test_a_request_is_answered_and_the_connection_stays():
    async with served() as service, service.client() as client:
        for number in (1, 2):
            client.send(request("POST", "/x?a=b", body=b"body"))
            answer = await client.answer()
            assert (answer.status, answer.body) == (200, b"%d:body" % number)
            assert "connection" not in answer.fields

    assert service.seen.read == [("POST", "/x?a=b", b"body")] * 2


async def test_a_request_that_arrives_byte_by_byte_is_read():
    raw = b"\r\n" + request("POST", "/", CHUNKED) + chunks(b"one", b"two")
    async with served() as service, service.client() as client:
        for byte in raw:
            client.send(bytes([byte]))
            await asyncio.sleep(0)
        answer = await client.answer()

    assert answer.body == b"1:onetwo"


async def test_requests_that_arrive_together_are_answered_in_their_order():
    pieces = [
        request("GET", "/late"),
        request("POST", "/", body=b"two"),
        request("POST", "/", CHUNKED) + chunks(b"\r\n\r\n", b"0\r\n\r\n", b"x"),
        request("GET", "/4"),
        request("POST", "/", "Connection: close", body=b"five"),
    ]
    async with served() as service, service.client() as client:
        client.send(b"".join(pieces))
        await service.seen.begun.wait()
        assert not service.seen.read
        service.seen.goes_on.set()
        bodies = [(await client.answer()).body for _ in pieces]
        assert await client.rest() == b""

    assert bodies == [b"late", b"2:two", b"3:\r\n\r\n0\r\n\r\nx", b"4:", b"5:five"]


@pytest.mark.full
async def test_a_thousand_requests_may_arrive_together():
    async with served() as service, service.client() as client:
        client.send(b"".join(request("POST", f"/{n}", body=b"x" * n) for n in range(1000)))
        bodies = [(await client.answer()).body for _ in range(1000)]

    assert bodies == [b"%d:%b" % (n + 1, b"x" * n) for n in range(1000)]


@pytest.mark.parametrize("resets", [False, True])
async def test_a_client_that_leaves_at_any_byte_harms_nobody(log, resets):
    raw = request("POST", "/", body=b"one") + request("POST", "/", CHUNKED) + chunks(b"two")
    async with served() as service:
        for size in range(len(raw)):
            async with service.client() as client:
                client.send(raw[:size])
                if resets:
                    client.reset()
        await until(lambda: not service.server._connection_of_stream)
        async with service.client() as client:
            client.send(request("GET", "/last"))
            assert (await client.answer()).status == 200

    assert {body for _, target, body in service.seen.read if target == "/"} == {b"one"}
    assert not [line for line in log.getvalue().splitlines() if '"level":"error"' in line]


@pytest.mark.parametrize("size", [1, 7, 1000, LARGE])
@pytest.mark.parametrize("cut", [1, 100, LARGE])
async def test_chunks_of_any_size_cut_anywhere_make_the_same_body(size, cut):
    body = (b"0\r\n\r\n\r\n0\r\n" * LARGE)[: size * 3 if size > 1 else 900]
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    raw = request("POST", "/", CHUNKED) + chunks(*pieces) + request("GET", "/behind")
    async with served() as service, service.client() as client:
        for at in range(0, len(raw), max(cut, len(raw) // 500)):
            client.send(raw[at : at + max(cut, len(raw) // 500)])
            await client.writer.drain()
        assert (await client.answer()).body == b"1:" + body
        assert (await client.answer()).body == b"2:"


async def test_many_tiny_chunks_are_passed_on_together():
    pieces = [b"x"] * 3000
    async with served() as service, service.client() as client:
        client.send(request("POST", "/", CHUNKED) + chunks(*pieces))
        assert (await client.answer()).body == b"1:" + b"x" * 3000

    assert len(service.seen.pieces) < 10


async def test_a_body_made_of_empty_lines_is_parsed_in_few_parts(monkeypatch):
    parts = []
    feed = RequestReader._feed

    def counted(reader, data):
        parts.append(len(data))
        feed(reader, data)

    monkeypatch.setattr(RequestReader, "_feed", counted)
    body = b"\r\n\r\n" * 500_000
    async with served() as service, service.client() as client:
        client.send(request("POST", "/", CHUNKED) + chunks(body[:1000], body[1000:]))
        assert (await client.answer()).body == b"1:" + body

    assert len(parts) < len(body) / 1000


OVERHEAD = {
    "one byte each": chunks(*[b"x"] * 65_000),
    "long extensions": b"1;a=%b\r\nx\r\n" % (b"b" * 100) * 300 + b"0\r\n\r\n",
    "long trailers": b"0\r\n" + b"X: %b\r\n" % (b"y" * 100) * 300 + b"\r\n",
    "zeros": b"0" * 20_000 + b"1\r\nx\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("name", OVERHEAD)
async def test_chunks_with_too_little_in_them_are_refused(name):
    async with served() as service, service.client() as client:
        client.send(request("POST", "/", CHUNKED) + OVERHEAD[name])
        answer = await client.answer()
        assert await client.rest() == b""

    assert answer.status == 400
    assert not service.seen.read


async def test_trailers_and_extensions_are_ignored():
    body = b"3;name=value\r\none\r\n0;last\r\nHost: other\r\nX-Trailer: x\r\n\r\n"
    async with served() as service, service.client() as client:
        client.send(request("POST", "/", CHUNKED) + body + request("GET", "/behind"))
        assert (await client.answer()).body == b"1:one"
        assert (await client.answer()).body == b"2:"

    assert service.seen.fields[0] == [("Host", "localhost"), ("Transfer-Encoding", "chunked")]


async def test_fields_of_one_name_are_kept_apart_and_joined_by_commas():
    async with served() as service, service.client() as client:
        client.send(request("GET", "/", "x-one:  a ", "X-ONE:b", "X-Two:\tc\t"))
        await client.answer()

    assert service.seen.fields[0][1:] == [("X-One", "a"), ("X-One", "b"), ("X-Two", "c")]


BEGUN = request("POST", "/", CHUNKED)
TOO_LARGE = {
    "a long request line": (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
    "a request line without end": (b"GET /" + b"a" * 300_000, 414),
    "a long field": (request("GET", "/", "X: " + "y" * 300_000), 431),
    "fields without end": (request("GET", "/", *["X: y"] * 60_000)[:-2], 431),
    "many fields": (request("GET", "/", *["X: y"] * 128), 431),
    "a long body": (request("POST", "/", "Content-Length: 8388609"), 413),
    "endless chunks": (
        request("POST", "/", CHUNKED) + b"100000\r\n%b\r\n" % bytes(2**20) * 9,
        413,
    ),
    "one endless chunk": (
        request("POST", "/", CHUNKED) + b"ffffffffff\r\n" + bytes(2**23 + 1),
        413,
    ),
}


@pytest.mark.parametrize("name", TOO_LARGE)
async def test_what_is_too_large_is_answered_and_ends_the_connection(name):
    raw, status = TOO_LARGE[name]
    async with served() as service, service.client() as client:
        client.send(raw)
        answer = await client.answer()
        assert await client.rest() == b""

    assert answer.status == status
    assert not service.seen.read


async def test_as_many_fields_as_are_allowed_are_read():
    async with served() as service, service.client() as client:
        client.send(request("GET", "/", *["X: y"] * 127))
        assert (await client.answer()).status == 200

    assert len(service.seen.fields[0]) == 128


async def test_a_body_is_sent_when_the_client_is_told_to_go_on():
    async with served() as service, service.client() as client:
        client.send(request("POST", "/", "Content-Length: 4", "Expect: 100-continue"))
        assert (await client.head()).status == 100
        client.send(b"body")
        assert (await client.answer()).body == b"1:body"

        early = request("POST", "/early", "Content-Length: 4", "Expect: 100-continue")
        client.send(early)
        answer = await client.answer()
        assert (answer.status, answer.fields["connection"]) == (403, "close")


@pytest.mark.parametrize("body", [b"body", b""])
async def test_who_sends_the_body_at_once_is_not_told_to_go_on(body):
    async with served() as service, service.client() as client:
        length = f"Content-Length: {len(body)}"
        client.send(request("POST", "/", length, "Expect: 100-continue") + body)
        assert (await client.answer()).body == b"1:" + body


@pytest.mark.parametrize("more", ["Content-Length: 4", "Content-Length: 0"])
async def test_another_protocol_is_not_spoken_and_the_body_is_read(more):
    body = b"body" if more.endswith("4") else b""
    upgrade = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk")
    async with served() as service, service.client() as client:
        client.send(request("POST", "/", more, *upgrade) + body + request("GET", "/behind"))
        assert (await client.answer()).status == 200
        assert (await client.answer()).body == b"2:"

    assert service.seen.read == [("POST", "/", body), ("GET", "/behind", b"")]


async def test_a_tunnel_is_refused():
    async with served() as service:
        answer = await service.answers(b"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert not service.seen.read


OF_HTTP_1_0 = {
    "closes": ((), "close", True),
    "stays where that is asked for": (("Connection: keep-alive",), "keep-alive", False),
}


@pytest.mark.parametrize("name", OF_HTTP_1_0)
async def test_a_connection_of_http_1_0(name):
    fields, _, closes = OF_HTTP_1_0[name]
    raw = request("GET", "/", *fields).replace(b"HTTP/1.1", b"HTTP/1.0")
    async with served() as service, service.client() as client:
        client.send(raw)
        answer = await client.answer()
        assert answer.body == b"1:"
        assert (answer.fields.get("connection") == "keep-alive") is not closes
        if closes:
            assert await client.rest() == b""
        else:
            client.send(raw)
            assert (await client.answer()).body == b"2:"
