"""Answers of other servers: bodies are decoded, and nothing about them is without a bound."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress

import pytest

from idp.outgoing.failures import Failed
from idp.outgoing.http import MAX_BODY_BYTES, Outgoing
from tests.idp.outgoing.test_http import LOCAL, Peer
from tests.support import patience

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
TOKEN = b"abcdefghijklmnopqrstuvwxyz"
LONG = b"x" * (MAX_BODY_BYTES + 1)


async def read(octets: bytes) -> bytes:
    """The body of an answer that is cut off where it ends here."""

    async def answer(reader, writer):
        with suppress(OSError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(octets)
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        answered = await Outgoing().exchange(
            LOCAL,
            "GET",
            f"http://127.0.0.1:{port}/token",
            {},
            b"",
            max_bytes=MAX_BODY_BYTES,
            seconds=5,
        )
    return answered.body


def chunk(octets: bytes, extension: bytes = b"") -> bytes:
    return b"%x%b\r\n%b\r\n" % (len(octets), extension, octets)


def chunks(octets: bytes, *ends: int) -> bytes:
    """The octets in chunks that end there."""
    marks = [0, *ends, len(octets)]
    parts = [octets[a:b] for a, b in zip(marks, marks[1:], strict=False) if a < b]
    return CHUNKED + b"".join(map(chunk, parts)) + b"0\r\n\r\n"


@pytest.mark.promise("faults: chunks")
@pytest.mark.parametrize("end", range(1, len(TOKEN)))
async def test_a_token_that_is_split_over_two_chunks_is_found(end):
    with Peer(chunks(TOKEN + b"\n", end)) as peer:
        status, lines = await Outgoing().get_lines(LOCAL, f"http://127.0.0.1:{peer.port}/token")

    assert (status, lines) == (200, [TOKEN.decode()])


@pytest.mark.full
async def test_any_body_is_the_same_in_whatever_chunks():
    chance = random.Random(9112)
    for _ in range(200):
        octets = chance.randbytes(chance.randrange(1, 3000))
        ends = sorted(chance.choices(range(len(octets)), k=chance.randrange(40)))
        assert await read(chunks(octets, *ends)) == octets


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (HEAD + b"\r\nto the end", b"to the end"),
        (HEAD + b"Content-Length: 2\r\n\r\nto the end", b"to"),
        (HEAD + b"content-length: 2, 2\r\nContent-Length: 2\r\n\r\nto the end", b"to"),
        (HEAD + b"Content-Length: 0\r\n\r\nmore", b""),
        (b"HTTP/1.1 204 No Content\r\n\r\nmore", b""),
        (b"HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + HEAD + b"\r\na", b"a"),
        (b"HTTP/1.0 200 OK\n\nold", b"old"),
        (CHUNKED + chunk(b"a", b";x=y") + chunk(b"b", b"; z ") + b"0;q\r\n\r\n", b"ab"),
        (CHUNKED + chunk(b"a") + b"000\r\nX-Sum: 1\r\nY: 2\r\n\r\n", b"a"),
        (HEAD + b"TRANSFER-encoding:Chunked \r\nContent-Length: 9\r\n\r\n" + b"0\r\n\r\n", b""),
        (CHUNKED + b"0a\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
    ],
)
async def test_a_body_is_what_its_framing_says(answer, body):
    assert await read(answer) == body


@pytest.mark.parametrize(
    "answer",
    [
        HEAD + b"\r\n" + LONG,
        HEAD + b"Content-Length: 8193\r\n\r\n" + LONG,
        CHUNKED + chunk(LONG),
        CHUNKED + b"fffffff\r\n" + LONG,
        CHUNKED + b"".join(chunk(LONG[n : n + 100]) for n in range(0, len(LONG), 100)),
    ],
)
async def test_of_a_long_body_the_first_bytes_are_read(answer):
    assert await read(answer) == LONG[:MAX_BODY_BYTES]


@pytest.mark.promise("faults: chunks")
@pytest.mark.parametrize(
    "broken",
    [
        *[b"-1\r\n", b"+1\r\na\r\n", b"0x1\r\na\r\n", b"g\r\n", b"\r\n", b" 1\r\na\r\n"],
        *[b"1\na\r\n", b"123456789\r\n", b"1_0\r\n", "\u0661\r\na\r\n".encode()],
        *[b"1\r\nab\r\n", b"2\r\na\r\n0\r\n\r\n", b"1;" + b"x" * 21_000 + b"\r\na\r\n"],
        b"".join(chunk(b"a", b";" + b"x" * 99) for _ in range(300)) + b"0\r\n\r\n",
        b"0\r\n" + b"X: y\r\n" * 4000 + b"\r\n",
        *[b"1\r\na", b"5\r\nabc", b"1\r\na\r\n", b"0\r\n", b"0\r\nX: y\r\n", b""],
    ],
)
async def test_chunks_that_are_none_fail(broken):
    with pytest.raises(Failed):
        await read(CHUNKED + broken)


@pytest.mark.parametrize(
    "fields",
    [
        *[b"Transfer-Encoding: gzip", b"Transfer-Encoding: gzip, chunked"],
        *[b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", b"Content-Length: -1"],
        *[b"Content-Length: 1\r\nContent-Length: 2", b"Content-Length: 1, 2"],
        *[b"Content-Length: 0x1", b"Content-Length: ", b"X: y\r\n" * 20_000],
        b"X: " + b"y" * 16_384,
    ],
)
async def test_a_head_whose_framing_is_ambiguous_fails(fields):
    with pytest.raises(Failed):
        await read(HEAD + fields + b"\r\n\r\na")


@pytest.mark.full
@pytest.mark.promise("faults: chunks")
@pytest.mark.parametrize(
    ("says", "endless"),
    [
        *[(HEAD, b"X: y\r\n"), (HEAD + b"\r\n", b"a"), (CHUNKED, b"1\r\na\r\n")],
        *[(CHUNKED + b"0\r\n", b"X: y\r\n"), (CHUNKED, b"0"), (CHUNKED + b"1;", b"x")],
        (HEAD + b"Content-Length: 8000\r\n\r\n", b"a"),
        (b"", b"HTTP/1.1 103 Hints\r\n\r\n"),
    ],
    ids=["head", "body", "chunks", "trailers", "size", "extension", "length", "provisional"],
)
async def test_who_sends_drop_by_drop_has_one_deadline_for_all_of_it(says, endless):
    loop = asyncio.get_running_loop()
    begun = loop.time()
    with Peer(says, endless=endless) as peer, pytest.raises(Failed, match="no answer within"):
        await Outgoing(seconds=0.4).get_lines(LOCAL, f"http://127.0.0.1:{peer.port}/token")

    assert loop.time() - begun < 1.5


async def test_a_head_of_16_kib_is_read_and_a_longer_one_is_not():
    rest = len(HEAD + b"X: \r\n\r\n")
    assert await read(HEAD + b"X: " + b"y" * (16 * 1024 - rest) + b"\r\n\r\n") == b""
    with pytest.raises(Failed, match="too many header"):
        await read(HEAD + b"X: " + b"y" * (16 * 1024 - rest + 1) + b"\r\n\r\n")


@pytest.mark.full
async def test_a_body_in_chunks_of_one_byte_is_read_whole():
    assert await read(chunks(LONG[1:], *range(1, len(LONG)))) == LONG[1:]


@pytest.mark.parametrize(
    ("says", "endless"),
    [
        (HEAD, b"X: y\r\n" * 999),
        (HEAD + b"X: ", b"y" * 9999),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 99),
        (b"HTTP/1.1 103 Hints\r\nX: ", b"y" * 9999),
        (CHUNKED + b"0\r\n", b"X: y\r\n" * 999),
        (CHUNKED + b"0\r\nX: ", b"y" * 9999),
        (CHUNKED + b"1;", b"x" * 9999),
        (CHUNKED, chunk(b"a", b";" + b"x" * 999) * 9),
        (CHUNKED, b"0" * 9999),
    ],
    ids=[
        "head",
        "field",
        "1xx",
        "1xx field",
        "trailers",
        "trailer",
        "extension",
        "extensions",
        "size",
    ],
)
async def test_what_is_sent_without_end_and_is_no_body_fails_long_before_the_deadline(
    says, endless
):
    with Peer(says, endless=endless) as peer, pytest.raises(Failed) as caught:
        await Outgoing(seconds=patience.SECONDS).get_lines(
            LOCAL, f"http://127.0.0.1:{peer.port}/token"
        )

    assert "no answer within" not in str(caught.value)


@pytest.mark.full
@pytest.mark.parametrize(
    ("says", "endless"),
    [(HEAD + b"\r\n", b"x" * 999), (CHUNKED, chunk(b"x" * 999)), (CHUNKED, chunk(b"x") * 99)],
    ids=["body", "chunks", "small chunks"],
)
async def test_of_a_body_without_end_the_first_bytes_are_read(says, endless):
    with Peer(says, endless=endless) as peer:
        status, lines = await Outgoing(seconds=20).get_lines(
            LOCAL, f"http://127.0.0.1:{peer.port}/token"
        )

    assert (status, lines) == (200, [LONG[1:].decode()])


async def test_a_failure_repeats_nothing_that_the_other_side_sent():
    for answer in (b"SECRET\r\n\r\n", HEAD + b"SECRET\r\n\r\n", CHUNKED + b"SECRET\r\n\r\n"):
        with pytest.raises(Failed, match="not HTTP/1.1") as caught:
            await read(answer)
        assert "SECRET" not in str(caught.value)
