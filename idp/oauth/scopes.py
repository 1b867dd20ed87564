"""The supported scopes, and the parsing of a scope string (RFC 6749 3.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from idp.config.settings import Config
from idp.oauth import reserved_scopes
from idp.oauth.errors import InvalidScope
from idp.oauth.refusals import safe_display
from idp.records import Application

OPENID: Final = "openid"
OFFLINE_ACCESS: Final = "offline_access"
GROUPS: Final = "groups"
SUPPORTED: Final = (OPENID, "profile", "email", "phone", "address", GROUPS, OFFLINE_ACCESS)

MAX_CHARACTERS: Final = 4096
_TOKEN = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
_SEPARATORS = re.compile(r"[\s,;+|]+|%20|%2b|%2c|%09", re.IGNORECASE)
_SEPARATED: Final = "scopes are separated by spaces, as in openid profile email"
_SEPARATOR_FIX = "Put one space between two scopes: scope=openid profile, encoded once."


def parse(text: str | None) -> list[str]:
    """Returns the scopes of a `scope` parameter in their order, each once. Raises `InvalidScope`.

    `text` is None if the parameter was not sent.
    """
    if len(text or "") > MAX_CHARACTERS:
        raise InvalidScope(f"scope is longer than {MAX_CHARACTERS} characters")
    scopes = list(dict.fromkeys((text or "").split(" ")))
    names = [scope for scope in scopes if scope]
    if not all(_TOKEN.fullmatch(scope) for scope in names):
        raise refusal("scope has a character that is not allowed", text or "", fix=_SEPARATOR_FIX)
    return names


def refusal(description: str, sent: str, *, details: str = "", fix: str = "") -> InvalidScope:
    """Returns the error for the `scope` parameter `sent`.

    Where its scopes are not separated by spaces, the description says so instead.
    """
    if any(_is_joined(name) for name in sent.split(" ")):
        return InvalidScope(_SEPARATED, details=details, fix=_SEPARATOR_FIX)
    return InvalidScope(description, details=details, fix=fix)


def _is_joined(name: str) -> bool:
    """Returns whether this has something else than a space before or after a scope that exists; a
    space may be there too."""
    parts = _SEPARATORS.split(name.lower())
    return len(parts) > 1 and any(part in SUPPORTED for part in parts)


def refuse_unknown(config: Config, requested: Iterable[str]) -> None:
    """Raises `InvalidScope` for a scope that does not exist (RFC 6749 5.2)."""
    unknown = [scope for scope in requested if not _is_known(config, scope)]
    if unknown:
        sent = safe_display.in_words("scope", " ".join(unknown))
        supported = (
            f"{' '.join(SUPPORTED)} and reserved ones, {reserved_scopes.claim(config, '…')}"
        )
        details = f"The scopes are {supported}; {sent} was sent."
        raise refusal("scope has a value that is not known", " ".join(unknown), details=details)


def without_openid(text: str | None) -> InvalidScope:
    """Returns the error for a `scope` parameter without `openid`.

    Its details also recognise `openid` in capitals, or not separated by spaces.
    """
    description = "scope must include openid"
    if not text:
        return InvalidScope(description, details="scope is missing.")
    sent = safe_display.in_words("scope", text)
    if OPENID in text.lower().split(" "):
        details = f"openid is written in lowercase letters; {sent} was sent."
        return InvalidScope(description, details=details, fix="Write openid in lowercase letters.")
    if OPENID in _SEPARATORS.split(text.lower()):
        details = f"Scopes are parted by spaces, and by nothing else; {sent} was sent."
        return refusal(description, text, details=details, fix=_SEPARATOR_FIX)
    return refusal(description, text, details=f"scope has no openid: {sent} was sent.")


def grantable(config: Config, client: Application, scopes: Iterable[str]) -> list[str]:
    """Returns the scopes among `scopes` that this client can be given; the others are left out.

    RFC 6749 3.3 lets the server do so. Which projects may be in the audience is decided by
    `audiences`.
    """
    withheld = set()
    # Without that grant type a refresh token could not be used.
    if "refresh_token" not in client.grant_types:
        withheld.add(OFFLINE_ACCESS)
    if not client.has_management_access:
        withheld.add(reserved_scopes.service_audience(config))
    return [scope for scope in scopes if _is_known(config, scope) and scope not in withheld]


def _is_known(config: Config, scope: str) -> bool:
    return scope in SUPPORTED or reserved_scopes.is_reserved(config, scope)
