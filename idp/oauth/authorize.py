"""The authorization request (OpenID Connect Core 3.1.2.1): read and checked, in order.

First the client and its redirect_uri are proven; until then every answer is a page. From then
on every refusal goes back to the client by redirect. The checks stand in one list, in the order
in which they are made.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, Literal

from msgspec import Struct

from idp.config import Config
from idp.oauth import id_tokens, pkce, responses, scopes, shown, stories
from idp.oauth.checks import authorize as checks
from idp.oauth.checks.check import ONCE, Check
from idp.oauth.discovery import PROMPTS
from idp.oauth.errors import (
    InvalidRequest,
    OAuthError,
    RequestNotSupported,
    RequestUriNotSupported,
    UnauthorizedClient,
    UnsupportedResponseType,
    Unusable,
)
from idp.oauth.params import Params
from idp.oauth.responses import ReturnTo
from idp.records import APPLICATIONS, Application, AuthRequest, ResponseType
from idp.service import Service

MAX_CHARACTERS: Final = 4096
_MAX_AGE_DIGITS: Final = 10
_RESPONSE_TYPES: Final[dict[frozenset[str], ResponseType]] = {
    frozenset({"code"}): "code",
    frozenset({"id_token"}): "id_token",
    frozenset({"id_token", "token"}): "id_token token",
}
_BOUNDED: Final = ("state", "nonce", "scope")


class Refused(Exception):
    """The request is refused by redirect to a proven redirect_uri."""

    def __init__(self, to: ReturnTo, error: OAuthError) -> None:
        super().__init__(error.description)
        self.to = to
        self.error = error


async def read(service: Service, params: Params) -> tuple[AuthRequest, Application]:
    """The checked request, not stored yet, and its client.

    Raises Unusable when there is no proven place to send an answer to, else Refused.
    """
    client, redirect_uri = await _prove(service, params)
    to = ReturnTo(
        redirect_uri=redirect_uri,
        mode=_mode(params),
        state=responses.keep_state(params.get("state")),
    )
    try:
        return await _check(service, client, params, to), client
    except OAuthError as error:
        raise Refused(to, error) from error


async def _prove(service: Service, params: Params) -> tuple[Application, str]:
    """The client and the redirect_uri that belong together. Raises Unusable."""
    with checks.PROVEN_ONCE:
        for name in ("client_id", "redirect_uri", "state"):
            if params.is_repeated(name):
                told = f"The parameter {name} was sent more than once."
                raise Unusable("parameter_repeated", told)
    with checks.CLIENT:
        client_id = params.get("client_id")
        if client_id is None:
            raise Unusable("client_id_missing", "The parameter client_id is missing.")
        client = await find_client(service, client_id)
    with checks.REDIRECT_URI:
        return client, _registered(client, params.get("redirect_uri"))


async def find_client(service: Service, client_id: str) -> Application:
    """The active client of this id. Raises Unusable, in the same words for an inactive one."""
    client = await service.store.get(APPLICATIONS, client_id) if len(client_id) <= 200 else None
    if client is None or client.state != "active":
        told = "No application has this client_id."
        story = (
            f"The application {stories.named(client)} is not active."
            if client
            else stories.no_client(service.config, client_id)
        )
        raise Unusable("client_unknown", told, sent=client_id, story=story)
    return client


def _registered(client: Application, redirect_uri: str | None) -> str:
    registered = tuple(client.redirect_uris)
    if redirect_uri is None:
        raise Unusable(
            "redirect_uri_missing",
            "The parameter redirect_uri is missing.",
            client_id=client.id,
            registered=registered,
        )
    if redirect_uri not in registered:
        raise Unusable(
            "redirect_uri_unregistered",
            "The redirect_uri is not one that the application registered.",
            client_id=client.id,
            sent=redirect_uri,
            registered=registered,
        )
    return redirect_uri


def _mode(params: Params) -> Literal["query", "fragment"]:
    """Where an answer is put: tokens go to the fragment, and so do their errors."""
    repeated = params.is_repeated("response_type") or params.is_repeated("response_mode")
    if repeated:
        return "query"
    if params.get("response_mode") == "fragment":
        return "fragment"
    types = set((params.get("response_type") or "").split(" "))
    return "fragment" if types & {"id_token", "token"} else "query"


async def _check(
    service: Service, client: Application, params: Params, to: ReturnTo
) -> AuthRequest:
    with ONCE:
        params.refuse_repeated()
    checked: dict[str, Any] = {}
    for check, reading in _CHECKS:
        with check:
            checked |= reading(_Request(service.config, client, params))
    with checks.ID_TOKEN_HINT:
        checked["hinted_user_id"] = await _hinted_user(service, params.get("id_token_hint"))
    now = service.clock.now()
    return AuthRequest(
        id=service.random.id(),
        client_id=client.id,
        redirect_uri=to.redirect_uri,
        response_mode=_mode(params),
        state=to.state,
        created_at=now,
        expires_at=now + timedelta(seconds=service.config.sign_in_seconds),
        login_hint=_wish(params, "login_hint"),
        ui_locales=_wish(params, "ui_locales"),
        **checked,
    )


class _Request(Struct, frozen=True):
    config: Config
    client: Application
    params: Params


def _lengths(request: _Request) -> dict[str, Any]:
    for name in _BOUNDED:
        if len(request.params.get(name) or "") > MAX_CHARACTERS:
            raise InvalidRequest(f"{name} is longer than {MAX_CHARACTERS} characters")
    return {}


def _request_objects(request: _Request) -> dict[str, Any]:
    """OpenID Connect Core 6: not supported, and never silently ignored."""
    if request.params.get("request") is not None:
        raise RequestNotSupported("request objects are not supported")
    if request.params.get("request_uri") is not None:
        raise RequestUriNotSupported("request_uri is not supported")
    return {}


def _response_type(request: _Request) -> dict[str, Any]:
    sent = request.params.required("response_type").split(" ")
    response_type = _RESPONSE_TYPES.get(frozenset(sent)) if len(set(sent)) == len(sent) else None
    if response_type is None:
        known = ", ".join(_RESPONSE_TYPES.values())
        sent_words = shown.in_words("response_type", " ".join(sent))
        story = f"response_type is one of {known}; {sent_words} was sent."
        raise UnsupportedResponseType("response_type is not supported", story=story)
    if response_type not in request.client.response_types:
        allowed = ", ".join(request.client.response_types)
        story = f"The application may use {allowed}; {response_type} was sent."
        fix = f"Send response_type={request.client.response_types[0]}." if allowed else ""
        told = "the client may not use this response_type"
        raise UnauthorizedClient(told, story=story, fix=fix)
    return {"response_type": response_type}


def _response_mode(request: _Request) -> dict[str, Any]:
    mode = request.params.get("response_mode")
    if mode not in (None, "query", "fragment"):
        raise InvalidRequest("response_mode is not supported")
    if mode == "query" and request.params.get("response_type") != "code":
        raise InvalidRequest("no token is put into a query: response_mode must be fragment")
    return {}


def _scope(request: _Request) -> dict[str, Any]:
    sent = request.params.get("scope")
    wanted = scopes.parse(sent)
    if scopes.OPENID not in wanted:
        raise scopes.without_openid(sent)
    return {"scopes": scopes.grantable(request.config, request.client, wanted)}


def _pkce(request: _Request) -> dict[str, Any]:
    is_public = request.client.auth_method == "none"
    return {"code_challenge": pkce.read_challenge(request.params, is_required=is_public)}


def _nonce(request: _Request) -> dict[str, Any]:
    nonce = request.params.get("nonce")
    if nonce is not None and "\0" in nonce:
        raise InvalidRequest("nonce has a character that is not allowed")
    if nonce is None and request.params.get("response_type") != "code":
        raise InvalidRequest("nonce is missing: the implicit flow needs one")
    return {"nonce": nonce}


def _prompt(request: _Request) -> dict[str, Any]:
    prompt = list(dict.fromkeys((request.params.get("prompt") or "").split()))
    if not set(prompt) <= set(PROMPTS):
        known = ", ".join(PROMPTS)
        words = shown.in_words("prompt", " ".join(prompt))
        story = f"prompt has some of {known}; {words} was sent."
        raise InvalidRequest("prompt has a value that is not supported", story=story)
    if "none" in prompt and len(prompt) > 1:
        raise InvalidRequest("prompt none can not be combined with another value")
    return {"prompt": prompt}


def _max_age(request: _Request) -> dict[str, Any]:
    sent = request.params.get("max_age")
    if sent is None:
        return {"max_age": None}
    if not (sent.isascii() and sent.isdigit()) or len(sent) > _MAX_AGE_DIGITS:
        story = f"max_age is a number of seconds; {shown.in_words('max_age', sent)} was sent."
        raise InvalidRequest("max_age must be a number of seconds", story=story)
    return {"max_age": int(sent)}


_CHECKS: Final[tuple[tuple[Check, Callable[[_Request], dict[str, Any]]], ...]] = (
    (checks.LENGTHS, _lengths),
    (checks.REQUEST_OBJECT, _request_objects),
    (checks.RESPONSE_TYPE, _response_type),
    (checks.RESPONSE_MODE, _response_mode),
    (checks.SCOPE, _scope),
    (checks.PKCE, _pkce),
    (checks.NONCE, _nonce),
    (checks.PROMPT, _prompt),
    (checks.MAX_AGE, _max_age),
)


async def _hinted_user(service: Service, token: str | None) -> str | None:
    """Whom `id_token_hint` names; it may have been issued to another client, or have expired."""
    return (await id_tokens.read_hint(service, token)).sub if token is not None else None


def _wish(params: Params, name: str) -> str | None:
    """A value that only makes things easier: one that can't be used is no error."""
    value = params.get(name)
    return None if value is None or "\0" in value or len(value) > MAX_CHARACTERS else value
