"""base64url without padding (RFC 7515, section 2), read strictly."""

from __future__ import annotations

import base64
import binascii


def encode(data: bytes) -> str:
    """The bytes as base64url text without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode(text: str) -> bytes:
    """The bytes of `text`; ValueError unless it is exactly what `encode` would have written.

    Python's own decoder skips foreign characters and ignores stray bits, so that many texts
    would stand for the same bytes; a token that is compared or looked up must have one form.
    """
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if encode(data) != text:
        raise ValueError("not base64url without padding")
    return data
