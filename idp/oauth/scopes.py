"""Scopes: which exist, and how a scope string is read (RFC 6749 3.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from idp.config import Config
from idp.oauth import shown
from idp.oauth.errors import InvalidScope
from idp.records import Application

OPENID: Final = "openid"
OFFLINE_ACCESS: Final = "offline_access"
SUPPORTED: Final = (OPENID, "profile", "email", "phone", "address", OFFLINE_ACCESS)

_TOKEN = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
_BETWEEN = re.compile(r"[\s,;+|]+|%20|%2b|%2c|%09", re.IGNORECASE)
_APART = "Put one space between two scopes: scope=openid profile, encoded once."


def parse(text: str | None) -> list[str]:
    """The scopes in the order they were sent, each once. Raises InvalidScope: malformed."""
    scopes = list(dict.fromkeys((text or "").split(" ")))
    found = [scope for scope in scopes if scope]
    if not all(_TOKEN.fullmatch(scope) for scope in found):
        raise InvalidScope("scope has a character that is not allowed", fix=_APART)
    return found


def refuse_unknown(config: Config, wanted: Iterable[str]) -> None:
    """Raise InvalidScope for a scope that does not exist (RFC 6749 5.2)."""
    unknown = [scope for scope in wanted if scope not in SUPPORTED]
    if unknown:
        known, sent = " ".join(SUPPORTED), shown.in_words("scope", " ".join(unknown))
        story = f"The scopes are {known}; {sent} was sent."
        raise InvalidScope("scope has a value that is not known", story=story)


def without_openid(text: str | None) -> InvalidScope:
    """The refusal of a scope that lacks `openid`, or has it in other letters or unparted."""
    told = "scope must include openid"
    if not text:
        return InvalidScope(told, story="scope is missing.")
    sent = shown.in_words("scope", text)
    if OPENID in text.lower().split(" "):
        story = f"openid is written in small letters; {sent} was sent."
        return InvalidScope(told, story=story, fix="Write openid in small letters.")
    if OPENID in _BETWEEN.split(text.lower()):
        story = f"Scopes are parted by spaces, and by nothing else; {sent} was sent."
        return InvalidScope(told, story=story, fix=_APART)
    return InvalidScope(told, story=f"scope has no openid: {sent} was sent.")


def grantable(client: Application, scopes: Iterable[str]) -> list[str]:
    """Those of `scopes` that this client can be given; the others are dropped silently."""
    return [scope for scope in scopes if scope in SUPPORTED and _may_have(client, scope)]


def _may_have(client: Application, scope: str) -> bool:
    return scope != OFFLINE_ACCESS or "refresh_token" in client.grant_types
