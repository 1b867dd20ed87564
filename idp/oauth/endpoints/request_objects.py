"""Request objects (OpenID Connect Core 6, RFC 9101): not supported, and read for one purpose.

The `response_mode` and `response_type` of one decide where the refusal is sent. Nothing of it is
verified, so nothing else of it may be used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.foundation import base64url, strict_json
from idp.foundation.errors import InvalidArgument

MAX_CHARACTERS: Final = 16 * 1024
_PARTS: Final = 3


def unverified(text: str | None) -> Mapping[str, object]:
    """Returns the claims of a request object in the compact form, signed or not, without verifying
    it.

    The result is empty if `text` is None, too long or cannot be read.
    """
    if text is None or len(text) > MAX_CHARACTERS or text.count(".") != _PARTS - 1:
        return {}
    try:
        claims = strict_json.decode(base64url.decode(text.split(".")[1]))
    except (ValueError, InvalidArgument):
        return {}
    return claims if isinstance(claims, dict) else {}
