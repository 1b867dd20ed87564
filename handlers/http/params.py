"""A strict parser for query strings and form bodies (application/x-www-form-urlencoded).

Tornado's own parser strips values, replaces control characters, merges query and body and returns
the last of repeated values; none of that may happen to a redirect_uri, a state or a password.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote_to_bytes

from idp.oauth.errors import InvalidRequest
from idp.oauth.params import Params

FORM_TYPE: Final = "application/x-www-form-urlencoded"
MAX_FIELDS: Final = 100

_BAD_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def parse(raw: bytes, max_fields: int = MAX_FIELDS) -> Params:
    """Parses a query string or form body into names and values, in the order in which they were
    sent. Raises InvalidRequest for malformed parameters, or for more than `max_fields`."""
    if not raw:
        return Params()
    # Counted before splitting, which bounds the work.
    if raw.count(b"&") >= max_fields:
        raise InvalidRequest(f"more than {max_fields} parameters were sent")
    # unquote_to_bytes would pass malformed sequences through.
    if _BAD_PERCENT.search(raw):
        raise InvalidRequest("a percent sign is not followed by two hexadecimal digits")
    pairs = [field.partition(b"=") for field in raw.split(b"&") if field]
    return Params([(_decode(name), _decode(value)) for name, _, value in pairs])


def _decode(data: bytes) -> str:
    if b"%" in data or b"+" in data:
        data = unquote_to_bytes(data.replace(b"+", b" "))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidRequest("a parameter is not UTF-8") from None


def parse_form(content_type: str | None, body: bytes, max_fields: int = MAX_FIELDS) -> Params:
    """Parses a form body into names and values. Raises InvalidRequest for a malformed body, more
    than `max_fields` parameters, or another content type.

    Parameters of the content type are ignored, as the media type defines none: the body is always
    UTF-8 (WHATWG URL 5.1).
    """
    media_type = (content_type or "").partition(";")[0]
    if media_type.strip().lower() != FORM_TYPE:
        raise InvalidRequest(f"the content type must be {FORM_TYPE}")
    return parse(body, max_fields)
