"""The token exchange grant (RFC 8693): a token for another one, with less access or for an actor.

The user of `actor_token` acts for the subject. Every use of an actor is impersonation: the
installation has to allow it, and the actor has to have the permission. A subject token that
authenticates no user, a user's id or the client's own JWT, needs an actor as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import structs

from idp.foundation.opaque_tokens import Confidential
from idp.identity.users import permissions
from idp.oauth import reserved_scopes, scopes
from idp.oauth.errors import (
    InvalidClient,
    InvalidGrant,
    InvalidRequest,
    InvalidScope,
    InvalidTarget,
    OAuthError,
)
from idp.oauth.grants.token_exchange import parties, results, token_types
from idp.oauth.grants.token_exchange.parties import ActingEnded, InputRefused, Party
from idp.oauth.grants.token_exchange.results import ExchangeRequest
from idp.oauth.grants.token_exchange.token_types import TokenType
from idp.oauth.grants.token_request import Grant, TokenRequest
from idp.oauth.refusals import details as refusal_details
from idp.oauth.refusals import safe_display
from idp.oauth.refusals import token_exchange as checks
from idp.oauth.refusals.check import USER_ALLOWED
from idp.oauth.refusals.client import CLIENT_KNOWN
from idp.oauth.tokens import acting, allowed_users, standard_claims
from idp.oauth.tokens.validity import Client
from idp.records import ORGANIZATIONS

MAX_DEPTH: Final = 5
# The scopes of a subject whose token has none: the user's identity.
_IDENTITY_SCOPES: Final = frozenset({scopes.OPENID, *standard_claims.BY_SCOPE})


class ImpersonationRefused(InvalidRequest):
    """Impersonation is switched off, or the actor lacks the permission for it (RFC 8693 2.2.2)."""

    status = 403


class ExchangeTokens(Confidential, frozen=True):
    """The tokens of a request with their types, and the type of the token that it requests,
    `requested`."""

    subject_type: TokenType
    subject_token: str
    actor_type: TokenType | None
    actor_token: str | None
    requested: TokenType


async def respond(request: TokenRequest) -> dict[str, Any]:
    """Returns the token response for the subject. Raises `OAuthError`.

    The new token has at most the access of the tokens that were sent.
    """
    # The client first: its refusal takes precedence over a refusal of its tokens.
    client = await _client(request)
    sent = _read(request)
    subject = await _allowed(request, await _subject(request, sent))
    actor = await _actor(request, sent, subject)
    _check_depth(subject, actor)
    exchange_request = ExchangeRequest(
        type=sent.requested,
        audience=_audience(request, subject, actor),
        scopes=_scopes(request, sent, subject, actor),
    )
    return await results.issue(request, client, subject, actor, exchange_request)


async def _client(request: TokenRequest) -> Client:
    application = request.client
    organization = await request.service.store.get(ORGANIZATIONS, application.org_id)
    with CLIENT_KNOWN:
        if organization is None or organization.state != "active":
            raise InvalidClient("the application's organization is not active")
    return Client(application, organization)


def _read(request: TokenRequest) -> ExchangeTokens:
    params = request.params
    with checks.RESOURCE:
        # RFC 8693 2.2.2: what the service cannot issue a token for is refused, not ignored.
        if params.all("resource"):
            raise InvalidTarget("resource is not supported")
    with checks.TOKENS_SENT:
        subject_token = params.required("subject_token")
        subject_type = params.required("subject_token_type")
        actor_token = params.get("actor_token")
        if actor_token is not None:
            params.required("actor_token_type")
        # RFC 8693 2.1: the type must not be sent without the token.
        elif params.get("actor_token_type") is not None:
            raise InvalidRequest("actor_token_type was sent without actor_token")
    with checks.TYPES:
        return ExchangeTokens(
            subject_type=_type(request, "subject_token_type", subject_type),
            subject_token=subject_token,
            actor_type=_type_if_sent(request, "actor_token_type"),
            actor_token=actor_token,
            requested=_type_if_sent(request, "requested_token_type") or "access_token",
        )


_ACCEPTED_TYPES: Final = {
    "subject_token_type": token_types.SUBJECTS,
    "actor_token_type": token_types.ACTORS,
    "requested_token_type": token_types.REQUESTED,
}


def _type_if_sent(request: TokenRequest, name: str) -> TokenType | None:
    sent = request.params.get(name)
    return None if sent is None else _type(request, name, sent)


def _type(request: TokenRequest, name: str, sent: str) -> TokenType:
    config, accepted = request.service.config, _ACCEPTED_TYPES[name]
    token_type = token_types.read(config, sent, accepted)
    if token_type is None:
        supported = ", ".join(token_types.identifier(config, each) for each in accepted)
        details = f"{name} is one of {supported}; {safe_display.in_words(name, sent)} was sent."
        raise InvalidRequest(f"{name} is not supported", details=details)
    return token_type


async def _subject(request: TokenRequest, sent: ExchangeTokens) -> Party:
    with checks.SUBJECT:
        try:
            return await parties.read(
                request.service, request.client, sent.subject_type, sent.subject_token
            )
        except InputRefused as error:
            raise _refused_input("subject_token invalid", error) from None


def _refused_input(description: str, error: InputRefused) -> OAuthError:
    """RFC 8693 2.2.2 requires `invalid_request` for a token that is not valid.

    One of an actor whose right has ended is refused with `invalid_grant`, as its refresh token is.
    """
    kind = InvalidGrant if isinstance(error, ActingEnded) else InvalidRequest
    return kind(description, details=str(error))


async def _allowed(request: TokenRequest, subject: Party) -> Party:
    """Returns the subject with the grounds by which the user may use the client. Raises
    `InvalidRequest`."""
    decision = await allowed_users.find(request.service, request.client, subject.subject)
    with USER_ALLOWED:
        if decision.grounds is None:
            details, fix = decision.refusal or ("", "")
            raise InvalidRequest("subject_token invalid", details=details, fix=fix)
    return structs.replace(subject, grounds=decision.grounds)


async def _actor(request: TokenRequest, sent: ExchangeTokens, subject: Party) -> Party | None:
    """Returns the actor, or None without one. Raises `InvalidRequest` and `InvalidGrant`."""
    if sent.actor_token is None and sent.subject_type not in token_types.NEED_AN_ACTOR:
        return None
    with checks.IMPERSONATION:
        if not subject.subject.instance.allows_impersonation:
            details = "The security policy does not allow it."
            raise _refused(request, None, subject, "impersonation is switched off", details)
    with checks.ACTOR:
        actor = await _read_actor(request, sent)
        if actor.subject.user.id == subject.subject.user.id:
            details = "The actor is the subject: no user acts for themselves."
            raise InvalidRequest("actor_token invalid", details=details)
    with checks.PERMISSION:
        acting_user, user = actor.subject.user, subject.subject.user
        if not await permissions.may_impersonate(request.service, acting_user, user):
            ids = refusal_details.quoted(acting_user.id), refusal_details.quoted(user.id)
            details = f"The user {ids[0]} may not act for {ids[1]}."
            description = "the actor may not act for the subject"
            raise _refused(request, acting_user.id, subject, description, details)
    return actor


def _refused(
    request: TokenRequest, actor_id: str | None, subject: Party, description: str, details: str
) -> ImpersonationRefused:
    acting.report_refusal(
        request.service,
        actor_id=actor_id,
        subject_id=subject.subject.user.id,
        client_id=request.client.id,
        reason=details,
    )
    return ImpersonationRefused(description, details=details)


async def _read_actor(request: TokenRequest, sent: ExchangeTokens) -> Party:
    if sent.actor_type is None or sent.actor_token is None:
        details = "A user's id, or a JWT of the client's own, takes an actor_token with it."
        raise InvalidRequest("actor_token invalid", details=details)
    try:
        return await parties.read(
            request.service, request.client, sent.actor_type, sent.actor_token
        )
    except InputRefused as error:
        raise _refused_input("actor_token invalid", error) from None


def _check_depth(subject: Party, actor: Party | None) -> None:
    """Limits the exchanges that led to a token, and the records that are read to check it. Raises
    `InvalidRequest`."""
    depth = subject.exchanges + (actor.exchanges if actor else 0)
    with checks.DEPTH:
        if depth >= MAX_DEPTH:
            raise InvalidRequest(f"more than {MAX_DEPTH} exchanges came one after another")


def _audience(request: TokenRequest, subject: Party, actor: Party | None) -> list[str]:
    """Returns the requested audience, if the tokens' audiences contain it.

    The service itself is in it only if both tokens allow that.
    """
    inputs = [subject, actor] if actor else [subject]
    allows_service_api = all(each.allows_service_api for each in inputs)
    excluded = set() if allows_service_api else {request.service.config.issuer}
    audiences = [[aud for aud in each.audience if aud not in excluded] for each in inputs]
    requested = list(dict.fromkeys(request.params.all("audience")))
    with checks.AUDIENCE:
        if not set(requested) <= {aud for audience in audiences for aud in audience}:
            raise InvalidTarget("audience is larger than that of the tokens that were sent")
    # Without `audience` the new token has that of the subject, or else that of the actor.
    return requested or next((audience for audience in audiences if audience), [])


def _scopes(
    request: TokenRequest, sent: ExchangeTokens, subject: Party, actor: Party | None
) -> list[str]:
    """Returns the requested scopes that the client may have. With an ID token there
    is no refresh token."""
    config, organization = request.service.config, subject.subject.organization
    of_actor = (actor.scopes if actor else None) or ()
    scope = request.params.get("scope")
    with checks.SCOPE:
        if scope is None:
            requested = list(subject.scopes or of_actor)
        else:
            requested = scopes.parse(scope)
            _check_within(scope, requested, subject, of_actor)
        if not reserved_scopes.admit(config, requested, organization):
            raise InvalidScope("the subject is not of the organization that scope names")
    granted = scopes.grantable(config, request.client, requested)
    withheld = {scopes.OFFLINE_ACCESS} if sent.requested == "id_token" else set()
    return [scope for scope in granted if scope not in withheld]


def _check_within(
    scope: str, requested: list[str], subject: Party, of_actor: Sequence[str]
) -> None:
    own = _IDENTITY_SCOPES if subject.scopes is None else subject.scopes
    allowed_scopes = {*own, *of_actor}
    if not requested or not set(requested) <= allowed_scopes:
        sent_words = safe_display.in_words("scope", scope)
        allowed = refusal_details.quoted(" ".join(sorted(allowed_scopes)))
        details = f"{sent_words} was asked for, {allowed} may be."
        raise scopes.refusal(
            "scope is larger than that of the tokens that were sent", scope, details=details
        )


GRANT: Final = Grant(
    respond=respond,
    checks=checks.CHECKS,
    api_name="OIDC_GRANT_TYPE_TOKEN_EXCHANGE",
    is_offered=lambda instance: instance.allows_token_exchange,
)
