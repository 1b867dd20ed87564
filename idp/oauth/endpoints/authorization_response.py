"""Authorization responses: the parameters that are sent to the client, and the response mode."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias
from urllib.parse import quote, unquote

from msgspec import Struct

from idp.config.settings import Config
from idp.foundation.opaque_tokens import Confidential
from idp.foundation.uris import with_parameters
from idp.oauth.errors import OAuthError

ResponseMode: TypeAlias = Literal["query", "fragment", "form_post"]
MODES: Final[tuple[ResponseMode, ...]] = ("query", "fragment", "form_post")
_UNPOSTABLE: Final = re.compile(r"%0[0AD]")


class ReturnTo(Struct, frozen=True):
    """The destination of an authorization response: the registered redirect_uri, response mode
    and `state`.

    `state` is stored percent-encoded, so that any character comes back as it was sent.
    """

    redirect_uri: str
    mode: ResponseMode = "query"
    state: str | None = None


class AuthorizationResponse(Confidential, frozen=True):
    """An authorization response: the browser is redirected to `address`, or posts `form` there."""

    address: str
    form: list[tuple[str, str]] | None = None


def encode_state(state: str | None) -> str | None:
    """Returns `state` percent-encoded, the form in which it is stored."""
    return None if state is None else quote(state, safe="")


def can_post(to: ReturnTo) -> bool:
    """Returns whether a form can bring a response to this address.

    Browsers post only to http and https, and change NUL and line ends in posted values.
    """
    is_web = to.redirect_uri.startswith(("https://", "http://"))
    # A `state` that comes back changed would not match the request.
    return is_web and not _UNPOSTABLE.search(to.state or "")


def success(config: Config, to: ReturnTo, **values: str) -> AuthorizationResponse:
    """Returns the response of a successful request: `values` (such as `code`), the client's
    `state` and `iss` (RFC 9207)."""
    return _response(config, to, values)


def failure(config: Config, to: ReturnTo, error: OAuthError) -> AuthorizationResponse:
    """Returns the response of a refused request (RFC 6749 4.1.2.1): the error's parameters, the
    client's `state` and `iss` (RFC 9207)."""
    return _response(config, to, error.body())


def with_state(to: ReturnTo) -> str:
    """Returns the address where a logout ends: the redirect URI, with `state` if the client sent
    it.

    Nothing else is added (OpenID Connect RP-Initiated Logout 1.0, 3).
    """
    return with_parameters(to.redirect_uri, _state(to), mode=to.mode)


def _response(config: Config, to: ReturnTo, values: dict[str, str]) -> AuthorizationResponse:
    pairs = [*values.items(), *_state(to), ("iss", config.issuer)]
    if to.mode == "form_post":
        return AuthorizationResponse(to.redirect_uri, pairs)
    return AuthorizationResponse(with_parameters(to.redirect_uri, pairs, mode=to.mode))


def _state(to: ReturnTo) -> list[tuple[str, str]]:
    return [] if to.state is None else [("state", unquote(to.state))]
