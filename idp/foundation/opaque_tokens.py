"""Opaque tokens: an id to look up and secrets to compare, in one string.

Codes, refresh tokens, personal access tokens and the browser's cookie have the same form: the
record's id (22 characters) and one or two secrets of fixed length. Only SHA-256 of a secret is
stored. Texts are compared, not the decoded bytes, so that every changed character is noticed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from idp.foundation import base64url

ID_LENGTH: Final = 22
SECRET_LENGTH: Final = 43
LASTS_UNTIL: Final = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)  # for records without an end

_ALPHABET = re.compile(r"[A-Za-z0-9_-]+")


class Confidential(Struct, frozen=True):
    """The base of values that contain secrets in the clear: their repr, which may get into logs or
    tracebacks, shows only the type."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


def digest(secret: str) -> str:
    """Returns the SHA-256 that is stored of a secret, which must have at least 128 random bits."""
    return base64url.encode(hashlib.sha256(secret.encode()).digest())


def matches(secret: str, stored: str | None) -> bool:
    """Returns whether `stored` is the digest of the secret; compared in constant time."""
    return hmac.compare_digest(digest(secret), stored or "")


def equal(expected: str, presented: str) -> bool:
    """Returns whether two texts are equal; the time taken does not depend on where they differ."""
    return hmac.compare_digest(expected.encode(), presented.encode())


def split(text: str, secrets: int = 1) -> tuple[str, ...] | None:
    """Returns the id and the secrets of an opaque token that has this number of `secrets`;
    None if the text does not have this form."""
    if len(text) != ID_LENGTH + secrets * SECRET_LENGTH or not _ALPHABET.fullmatch(text):
        return None
    starts = range(ID_LENGTH, len(text), SECRET_LENGTH)
    return (text[:ID_LENGTH], *(text[start : start + SECRET_LENGTH] for start in starts))
