"""Addresses in the headers by which proxies state for whom they forward a request.

`X-Forwarded-For` has no standard, so it is read in all forms that proxies write: with a port, with
brackets, with quotes, with a zone. `Forwarded` (RFC 7239) is read where the other is absent, also
with the IPv6 addresses that some proxies write without quotes and brackets. `X-Real-IP`, which has
one address, is read where both are absent. A header without members counts as absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from ipaddress import ip_address
from typing import Final

from tornado.httputil import HTTPHeaders

FORWARDED_FOR: Final = "X-Forwarded-For"
FORWARDED_PROTO: Final = "X-Forwarded-Proto"
FORWARDED: Final = "Forwarded"
REAL_IP: Final = "X-Real-IP"

_MAX_CHARACTERS: Final = 1000  # of one element; more is not understood
_MAX_COMMAS: Final = 8  # in the quoted text of one element
# All quantifiers are possessive: a text that does not match is refused in linear time.
_QUOTED: Final = r'"(?:[^"\\]|\\.)*+"'
_NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"  # RFC 9110 5.6.2
# Proxies also write addresses with a colon without quotes.
_ASSIGNMENT: Final = rf'({_NAME})[ \t]*+=[ \t]*+({_QUOTED}|[^",;\\\s]*+)'
_PAIR: Final = rf"[ \t]*+(?:{_ASSIGNMENT}[ \t]*+)?+"
_ELEMENT: Final = re.compile(rf"{_PAIR}(?:;{_PAIR})*+")
_EACH_PAIR: Final = re.compile(_ASSIGNMENT)
_ESCAPED: Final = re.compile(r"\\(.)")
_BRACKETED: Final = re.compile(r"\[([^\]]*)\](?::(?:[0-9]{1,5}|_[A-Za-z0-9._-]+)?)?")
_WITH_PORT: Final = re.compile(r"([^:]*):(?:[0-9]{1,5}|_[A-Za-z0-9._-]+)?")
_GROUPS: Final = 8  # of an IPv6 address
_EMPTY: Final = ", \t"  # of a list without members (RFC 9110 5.6.1)


def is_forwarded(headers: HTTPHeaders) -> bool:
    """Returns whether a header states a client's address."""
    for name in (FORWARDED_FOR, FORWARDED, REAL_IP):
        if name in headers and headers[name].strip(_EMPTY):
            return True
    return False


def hops_from_nearest(headers: HTTPHeaders) -> Iterator[str]:
    """Yields what the proxies state of those that sent them the request, the nearest one first.
    `address_of` reads each."""
    if headers.get(FORWARDED_FOR, "").strip(_EMPTY):
        members = (member.strip() for member in reversed(headers[FORWARDED_FOR].split(",")))
        yield from filter(None, members)
    elif headers.get(FORWARDED, "").strip(_EMPTY):
        for element in _elements_from_nearest(headers):
            yield element.get("for", "unknown")
    elif headers.get(REAL_IP, "").strip(_EMPTY):
        yield headers[REAL_IP].strip()


def scheme(headers: HTTPHeaders) -> str:
    """Returns the scheme that the nearest proxy states, in lower case; empty without one."""
    if headers.get(FORWARDED_PROTO, "").strip(_EMPTY):
        return _unquoted(headers[FORWARDED_PROTO].rpartition(",")[2].strip()).lower()
    return next(_elements_from_nearest(headers), {}).get("proto", "").lower()


def address_of(hop: str) -> str | None:
    """Returns the IP address of a hop without port, brackets and zone, an IPv4 address that is
    mapped into IPv6 as that; None for one that is hidden, unknown or not understood."""
    if len(hop) > _MAX_CHARACTERS:
        return None
    try:
        address = ip_address(_host(_unquoted(hop)).partition("%")[0])
    except ValueError:
        return None
    return str(getattr(address, "ipv4_mapped", None) or address)


def _host(node: str) -> str:
    """Returns a node without its port and its brackets."""
    bracketed = _BRACKETED.fullmatch(node)
    if bracketed is not None:
        return bracketed[1]
    with_port = _WITH_PORT.fullmatch(node)
    if with_port is not None:
        return with_port[1]
    # A port after all eight groups is not a ninth.
    if "::" not in node and node.count(":") == _GROUPS:
        return node.rpartition(":")[0]
    return node


def _elements_from_nearest(headers: HTTPHeaders) -> Iterator[dict[str, str]]:
    """Yields the elements of the header Forwarded, the last one first: its pairs, by their names
    in lower case. One that is not understood is empty, and ends the list.

    Each is the shortest text at the end that can be one. So a client that sends an open quote to a
    proxy does not change how the element is read that the proxy appends.
    """
    parts = headers.get(FORWARDED, "").split(",")
    while parts:
        length = next(filter(partial(_is_element, parts), range(1, _MAX_COMMAS + 2)), None)
        if length is None:
            yield {}
            return
        text = ",".join(parts[-length:])
        del parts[-length:]
        if text.strip():
            yield _pairs(text)


def _is_element(parts: list[str], length: int) -> bool:
    text = ",".join(parts[-length:])
    return len(text) <= _MAX_CHARACTERS and _ELEMENT.fullmatch(text) is not None


def _pairs(element: str) -> dict[str, str]:
    """Returns the pairs of an element, none if a name is there twice."""
    pairs = [(name.lower(), _unquoted(text)) for name, text in _EACH_PAIR.findall(element)]
    named = dict(pairs)
    return named if len(named) == len(pairs) else {}


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == '"':  # noqa: PLR2004 - both quotes
        return _ESCAPED.sub(r"\1", text[1:-1]).strip()
    return text
