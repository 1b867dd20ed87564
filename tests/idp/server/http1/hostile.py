"""Requests that servers have read differently, and what this one reads of each: the requests, or
the status of its refusal."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

BAD: Final = HTTPStatus.BAD_REQUEST

Read = list[tuple[str, str, bytes]]
Expected = Read | HTTPStatus
HOST: Final = b"Host: localhost\r\n"
# Behind each request: it must be read as the next one, or not at all.
BEHIND: Final = b"GET /behind HTTP/1.1\r\nHost: localhost\r\n\r\n"


def get(head: bytes) -> bytes:
    return b"GET / HTTP/1.1\r\n" + HOST + head + b"\r\n" + BEHIND


def line(request_line: bytes) -> bytes:
    return request_line + b"\r\n" + HOST + b"\r\n" + BEHIND


def post(head: bytes, body: bytes = b"abcde") -> bytes:
    return b"POST / HTTP/1.1\r\n" + HOST + head + b"\r\n" + body + BEHIND


def chunked(body: bytes) -> bytes:
    return post(b"Transfer-Encoding: chunked\r\n", body)


def read(*requests: tuple[str, str, bytes]) -> Read:
    """These requests, and the one behind them."""
    return [*requests, ("GET", "/behind", b"")]


ONE: Final = read(("GET", "/", b""))
FIVE: Final = read(("POST", "/", b"abcde"))
LAST: Final = b"0\r\n\r\n"
BODY: Final = b"5\r\nabcde\r\n" + LAST

LENGTHS: Final[dict[str, tuple[bytes, Expected]]] = {
    "a length": (post(b"Content-Length: 5\r\n"), FIVE),
    "a length in spaces": (post(b"Content-Length: \t 5 \t\r\n"), FIVE),
    "a length with zeros": (post(b"Content-Length: 0005\r\n"), FIVE),
    "a length by another case": (post(b"cONTENT-lENGTH: 5\r\n"), FIVE),
    "a length with a plus": (post(b"Content-Length: +5\r\n"), BAD),
    "a length with a minus": (post(b"Content-Length: -5\r\n"), BAD),
    "a superscript length": (post(b"Content-Length: \xb2\r\n"), BAD),
    "a length in UTF-8 digits": (post("Content-Length: ٥\r\n".encode()), BAD),
    "a length of 2 to the 64th": (post(b"Content-Length: 18446744073709551616\r\n"), BAD),
    "a length of 2 to the 64th and 5": (post(b"Content-Length: 18446744073709551621\r\n"), BAD),
    "a hexadecimal length": (post(b"Content-Length: 0x5\r\n"), BAD),
    "a fraction": (post(b"Content-Length: 5.0\r\n"), BAD),
    "an exponent": (post(b"Content-Length: 5e0\r\n"), BAD),
    "an underscore": (post(b"Content-Length: 0_5\r\n"), BAD),
    "an empty length": (post(b"Content-Length:\r\n"), BAD),
    "a length of a space": (post(b"Content-Length: \r\n"), BAD),
    "a length in quotes": (post(b'Content-Length: "5"\r\n'), BAD),
    "a length and a comma": (post(b"Content-Length: 5,\r\n"), BAD),
    "a list of equal lengths": (post(b"Content-Length: 5, 5\r\n"), BAD),
    "a list of lengths": (post(b"Content-Length: 5, 0\r\n"), BAD),
    "a length with more behind": (post(b"Content-Length: 5 0\r\n"), BAD),
    "a length and a parameter": (post(b"Content-Length: 5;a=b\r\n"), BAD),
    "two equal lengths": (post(b"Content-Length: 5\r\nContent-Length: 5\r\n"), BAD),
    "two lengths": (post(b"Content-Length: 5\r\nContent-Length: 0\r\n"), BAD),
    "two lengths, the other first": (post(b"Content-Length: 0\r\nContent-Length: 5\r\n"), BAD),
    "a length with a space before the colon": (post(b"Content-Length : 5\r\n"), BAD),
    "a length with a tab before the colon": (post(b"Content-Length\t: 5\r\n"), BAD),
    "a length behind a space": (post(b" Content-Length: 5\r\n"), BAD),
    "a length with a vertical tab": (post(b"Content-Length:\x0b5\r\n"), BAD),
    "a length with a NUL": (post(b"Content-Length: 5\x00\r\n"), BAD),
    "a length with a no-break space": (post(b"Content-Length: \xa05\r\n"), BAD),
    "a length by an underscore": (post(b"Content_Length: 5\r\n", b""), read(("POST", "/", b""))),
    "a body of a GET": (get(b"Content-Length: 0\r\n"), ONE),
}
CODINGS: Final[dict[str, tuple[bytes, Expected]]] = {
    "chunks": (chunked(BODY), FIVE),
    "chunks by another case": (post(b"TRANSFER-ENCODING: CHUNKED\r\n", BODY), FIVE),
    "chunks behind a tab": (post(b"Transfer-Encoding:\tchunked\r\n", BODY), FIVE),
    "chunks and a length": (
        post(b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", BODY),
        BAD,
    ),
    "a length and chunks": (
        post(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", BODY),
        BAD,
    ),
    "chunks and the right length": (
        post(b"Content-Length: 15\r\nTransfer-Encoding: chunked\r\n", BODY),
        BAD,
    ),
    "chunks twice": (
        post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", BODY),
        BAD,
    ),
    "chunks twice in a list": (post(b"Transfer-Encoding: chunked, chunked\r\n", BODY), BAD),
    "chunks of gzip": (post(b"Transfer-Encoding: gzip, chunked\r\n", BODY), BAD),
    "gzip of chunks": (post(b"Transfer-Encoding: chunked, gzip\r\n", BODY), BAD),
    "identity": (post(b"Transfer-Encoding: identity\r\n"), BAD),
    "identity and a length": (
        post(b"Transfer-Encoding: identity\r\nContent-Length: 5\r\n"),
        BAD,
    ),
    "identity and chunks": (
        post(b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", BODY),
        BAD,
    ),
    "an empty coding": (post(b"Transfer-Encoding:\r\n", BODY), BAD),
    "an unknown coding": (post(b"Transfer-Encoding: xchunked\r\n", BODY), BAD),
    "chunks in quotes": (post(b'Transfer-Encoding: "chunked"\r\n', BODY), BAD),
    "chunks behind a comma": (
        post(b"Transfer-Encoding: ,chunked\r\n", BODY),
        BAD,
    ),
    "chunks and a comma": (post(b"Transfer-Encoding: chunked,\r\n", BODY), BAD),
    "chunks with a parameter": (post(b"Transfer-Encoding: chunked;q=1\r\n", BODY), BAD),
    "chunks with a vertical tab": (post(b"Transfer-Encoding: \x0bchunked\r\n", BODY), BAD),
    "chunks with a NUL": (post(b"Transfer-Encoding: chunked\x00\r\n", BODY), BAD),
    "chunks with a space before the colon": (post(b"Transfer-Encoding : chunked\r\n", BODY), BAD),
    "chunks on a folded line": (post(b"Transfer-Encoding:\r\n chunked\r\n", BODY), BAD),
    "chunks behind a lone LF": (post(b"X: y\nTransfer-Encoding: chunked\r\n", BODY), BAD),
    "chunks behind a lone CR": (post(b"X: y\rTransfer-Encoding: chunked\r\n", BODY), BAD),
    "chunks of HTTP/1.0": (
        chunked(BODY).replace(b"HTTP/1.1", b"HTTP/1.0", 1),
        BAD,
    ),
    "chunks by an underscore": (
        post(b"Transfer_Encoding: chunked\r\n", b""),
        read(("POST", "/", b"")),
    ),
}
CHUNKS: Final[dict[str, tuple[bytes, Expected]]] = {
    "several chunks": (chunked(b"2\r\nab\r\n3\r\ncde\r\n" + LAST), FIVE),
    "a size with zeros": (chunked(b"005\r\nabcde\r\n000\r\n\r\n"), FIVE),
    "an extension": (chunked(b"5;name=value\r\nabcde\r\n0;last\r\n\r\n"), FIVE),
    "an extension in quotes": (chunked(b'5;a="b;c"\r\nabcde\r\n' + LAST), FIVE),
    "an extension with a line end": (chunked(b'5;a="\r\n"\r\nabcde\r\n' + LAST), BAD),
    "an extension with a lone LF": (chunked(b"5;a\nabcde\r\n" + LAST), BAD),
    "an extension with a lone CR": (chunked(b"5;a\rb\r\nabcde\r\n" + LAST), BAD),
    "an empty extension": (chunked(b"5;\r\nabcde\r\n" + LAST), BAD),
    "a trailer": (chunked(b"5\r\nabcde\r\n0\r\nX: y\r\n\r\n"), FIVE),
    "a length as a trailer": (chunked(b"5\r\nabcde\r\n0\r\nContent-Length: 9\r\n\r\n"), BAD),
    "a folded trailer": (chunked(b"5\r\nabcde\r\n0\r\nX: y\r\n z\r\n\r\n"), BAD),
    "a size with a prefix": (chunked(b"0x5\r\nabcde\r\n" + LAST), BAD),
    "a size with a plus": (chunked(b"+5\r\nabcde\r\n" + LAST), BAD),
    "a size with a minus": (chunked(b"-5\r\nabcde\r\n" + LAST), BAD),
    "a size behind a space": (chunked(b" 5\r\nabcde\r\n" + LAST), BAD),
    "a size before a space": (chunked(b"5 \r\nabcde\r\n" + LAST), BAD),
    "a size before a NUL": (chunked(b"5\x00\r\nabcde\r\n" + LAST), BAD),
    "no size": (chunked(b"\r\nabcde\r\n" + LAST), BAD),
    "a size of 2 to the 64th": (chunked(b"10000000000000000\r\nabcde\r\n" + LAST), BAD),
    "a size of 2 to the 64th and 5": (chunked(b"10000000000000005\r\nabcde\r\n" + LAST), BAD),
    "a size with an underscore": (chunked(b"0_5\r\nabcde\r\n" + LAST), BAD),
    "sizes with lone LF": (chunked(b"5\nabcde\n0\n\n"), BAD),
    "a chunk with a lone LF": (chunked(b"5\r\nabcde\n" + LAST), BAD),
    "a chunk with a lone CR": (chunked(b"5\r\nabcde\r" + LAST), BAD),
    "a chunk that is too long": (chunked(b"5\r\nabcdef\r\n" + LAST), BAD),
    "a last chunk with lone LF": (chunked(b"5\r\nabcde\r\n0\n\n"), BAD),
    "a last chunk with a lone CR": (chunked(b"5\r\nabcde\r\n0\r\n\rX"), BAD),
}
FIELDS: Final[dict[str, tuple[bytes, Expected]]] = {
    "a folded line": (get(b"X: y\r\n z\r\n"), BAD),
    "a line folded by a tab": (get(b"X: y\r\n\tz\r\n"), BAD),
    "a line that is only folded": (get(b"X:\r\n \r\n"), BAD),
    "a first line that is folded": (b"GET / HTTP/1.1\r\n X: y\r\n" + HOST + b"\r\n" + BEHIND, BAD),
    "a lone LF": (get(b"X: y\nZ: z\r\n"), BAD),
    "a lone CR": (get(b"X: y\rZ: z\r\n"), BAD),
    "two CR": (get(b"X: y\r\r\n"), BAD),
    "a lone LF at the end": (b"GET / HTTP/1.1\r\nHost: localhost\r\n\n" + BEHIND, BAD),
    "lone LF everywhere": (b"GET / HTTP/1.1\nHost: localhost\n\n" + BEHIND, BAD),
    "lone CR everywhere": (b"GET / HTTP/1.1\rHost: localhost\r\r" + BEHIND, BAD),
    "a NUL in a value": (get(b"X: y\x00z\r\n"), BAD),
    "a NUL in a name": (get(b"X\x00: y\r\n"), BAD),
    "a control character in a value": (get(b"X: y\x01z\r\n"), BAD),
    "a DEL in a value": (get(b"X: y\x7fz\r\n"), BAD),
    "a space before the colon": (get(b"X : y\r\n"), BAD),
    "a tab before the colon": (get(b"X\t: y\r\n"), BAD),
    "a space in a name": (get(b"X Y: z\r\n"), BAD),
    "an empty name": (get(b": y\r\n"), BAD),
    "no colon": (get(b"XY\r\n"), BAD),
    "a name in quotes": (get(b'"X": y\r\n'), BAD),
    "a name that is not ASCII": (get(b"X\xe4: y\r\n"), BAD),
    "a value that is not ASCII": (get(b"X: \xe4\r\n"), ONE),
    "an empty value": (get(b"X:\r\n"), ONE),
}
HOSTS: Final[dict[str, tuple[bytes, Expected]]] = {
    "no host": (b"GET / HTTP/1.1\r\n\r\n" + BEHIND, BAD),
    "two equal hosts": (get(HOST), BAD),
    "two hosts": (get(b"Host: other\r\n"), BAD),
    "a list of hosts": (b"GET / HTTP/1.1\r\nHost: localhost, other\r\n\r\n" + BEHIND, BAD),
    "a host with a space": (b"GET / HTTP/1.1\r\nHost: local host\r\n\r\n" + BEHIND, BAD),
    "a host with a path": (b"GET / HTTP/1.1\r\nHost: localhost/x\r\n\r\n" + BEHIND, BAD),
    "a host with a user": (b"GET / HTTP/1.1\r\nHost: a@localhost\r\n\r\n" + BEHIND, BAD),
    "a host with a space before the colon": (
        b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n" + BEHIND,
        BAD,
    ),
    "an absolute target": (line(b"GET http://localhost/x?y HTTP/1.1"), read(("GET", "/x?y", b""))),
    "an absolute target by another case": (
        line(b"GET HTTP://LOCALHOST/x HTTP/1.1"),
        read(("GET", "/x", b"")),
    ),
    "an absolute target without a path": (line(b"GET http://localhost HTTP/1.1"), ONE),
    "an absolute target of another host": (line(b"GET http://other/ HTTP/1.1"), BAD),
    "an absolute target with a user": (line(b"GET http://a@localhost/ HTTP/1.1"), BAD),
    "an absolute target of another scheme": (line(b"GET ftp://localhost/ HTTP/1.1"), BAD),
}
LINES: Final[dict[str, tuple[bytes, Expected]]] = {
    "an authority as the target": (line(b"GET localhost:80 HTTP/1.1"), BAD),
    "a tunnel": (line(b"CONNECT localhost:80 HTTP/1.1"), BAD),
    "an asterisk": (line(b"OPTIONS * HTTP/1.1"), read(("OPTIONS", "*", b""))),
    "an asterisk of a GET": (line(b"GET * HTTP/1.1"), BAD),
    "no target": (line(b"GET HTTP/1.1"), BAD),
    "a target without a slash": (line(b"GET x HTTP/1.1"), BAD),
    "a target with a fragment": (line(b"GET /x#y HTTP/1.1"), BAD),
    "a fragment behind an authority": (line(b"GET http://localhost#@other/ HTTP/1.1"), BAD),
    "a query with a number sign": (line(b"GET /x?#y HTTP/1.1"), read(("GET", "/x?#y", b""))),
    "a target with a space": (line(b"GET /x y HTTP/1.1"), BAD),
    "a target with a tab": (line(b"GET /x\ty HTTP/1.1"), BAD),
    "a target with a NUL": (line(b"GET /x\x00 HTTP/1.1"), BAD),
    "a target that is not ASCII": (
        line(b"GET /\xc3\xa4 HTTP/1.1"),
        read(("GET", "/\xc3\xa4", b"")),
    ),
    "two spaces before the target": (line(b"GET  / HTTP/1.1"), BAD),
    "two spaces behind the target": (line(b"GET /  HTTP/1.1"), BAD),
    "a tab before the target": (line(b"GET\t/ HTTP/1.1"), BAD),
    "a space before the method": (line(b" GET / HTTP/1.1"), BAD),
    "a space behind the version": (line(b"GET / HTTP/1.1 "), BAD),
    "no version": (line(b"GET /"), BAD),
    "HTTP/0.9": (b"GET /\r\n\r\n" + BEHIND, BAD),
    "HTTP/1.2": (line(b"GET / HTTP/1.2"), BAD),
    "HTTP/2.0": (line(b"GET / HTTP/2.0"), BAD),
    "HTTP/1.10": (line(b"GET / HTTP/1.10"), BAD),
    "a version by another case": (line(b"GET / http/1.1"), BAD),
    "the preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + BEHIND, BAD),
    "a method that llhttp does not know": (
        line(b"BREW / HTTP/1.1"),
        read(("BREW", "/", b"")),
    ),
    "a method with a colon": (line(b"GE:T / HTTP/1.1"), BAD),
    "empty lines before": (b"\r\n\r\n" + line(b"GET / HTTP/1.1"), ONE),
    "an empty line of LF before": (b"\n" + line(b"GET / HTTP/1.1"), BAD),
    "a lone CR before": (b"\rx" + line(b"GET / HTTP/1.1"), BAD),
}
TABLE: Final = LENGTHS | CODINGS | CHUNKS | FIELDS | HOSTS | LINES
