"""Codes of authenticator apps (RFC 6238): six digits, a new code every 30 seconds, HMAC-SHA-1."""

from __future__ import annotations

import base64
import binascii
import hmac
from datetime import datetime
from typing import Final
from urllib.parse import quote, urlencode

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP

from idp.foundation.randomness import Random
from idp.foundation.texts import typed_texts

DIGITS: Final = 6
STEP_SECONDS: Final = 30
_WINDOW: Final = (0, -1, 1)  # clocks differ, and people type slowly
_SECRET_BYTES: Final = 20  # the length of a SHA-1 digest (RFC 4226 4)
_MIN_BYTES: Final = 10  # secrets of other systems may be this short
_MAX_BYTES: Final = 128


def new_secret(random: Random) -> str:
    """Returns a random secret in base32, the form that apps read."""
    return base64.b32encode(random.token_bytes(_SECRET_BYTES)).decode()


def read_secret(text: str) -> str:
    """Returns a secret from another system in normalised base32. Raises ValueError if it can't be
    used."""
    base32 = typed_texts.without_separators(text).replace("=", "").upper()
    try:
        data = _decoded(base32)
    except binascii.Error as error:
        raise ValueError("not base32") from error
    if not _MIN_BYTES <= len(data) <= _MAX_BYTES:
        raise ValueError("too short or too long")
    return base32


def uri(secret: str, issuer: str, account: str) -> str:
    """Returns the `otpauth:` URI for the QR code that an authenticator app scans: the secret with
    the names of issuer and account."""
    query = urlencode({"secret": secret, "issuer": issuer}, quote_via=quote)
    return f"otpauth://totp/{quote(issuer)}:{quote(account)}?{query}"


def step_of(secret: str, typed: str, now: datetime, after: int = 0) -> int | None:
    """Returns the time step of the code that was typed, among the steps around `now` that are
    later than `after` (the last one used); None if no such step has this code."""
    code, current_step = typed_texts.digits(typed), int(now.timestamp()) // STEP_SECONDS
    # RFC 4226 4 asks for 128 bits; users of other systems have secrets of 80 bits. SHA-1 is the
    # algorithm of RFC 4226 5.3; the collisions that are known of SHA-1 do not weaken HMAC.
    hotp = HOTP(_decoded(secret), DIGITS, SHA1(), enforce_key_length=False)  # noqa: S303  # nosec B303
    accepted = None
    # Every step is computed and compared, so that the time taken does not depend on the code.
    for step in (current_step + offset for offset in _WINDOW):
        is_same = hmac.compare_digest(hotp.generate(step), code.zfill(DIGITS).encode())
        if is_same and len(code) == DIGITS and step > after and accepted is None:
            accepted = step
    return accepted


def _decoded(base32: str) -> bytes:
    """Decodes base32 without padding. Raises binascii.Error."""
    return base64.b32decode(base32 + "=" * (-len(base32) % 8))
