"""Requests as the load sends them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode

from benchmarks.protocol.load import Step

_FORM: Final = "application/x-www-form-urlencoded"


def get(host: str, path: str, headers: Mapping[str, str], **expected: object) -> Step:
    """Returns a GET; `expected` are the step's own fields."""
    return Step(_head("GET", host, path, headers), **expected)  # type: ignore[arg-type]


def post(
    host: str,
    path: str,
    form: Mapping[str, str],
    headers: Mapping[str, str],
    **expected: object,
) -> Step:
    """Returns a POST of a form; `expected` are the step's own fields."""
    head = _head("POST", host, path, {**headers, "Content-Type": _FORM})
    return Step(head, urlencode(form, safe="@"), **expected)  # type: ignore[arg-type]


def _head(method: str, host: str, path: str, headers: Mapping[str, str]) -> str:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "".join(f"{line}\r\n" for line in lines)


def basic(client_id: str, secret: str) -> dict[str, str]:
    """Returns the header of client_secret_basic (RFC 6749 2.3.1)."""
    pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def bearer(token: str) -> dict[str, str]:
    """Returns the header of a bearer token (RFC 6750 2.1)."""
    return {"Authorization": f"Bearer {token}"}
