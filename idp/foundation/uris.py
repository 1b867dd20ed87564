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
