"""Codes of authenticator apps (RFC 6238): six digits, a new one every 30 seconds, by SHA-1."""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from datetime import datetime
from typing import Final
from urllib.parse import quote, urlencode

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP

from idp.foundation.randomness import Random
from idp.identity.factors import mail_codes

DIGITS: Final = 6
STEP_SECONDS: Final = 30
_WINDOW: Final = (0, -1, 1)  # clocks differ, and people type slowly
_SECRET_BYTES: Final = 20  # as many as SHA-1 gives (RFC 4226 4)
_FEWEST_BYTES: Final = 10  # what other systems have made
_MOST_BYTES: Final = 128
_BETWEEN: Final = re.compile(r"[\s=-]+")


def new_secret(random: Random) -> str:
    """A secret as apps take it: base32."""
    return base64.b32encode(random.token_bytes(_SECRET_BYTES)).decode()


def read_secret(text: str) -> str:
    """A secret that another system made, in the same form. Raises ValueError: it can't be used."""
    bare = _BETWEEN.sub("", text).upper()
    try:
        octets = _octets(bare)
    except binascii.Error as error:
        raise ValueError("not base32") from error
    if not _FEWEST_BYTES <= len(octets) <= _MOST_BYTES:
        raise ValueError("too short or too long")
    return bare


def uri(secret: str, issuer: str, account: str) -> str:
    """What an app reads from the picture: the secret, and what it is for."""
    named = urlencode({"secret": secret, "issuer": issuer}, quote_via=quote)
    return f"otpauth://totp/{quote(issuer)}:{quote(account)}?{named}"


def step_of(secret: str, typed: str, now: datetime, after: int = 0) -> int | None:
    """The time step whose code this is, of those around now that come after the last one used;
    None when it is no such code."""
    code, present = mail_codes.digits(typed), int(now.timestamp()) // STEP_SECONDS
    # RFC 4226 4 asks for 128 bits; other systems have made, and their users keep, secrets of 80.
    # SHA-1 is the algorithm of RFC 4226 5.3; in HMAC, its collisions do no harm.
    made = HOTP(_octets(secret), DIGITS, SHA1(), enforce_key_length=False)  # noqa: S303  # nosec B303
    found = None
    for step in (present + shift for shift in _WINDOW):
        is_it = hmac.compare_digest(made.generate(step), code.zfill(DIGITS).encode())
        if is_it and len(code) == DIGITS and step > after and found is None:
            found = step
    return found


def _octets(bare: str) -> bytes:
    """The octets of base32 without padding. Raises binascii.Error."""
    return base64.b32decode(bare + "=" * (-len(bare) % 8))
