"""base64url without padding (RFC 7515, section 2), read strictly."""

from __future__ import annotations

import base64
import binascii


def encode(data: bytes) -> str:
    """Returns the bytes as base64url text without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode(text: str) -> bytes:
    """Returns the bytes of `text`. Raises ValueError unless `encode` would return exactly this
    text.

    Python's own decoder skips foreign characters and ignores stray bits, so that many texts would
    decode to the same bytes; a token that is compared or looked up must have one form.
    """
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if encode(data) != text:
        raise ValueError("not base64url without padding")
    return data
