"""The parameters of an authorization request (OpenID Connect Core 3.1.2.1): read and checked.

The checks are in one list, in the order in which they are made. Pushed requests pass the same
ones.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from msgspec import Struct, structs

from idp.config.settings import Config
from idp.foundation import logs
from idp.identity import authentication_context
from idp.oauth import pkce, scopes
from idp.oauth.endpoints import authorization_response, request_objects
from idp.oauth.endpoints.authorization_response import MODES, ResponseMode, ReturnTo
from idp.oauth.endpoints.discovery import PROMPTS
from idp.oauth.endpoints.redirect_uri_match import is_registered
from idp.oauth.errors import (
    HintIgnored,
    InvalidRequest,
    LoginRequired,
    RequestNotSupported,
    RequestRefused,
    RequestUriNotSupported,
    UnauthorizedClient,
    UnsupportedResponseType,
    UnusableRequest,
)
from idp.oauth.params import Params
from idp.oauth.refusals import authorize as checks
from idp.oauth.refusals import safe_display
from idp.oauth.refusals.check import Check
from idp.oauth.tokens import claims_request, id_tokens
from idp.oauth.tokens.claims_request import ClaimsRequest, RequestedClaim
from idp.records import Application, AuthRequest, ResponseType
from idp.service import Service

MAX_CHARACTERS: Final = 4096
_MAX_AGE_DIGITS: Final = 10
_ID_CHARACTERS: Final = 200
_RESPONSE_TYPES: Final[dict[frozenset[str], ResponseType]] = {
    frozenset({"code"}): "code",
    frozenset({"id_token"}): "id_token",
    frozenset({"id_token", "token"}): "id_token token",
}
_BOUNDED: Final = ("state", "nonce", "scope")

# Called with a parameter's refusal that does not refuse the request.
RecordIgnored = Callable[[RequestRefused], Awaitable[None]]

_log: Final = logs.logger(__name__)


def return_to(client: Application, params: Params) -> ReturnTo:
    """Returns the redirect_uri, response mode and `state` of the response to a request.

    A request object is refused, but the `response_mode` that it requests is used for the refusal:
    a client that sends one expects its responses there (OpenID Connect Core 6.1). Raises
    `UnusableRequest` without a registered redirect_uri.
    """
    request_object = request_objects.unverified(params.if_once("request"))
    to = ReturnTo(
        redirect_uri=_registered(client, params.get("redirect_uri")),
        mode=_default_mode(params, request_object),
        state=authorization_response.encode_state(params.get("state")),
    )
    mode = _requested_mode(request_object.get("response_mode", params.if_once("response_mode")))
    is_possible = mode == "fragment" or (
        mode == "form_post" and authorization_response.can_post(to)
    )
    return structs.replace(to, mode=mode) if is_possible else to


def _registered(client: Application, redirect_uri: str | None) -> str:
    registered = tuple(client.redirect_uris)
    if redirect_uri is None:
        raise UnusableRequest(
            "redirect_uri_missing",
            "The parameter redirect_uri is missing.",
            client_id=client.id,
            registered=registered,
        )
    if not is_registered(client, redirect_uri, registered):
        raise UnusableRequest(
            "redirect_uri_unregistered",
            "The redirect_uri is not one that the application registered.",
            client_id=client.id,
            sent=redirect_uri,
            registered=registered,
        )
    return redirect_uri


def _default_mode(params: Params, request_object: Mapping[str, object]) -> ResponseMode:
    """Returns the response mode unless the client requests one: tokens are never in the query."""
    sent = (params.if_once("response_type"), request_object.get("response_type"))
    types = {word for text in sent if isinstance(text, str) for word in text.split(" ")}
    return "fragment" if types & {"id_token", "token"} else "query"


def _requested_mode(sent: object) -> ResponseMode | None:
    return next((mode for mode in MODES if mode == sent), None)


class _Request(Struct, frozen=True):
    config: Config
    client: Application
    params: Params
    to: ReturnTo
    is_pushed: bool


async def check(
    service: Service,
    client: Application,
    params: Params,
    to: ReturnTo,
    record: RecordIgnored | None = None,
    *,
    is_pushed: bool = False,
) -> AuthRequest:
    """Returns the checked authorization request, not stored yet. Raises `OAuthError`.

    `to` is where its response is sent, and `is_pushed` is whether the client pushed it (RFC 9126).
    `record` is called with the reason if the `id_token_hint` is ignored.
    """
    request = _Request(service.config, client, params, to, is_pushed)
    checked: dict[str, Any] = {}
    for parameter_check, read_parameter in _CHECKS:
        # A refusal within the block carries this check, and is stored with those that held before
        # it.
        with parameter_check:
            checked |= read_parameter(request)
    claims = claims_request.read(_if_usable(params, "claims"))
    hinted = await _hinted_user(service, params.get("id_token_hint"), record)
    with checks.SUBJECT:
        checked["hinted_user_id"] = _user_of(hinted, claims)
    now = service.clock.now()
    return AuthRequest(
        id=service.random.id(),
        client_id=client.id,
        redirect_uri=to.redirect_uri,
        response_mode=to.mode,
        state=to.state,
        created_at=now,
        expires_at=now + timedelta(seconds=service.config.sign_in_seconds),
        login_hint=_if_usable(params, "login_hint"),
        ui_locales=_if_usable(params, "ui_locales"),
        claims=claims_request.write(claims),
        **_classes(params, claims),
        **checked,
    )


def _pushed(request: _Request) -> dict[str, Any]:
    """RFC 9126 6: a client may require that its requests are pushed, so that the browser cannot
    change them."""
    if request.client.requires_pushed_requests and not request.is_pushed:
        raise InvalidRequest("the client must push its requests")
    return {}


def _lengths(request: _Request) -> dict[str, Any]:
    for name in _BOUNDED:
        if len(request.params.get(name) or "") > MAX_CHARACTERS:
            raise InvalidRequest(f"{name} is longer than {MAX_CHARACTERS} characters")
    return {}


def _request_objects(request: _Request) -> dict[str, Any]:
    """OpenID Connect Core 6: request objects are not supported, and are refused instead of
    ignored."""
    if request.params.get("request") is not None:
        raise RequestNotSupported("request objects are not supported")
    if request.params.get("request_uri") is not None:
        raise RequestUriNotSupported("request_uri is not supported")
    return {}


def _response_type(request: _Request) -> dict[str, Any]:
    # The order of the words has no meaning (RFC 6749 3.1.1), but a repeated one is an error.
    sent = request.params.required("response_type").split(" ")
    response_type = _RESPONSE_TYPES.get(frozenset(sent)) if len(set(sent)) == len(sent) else None
    if response_type is None:
        supported = ", ".join(_RESPONSE_TYPES.values())
        sent_words = safe_display.in_words("response_type", " ".join(sent))
        details = f"response_type is one of {supported}; {sent_words} was sent."
        raise UnsupportedResponseType("response_type is not supported", details=details)
    allowed = _response_types(request.client)
    if response_type not in allowed:
        may = f"may use {', '.join(allowed)}" if allowed else "signs no users in"
        details = f"The application {may}; {response_type} was sent."
        fix = f"Send response_type={allowed[0]}." if allowed else ""
        description = "the client may not use this response_type"
        raise UnauthorizedClient(description, details=details, fix=fix)
    return {"response_type": response_type}


def _response_types(client: Application) -> list[ResponseType]:
    """Returns the response types that the client registered together with the grant type each
    belongs to."""
    if client.app_type == "api":
        return []
    return [each for each in client.response_types if _grant_of(each) in client.grant_types]


def _grant_of(response_type: ResponseType) -> str:
    return "authorization_code" if response_type == "code" else "implicit"


def _response_mode(request: _Request) -> dict[str, Any]:
    sent, mode = request.params.get("response_mode"), request.to.mode
    if sent not in (None, *MODES):
        raise InvalidRequest("response_mode is not supported")
    if sent == "form_post" and mode != sent:
        details = (
            "A form goes to a web address, and can't bring back a state with NUL or a line break."
        )
        raise InvalidRequest("the answer can not be posted as a form", details=details)
    if sent == "query" and mode != sent:
        description = "no token is put into a query: response_mode must be fragment or form_post"
        raise InvalidRequest(description)
    return {}


def _scope(request: _Request) -> dict[str, Any]:
    sent = request.params.get("scope")
    requested = scopes.parse(sent)
    if scopes.OPENID not in requested:
        raise scopes.without_openid(sent)
    granted = scopes.grantable(request.config, request.client, requested)
    if not _has_code(request):  # OpenID Connect Core 11: there is no refresh token
        granted = [scope for scope in granted if scope != scopes.OFFLINE_ACCESS]
    return {"scopes": granted}


def _has_code(request: _Request) -> bool:
    return request.params.get("response_type") == "code"


def _pkce(request: _Request) -> dict[str, Any]:
    client = request.client
    # PKCE protects the code, so a response without one has nothing to bind to a verifier.
    is_required = (client.auth_method == "none" or client.requires_pkce) and _has_code(request)
    return {"code_challenge": pkce.read_challenge(request.params, is_required=is_required)}


def _nonce(request: _Request) -> dict[str, Any]:
    nonce = request.params.get("nonce")
    if nonce is not None and "\0" in nonce:
        raise InvalidRequest("nonce has a character that is not allowed")
    # OpenID Connect Core 3.2.2.1: the implicit flow requires the nonce, which binds the ID token
    # to the request.
    if nonce is None and not _has_code(request):
        raise InvalidRequest("nonce is missing: the implicit flow needs one")
    return {"nonce": nonce}


def _prompt(request: _Request) -> dict[str, Any]:
    prompt = list(dict.fromkeys((request.params.get("prompt") or "").split()))
    if not set(prompt) <= set(PROMPTS):
        supported = ", ".join(PROMPTS)
        words = safe_display.in_words("prompt", " ".join(prompt))
        details = f"prompt has some of {supported}; {words} was sent."
        raise InvalidRequest("prompt has a value that is not supported", details=details)
    # OpenID Connect Core 3.1.2.1 requires an error for this.
    if "none" in prompt and len(prompt) > 1:
        raise InvalidRequest("prompt none can not be combined with another value")
    return {"prompt": prompt}


def _max_age(request: _Request) -> dict[str, Any]:
    sent = request.params.get("max_age")
    if sent is None:
        return {"max_age": None}
    if not (sent.isascii() and sent.isdigit()) or len(sent) > _MAX_AGE_DIGITS:
        details = (
            f"max_age is a number of seconds; {safe_display.in_words('max_age', sent)} was sent."
        )
        raise InvalidRequest("max_age must be a number of seconds", details=details)
    return {"max_age": int(sent)}


_CHECKS: Final[tuple[tuple[Check, Callable[[_Request], dict[str, Any]]], ...]] = (
    (checks.PUSHED, _pushed),
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


async def _hinted_user(
    service: Service, token: str | None, record: RecordIgnored | None
) -> str | None:
    """Returns the user that `id_token_hint` names; it may be another client's, or have expired.

    A hint that cannot be verified is ignored: it is optional, and clients send one that they
    stored long ago (OpenID Connect Core 3.1.2.1).
    """
    if token is None:
        return None
    try:
        return (await id_tokens.read_hint(service, token)).sub
    except InvalidRequest as error:
        ignored = HintIgnored(error.description, details=f"{error.details} It was ignored.")
        ignored.check = checks.ID_TOKEN_HINT
        _log.info("id_token_hint ignored", cause=error.description)
        if record is not None:
            await record(ignored)
        return None


def _if_usable(params: Params, name: str) -> str | None:
    """Returns an optional hint of the client. A value that cannot be used is no error."""
    value = params.get(name)
    return None if value is None or "\0" in value or len(value) > MAX_CHARACTERS else value


def _user_of(hinted: str | None, claims: ClaimsRequest) -> str | None:
    """Returns the only user whom the response may be about, if the hint or `claims` names one.

    OpenID Connect Core 5.5.1. Raises `LoginRequired` when they name different users.
    """
    choice = claims.id_token.get("sub", RequestedClaim()).choice
    if len(choice) != 1 or not isinstance(choice[0], str):
        return hinted
    requested_user_id = (
        choice[0] if len(choice[0]) <= _ID_CHARACTERS else ""
    )  # no user has this id
    if hinted not in (None, requested_user_id):
        raise LoginRequired("id_token_hint and claims name different users")
    return requested_user_id


def _classes(params: Params, claims: ClaimsRequest) -> dict[str, Any]:
    """Returns the requested authentication contexts, and whether one of them is required."""
    requested = claims.id_token.get("acr", RequestedClaim())
    is_essential = requested.essential and bool(requested.choice)
    # An essential `acr` must be met, while `acr_values` is voluntary (OpenID Connect Core
    # 5.5.1.1).
    acr_values = [] if is_essential else (_if_usable(params, "acr_values") or "").split()
    supported = [
        each for each in [*acr_values, *requested.choice] if each in authentication_context.CLASSES
    ]
    return {"acr_values": list(dict.fromkeys(supported)), "is_acr_essential": is_essential}
