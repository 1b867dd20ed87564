"""A body's length is a plain number, or the request is refused before its body is read."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest

from tests.support import patience
from tests.support.browsers.wire import FORM

UNREADABLE = {
    "a superscript digit": "²".encode("latin-1"),
    "a fraction": "½".encode("latin-1"),
    "digits of another script, in UTF-8": "١".encode(),
    "a sign": b"+1",
    "a negative number": b"-1",
    "an underscore": b"1_0",
    "a hexadecimal number": b"0x10",
    "a space within": b"1 0",
    "nothing": b"",
    "two to the 70th": str(2**70).encode(),
    "twenty digits": b"0" * 19 + b"5",
    "a list of equal ones": b"5, 5",
    "a list of others": b"5, 6",
}


def request(server, method, path, *fields, body=b"a=b&c"):
    head = [
        f"{method} {path} HTTP/1.1".encode(),
        f"Host: {urlsplit(server.issuer).netloc}".encode(),
        f"Content-Type: {FORM}".encode(),
    ]
    return b"\r\n".join([*head, *fields, b"", body])


async def sent(server, octets):
    """All that is answered, until the service closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(server.issuer).port)
    writer.write(octets)
    answer = await asyncio.wait_for(reader.read(), patience.SECONDS)
    writer.close()
    await writer.wait_closed()
    return answer


async def check_refused(server, caplog, octets):
    answer = await sent(server, octets)
    head, _, body = answer.partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"\r\nConnection: close" in head
    assert b"\r\nX-Request-Id: " in head
    assert answer.count(b"HTTP/1.1") == 1
    assert body
    await server.app.drained(10)
    assert not server.app._in_progress
    assert not [one for one in caplog.records if one.exc_info or one.levelname == "ERROR"]


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("path", ["/oauth/v2/token", "/ui/setup", "/v2/users/human", "/x"])
async def test_a_length_that_is_no_plain_number_is_refused(server, caplog, path, name):
    field = b"Content-Length: " + UNREADABLE[name]

    await check_refused(server, caplog, request(server, "POST", path, field))


@pytest.mark.parametrize("values", [(b"5", b"5"), (b"5", b"6")])
async def test_two_lengths_are_refused(server, caplog, values):
    fields = [b"Content-Length: " + value for value in values]

    await check_refused(server, caplog, request(server, "POST", "/oauth/v2/token", *fields))


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "OPTIONS"])
async def test_no_method_takes_such_a_length(server, method):
    field = b"Content-Length: \xb2"
    answer = await sent(
        server, request(server, method, "/.well-known/openid-configuration", field)
    )

    assert answer.startswith(b"HTTP/1.1 400 ")


async def test_a_method_that_nobody_has_is_refused_with_such_a_length_too(server, caplog):
    answer = await sent(server, request(server, "BREW", "/", b"Content-Length: \xb2"))

    assert answer.startswith(b"HTTP/1.1 405 ")
    assert not [one for one in caplog.records if one.exc_info]


async def test_nineteen_digits_are_read_as_a_number(server):
    field = b"Content-Length: " + b"9" * 19
    large = await sent(server, request(server, "POST", "/oauth/v2/token", field))
    padded = b"Content-Length: " + b"5".rjust(19, b"0")
    small = request(server, "POST", "/oauth/v2/token", padded, b"Connection: close")

    assert large.startswith(b"HTTP/1.1 413 ")
    assert (await sent(server, small)).startswith(b"HTTP/1.1 400 ")  # its body was read
