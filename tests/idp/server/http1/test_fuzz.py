"""What this service accepts, h11 accepts too, and reads in the same way."""

from __future__ import annotations

import random
import re

import h11
import pytest

from idp.server.http1.refusal import Refused
from idp.server.http1.request_reader import RequestReader
from tests.idp.server.http1.hostile import TABLE


def encoded(octets: bytes) -> bytes:
    """With octets beyond ASCII as RFC 3986 2.1 has them."""
    return re.sub(rb"[\x80-\xff]", lambda octet: b"%%%02X" % octet[0][0], octets)


# What h11 refuses and this service accepts: the reason, and what h11 is given in its place.
EXCEPTED = {
    # RFC 9112 2.2: a server should ignore empty lines before a request line.
    "empty lines before a request": (re.compile(rb"\A(\r\n)+"), b""),
    # h11 reads a size of up to 20 digits; zeros in front of it change nothing.
    "many zeros of a chunk's size": (re.compile(rb"(?<=\r\n)0{8,}(?=[0-9A-Fa-f]+[\r;])"), b"0"),
    # The handlers read them as they stand, and name the mistake on their pages.
    "octets beyond ASCII in a target": (re.compile(rb"\A[^\r\n]*"), lambda line: encoded(line[0])),
}

SPECIAL = [
    *[b"\r", b"\n", b"\r\n", b"\r\n\r\n", b"\n\n", b"\0", b" ", b"\t", b":", b",", b";"],
    *[b"\x0b", b"\x7f", b"\x85", b"\xa0", b"\xb2", b"\xff", b"+", b"-", b"0", b"1", b"5", b"x"],
    *[b'"', b"#", b"/", b"*", b"%00", b"0\r\n\r\n", b"5\r\nabcde\r\n", b"\r\n x", b"chunked"],
    *[b"0x", b"=", b"_", b"HTTP/1.0", b"HTTP/1.1", b"http://localhost", b"Host: localhost\r\n"],
    *[b"Content-Length: 5\r\n", b"Content-Length: 0\r\n", b"99999999999999999999"],
    *[b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n", b"Expect: 100-continue\r\n"],
    b"Connection: upgrade\r\nUpgrade: h2c\r\n",
]


def spoilt(rng: random.Random, seeds: list[bytes]) -> bytes:
    """One of the seeds, changed in a few places."""
    raw = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
        at, to = sorted(rng.randrange(len(raw) + 1) for _ in range(2))
        raw = rng.choice(WAYS)(rng, raw, at, min(to, at + rng.choice((1, 2, 8, 40))), seeds)
    return raw


WAYS = [
    lambda rng, raw, at, to, seeds: raw[:at] + rng.choice(SPECIAL) + raw[at:],
    lambda rng, raw, at, to, seeds: raw[:at] + rng.choice(SPECIAL) + raw[to:],
    lambda rng, raw, at, to, seeds: raw[:at] + bytes([rng.randrange(256)]) + raw[at + 1 :],
    lambda rng, raw, at, to, seeds: raw[:at] + raw[to:],
    lambda rng, raw, at, to, seeds: raw[:to] + raw[at:],
    lambda rng, raw, at, to, seeds: raw[:at] + rng.choice(seeds)[at:],
]


def pieces(rng: random.Random, raw: bytes) -> list[bytes]:
    """The bytes, as they may arrive."""
    cuts = sorted(rng.randrange(len(raw) + 1) for _ in range(rng.choice((0, 0, 1, 3))))
    return [raw[at:to] for at, to in zip([0, *cuts], [*cuts, len(raw)], strict=True)]


def ours(rng: random.Random, raw: bytes) -> list[tuple[str, str, bytes]]:
    """The whole requests that this service reads."""
    reader, read, body = RequestReader(256 * 1024), [], b""
    head = None
    for piece in pieces(rng, raw):
        reader.receive(piece)
        try:
            while True:
                head = head or reader.next_head()
                if head is None:
                    break
                body += reader.next_body()
                if not reader.is_complete:
                    break
                target = encoded(head.target.encode("latin-1")).decode()
                read.append((head.method, target, body))
                if not head.is_persistent or head.version == "HTTP/1.0":  # h11 reads one of it
                    return read
                head, body = None, b""
        except Refused:
            return read
    return read


def theirs(raw: bytes) -> list[tuple[str, str, bytes]]:
    """The whole requests that h11 reads."""
    read = []
    while raw:
        for expression, other in EXCEPTED.values():
            raw = expression.sub(other, raw)
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=2**20)
        connection.receive_data(raw)
        request = their_next(connection)
        if request is None:
            break
        read.append(request)
        raw = connection.trailing_data[0]
    return read


def their_next(connection: h11.Connection) -> tuple[str, str, bytes] | None:
    method = target = ""
    body = b""
    while True:
        try:
            event = connection.next_event()
        except h11.RemoteProtocolError:
            return None
        if isinstance(event, h11.Request):
            method, target = event.method.decode(), event.target.decode()
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage):
            return method, _path(target), body
        else:
            return None


def differences(seed: int, count: int) -> tuple[int, list]:
    """How many of so many inputs had a request, and those that are read differently."""
    rng, found, accepted = random.Random(seed), [], 0
    seeds = [raw for raw, _ in TABLE.values()]
    for _ in range(count):
        raw = spoilt(rng, seeds)
        read = ours(rng, raw)
        accepted += bool(read)
        reference = theirs(raw)
        if read != reference[: len(read)]:
            found.append((raw, read, reference))
    return accepted, found


def _path(target: str) -> str:
    """The target as this service gives it to its handlers."""
    if not target.lower().startswith(("http://", "https://")):
        return target
    rest = target.partition("//")[2]
    cut = min((rest.find(each) for each in "/?" if each in rest), default=len(rest))
    path = rest[cut:]
    return path if path.startswith("/") else f"/{path}"


@pytest.mark.full
@pytest.mark.promise("security: framing")
def test_no_spoilt_request_is_accepted_that_h11_refuses():
    accepted, found = differences(0, 3_000)

    assert not found
    assert accepted > 150


@pytest.mark.load
@pytest.mark.promise("security: framing")
@pytest.mark.parametrize("seed", range(1, 11))
def test_none_of_a_hundred_thousand_is(seed):
    accepted, found = differences(seed, 10_000)

    assert not found
    assert accepted > 500
