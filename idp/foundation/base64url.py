"""base64url without padding (RFC 7515, section 2), read strictly."""

from __future__ import annotations

import binascii
from typing import Final

_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")


def encode(data: bytes) -> str:
    """Returns the bytes as base64url text without padding."""
    encoded = binascii.b2a_base64(data, newline=False).translate(_URL_SAFE)
    return encoded.rstrip(b"=").decode("ascii")


def decode(text: str) -> bytes:
    """Returns the bytes of `text`. Raises ValueError unless `encode` would return exactly this
    text, and TypeError for another type.

    Python's own decoder skips foreign characters and ignores stray bits, so that many texts would
    decode to the same bytes; a token that is compared or looked up must have one form.
    """
    try:
        padded = text + "=" * (-len(text) % 4)
        data = binascii.a2b_base64(padded.encode("ascii").translate(_STANDARD))
    except ValueError:  # of both calls
        data = b""
    if encode(data) != text:
        raise ValueError("not base64url without padding")
    return data
