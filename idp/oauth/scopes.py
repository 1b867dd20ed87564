"""Scopes: which exist, and how a scope string is read (RFC 6749 3.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from idp.oauth.errors import InvalidScope
from idp.records import Application

OPENID: Final = "openid"
OFFLINE_ACCESS: Final = "offline_access"
SUPPORTED: Final = (OPENID, "profile", "email", "phone", "address", OFFLINE_ACCESS)

_TOKEN = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")


def parse(text: str | None) -> list[str]:
    """The scopes in the order they were sent, each once. Raises InvalidScope: malformed."""
    scopes = list(dict.fromkeys((text or "").split(" ")))
    found = [scope for scope in scopes if scope]
    if not all(_TOKEN.fullmatch(scope) for scope in found):
        raise InvalidScope("scope has a character that is not allowed")
    return found


def grantable(client: Application, scopes: Iterable[str]) -> list[str]:
    """Those of `scopes` that this client can be given; the others are dropped silently."""
    return [scope for scope in scopes if scope in SUPPORTED and _may_have(client, scope)]


def _may_have(client: Application, scope: str) -> bool:
    return scope != OFFLINE_ACCESS or "refresh_token" in client.grant_types
