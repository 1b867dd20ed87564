"""Authorization responses: what goes back to the client, and where it is put."""

from __future__ import annotations

from urllib.parse import quote, unquote, urlencode

from msgspec import Struct

from idp.config import Config
from idp.oauth.errors import OAuthError


class ReturnTo(Struct, frozen=True):
    """A proven redirect_uri, where its answer is put, and the client's `state`.

    `state` is percent-encoded, so that any octet comes back as it was sent.
    """

    redirect_uri: str
    mode: str = "query"
    state: str | None = None


def keep_state(state: str | None) -> str | None:
    """`state` in the form that is stored."""
    return None if state is None else quote(state, safe="")


def success(config: Config, to: ReturnTo, **values: str) -> str:
    """The address that tells the client of success, with `iss` (RFC 9207)."""
    return _location(config, to, values)


def failure(config: Config, to: ReturnTo, error: OAuthError) -> str:
    """The address that tells the client of an error (RFC 6749 4.1.2.1)."""
    return _location(config, to, error.body())


def with_state(to: ReturnTo) -> str:
    """The address with `state` alone, as after a logout."""
    pairs = [] if to.state is None else [("state", unquote(to.state))]
    return append(to.redirect_uri, pairs, mode=to.mode)


def _location(config: Config, to: ReturnTo, values: dict[str, str]) -> str:
    pairs = [*values.items()]
    if to.state is not None:
        pairs.append(("state", unquote(to.state)))
    pairs.append(("iss", config.issuer))
    return append(to.redirect_uri, pairs, mode=to.mode)


def append(uri: str, pairs: list[tuple[str, str]], *, mode: str = "query") -> str:
    """`uri` with `pairs` added to its query (which stays as it is), or as its fragment."""
    encoded = urlencode(pairs, quote_via=quote)
    if not encoded:
        return uri
    if mode == "fragment":
        return f"{uri}#{encoded}"
    if "?" not in uri:
        return f"{uri}?{encoded}"
    return uri + ("" if uri.endswith(("?", "&")) else "&") + encoded
