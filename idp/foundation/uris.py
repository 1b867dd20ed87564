"""Adding parameters to URIs."""

from __future__ import annotations

from urllib.parse import quote, urlencode


def with_parameters(uri: str, pairs: list[tuple[str, str]], *, mode: str = "query") -> str:
    """Returns `uri` with the parameters `pairs`: appended to its query, or, if `mode` is
    `fragment`, as its fragment."""
    encoded = urlencode(pairs, quote_via=quote)
    if not encoded:
        return uri
    if mode == "fragment":
        return f"{uri}#{encoded}"
    if "?" not in uri:
        return f"{uri}?{encoded}"
    return uri + ("" if uri.endswith(("?", "&")) else "&") + encoded


def has_relative_segment(text: str) -> bool:
    """Returns whether a part of the text between slashes or backslashes is `.` or `..`, which
    programs remove from addresses (RFC 3986 5.2.4)."""
    return not {".", ".."}.isdisjoint(text.replace("\\", "/").split("/"))
