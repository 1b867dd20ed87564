"""The result of a token exchange: a new authorization, which ends when one of its inputs ends."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from msgspec import Struct

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.oauth import scopes
from idp.oauth.errors import InvalidRequest
from idp.oauth.grants.token_exchange import token_types
from idp.oauth.grants.token_exchange.parties import Party
from idp.oauth.grants.token_exchange.token_types import TokenType
from idp.oauth.grants.token_request import RefreshToken, TokenRequest, new_refresh_token
from idp.oauth.refusals import token_exchange as checks
from idp.oauth.tokens import acting, id_tokens, token_response
from idp.oauth.tokens import validity as token_validity
from idp.oauth.tokens.access_tokens import lifetime
from idp.oauth.tokens.authorizations import AuthorizedClient
from idp.oauth.tokens.dependencies import subjects_of
from idp.oauth.tokens.validity import Client
from idp.records import AUTHORIZATIONS, USED_VALUES, Actor, Authorization, TokenKind
from storage import Conflict, Insert, Write
from storage.confirmed_commit import commit_confirmed

T = TypeVar("T", bound=Hashable)


class ExchangeRequest(Struct, frozen=True):
    """The type, the audience and the scopes of the token to issue, all of them checked."""

    type: TokenType
    audience: list[str]
    scopes: list[str]


async def issue(
    request: TokenRequest,
    client: Client,
    subject: Party,
    actor: Party | None,
    requested: ExchangeRequest,
) -> dict[str, Any]:
    """Stores the authorization that the exchange creates, and returns the token response (RFC 8693
    2.2.1).

    `client` is the one that sent the request, `subject` and `actor` are the parties, and
    `requested` is the token to issue. Raises `InvalidRequest` when another request used the same
    assertion first.
    """
    now = request.service.clock.now()
    authorization_id = request.service.random.id()
    inputs = [subject, actor] if actor else [subject]
    refresh = _refresh_token(request, authorization_id, requested, inputs, now)
    authorization = _authorization(
        request, authorization_id, client, subject, actor, requested, refresh, now
    )
    authorized = AuthorizedClient(authorization, subject.subject, client, None)
    body = await _response(request, authorized, requested, refresh, now)
    await _store(request, authorization, inputs)
    return body


def _refresh_token(
    request: TokenRequest,
    authorization_id: str,
    requested: ExchangeRequest,
    inputs: Sequence[Party],
    now: datetime,
) -> RefreshToken | None:
    """Returns the refresh token, if requested. With it the new authorization outlives the tokens
    that were sent, but not the records that these depend on."""
    if scopes.OFFLINE_ACCESS not in requested.scopes:
        return None
    return new_refresh_token(request.service, authorization_id, now, _latest_end(inputs, now))


def _latest_end(inputs: Sequence[Party], now: datetime) -> datetime | None:
    """Returns the latest end of all tokens that are issued for these parties."""
    limit = now + acting.MAX_LIFETIME if _is_acting(inputs) else None
    return _earliest([limit, *[party.grant_ends_at for party in inputs]])


def _is_acting(inputs: Sequence[Party]) -> bool:
    """Returns whether there is an actor: the second party, or one that the subject's token
    names."""
    return len(inputs) > 1 or inputs[0].actor is not None


def _authorization(
    request: TokenRequest,
    authorization_id: str,
    client: Client,
    subject: Party,
    actor: Party | None,
    requested: ExchangeRequest,
    refresh: RefreshToken | None,
    now: datetime,
) -> Authorization:
    inputs = [subject, actor] if actor else [subject]
    actors = [*([actor.subject, *actor.actors] if actor else []), *subject.actors]
    other_clients = _other_clients(inputs, client)
    # The token states how its sender signed in, which is the actor if there is one.
    authenticated_party = actor or subject
    kind: TokenKind = "jwt" if requested.type == "jwt" else "opaque"
    dependencies = [party.dependencies for party in inputs]
    return Authorization(
        id=authorization_id,
        grant="exchange",
        client_id=client.application.id,
        client_org_id=client.organization.id,
        user_id=subject.subject.user.id,
        org_id=subject.subject.organization.id,
        scopes=requested.scopes,
        audience=requested.audience,
        auth_time=authenticated_party.auth_time or now,
        amr=authenticated_party.amr,
        acr=authenticated_party.acr,
        actor=_chain(request.service.config.issuer, subject, actor),
        actor_org_ids=[each.organization.id for each in actors],
        acting_stamp=subject.subject.instance.acting_stamp if actors else "",
        acting_ends_at=_latest_end(inputs, now) if actors else None,
        parent_ids=_union(each.authorization_ids for each in dependencies),
        parent_session_ids=_union(each.session_ids for each in dependencies),
        parent_token_ids=_union(each.token_ids for each in dependencies),
        parent_pat_ids=_union(each.pat_ids for each in dependencies),
        parent_uses=_union(each.uses for each in dependencies),
        grounds=subject.grounds,
        parent_clients=[(each.application.id, each.organization.id) for each in other_clients],
        token_kind=kind,
        stamps=token_validity.stamps_of(
            subject.subject.instance, subject.subject, client, actors, other_clients
        ),
        refresh=refresh.record if refresh else None,
        created_at=now,
        expires_at=_ends_at(request, requested, kind, inputs, refresh, now),
        sequence=1,
    )


def _other_clients(inputs: Sequence[Party], client: Client) -> list[Client]:
    """Returns the clients that the inputs depend on, each once and without `client` itself."""
    by_id = {each.application.id: each for party in inputs for each in party.other_clients}
    by_id.pop(client.application.id, None)
    return list(by_id.values())


def _chain(issuer: str, subject: Party, actor: Party | None) -> Actor | None:
    """Returns the chain of actors (RFC 8693 4.1): the current one, those it names, then the
    subject's."""
    if actor is None:
        return subject.actor
    actor_chain = subject.actor
    for sub in reversed([actor.subject.user.id, *subjects_of(actor.actor)]):
        actor_chain = Actor(iss=issuer, sub=sub, act=actor_chain)
    return actor_chain


def _ends_at(
    request: TokenRequest,
    requested: ExchangeRequest,
    kind: TokenKind,
    inputs: Sequence[Party],
    refresh: RefreshToken | None,
    now: datetime,
) -> datetime:
    config = request.service.config
    if refresh is not None:
        return refresh.record.expires_at + lifetime(config, kind)
    token_lifetime = lifetime(config, kind)
    if _is_acting(inputs):
        token_lifetime = acting.shortened(config, token_lifetime)
    if requested.type == "id_token":
        token_lifetime = timedelta(seconds=config.id_token_seconds)
    return _earliest([now + token_lifetime, *[party.ends_at for party in inputs]]) or now


async def _response(
    request: TokenRequest,
    authorized: AuthorizedClient,
    requested: ExchangeRequest,
    refresh: RefreshToken | None,
    now: datetime,
) -> dict[str, Any]:
    service = request.service
    issued = {"issued_token_type": token_types.identifier(service.config, requested.type)}
    if requested.type != "id_token":
        text = refresh.text if refresh else None
        body = await token_response.respond(
            service, authorized, scopes=requested.scopes, refresh_token=text, now=now
        )
        return body | issued
    token = await token_response.id_token(
        service, authorized, requested.scopes, None, now, nonce=None
    )
    expires = id_tokens.expiry(service.config, authorized.ends_at, now)
    return issued | {
        "access_token": token,
        # RFC 8693 2.2.1: an ID token is not an access token, so it has no token type.
        "token_type": "N_A",
        "expires_in": expires - int(now.timestamp()),
        "scope": " ".join(requested.scopes),
    }


async def _store(
    request: TokenRequest, authorization: Authorization, inputs: Sequence[Party]
) -> None:
    event_type, actor, payload = _event_of(authorization)
    entry = AuditEntry(event_type, actor, authorization.created_at, payload=payload)
    writes: list[Write] = events.insertion(
        request.service.random, AUTHORIZATIONS, authorization, entry
    )
    # In the same unit: a `jti` is used if and only if the authorization is stored.
    used_values = [party.used_value for party in inputs if party.used_value]
    writes += [Insert(USED_VALUES, each) for each in used_values]
    try:
        await commit_confirmed(request.service.store, *writes)
    except Conflict:
        with checks.SUBJECT:
            details = "The JWT was used before: its jti counts once."
            raise InvalidRequest("subject_token invalid", details=details) from None


def _event_of(authorization: Authorization) -> tuple[str, str, dict[str, str]]:
    """Returns the event's type, the id of the user who caused it, and its payload."""
    client_id, user_id = authorization.client_id, authorization.user_id
    if authorization.actor is None:
        return "token.exchanged", user_id, {"client": client_id, "user": user_id}
    actor = authorization.actor.sub
    payload = {"actor": actor, "subject": user_id, "clientId": client_id}
    payload["audience"] = " ".join(authorization.audience)
    return "token.impersonated", actor, payload


def _union(lists: Iterable[Iterable[T]]) -> list[T]:
    return list(dict.fromkeys(each for values in lists for each in values))


def _earliest(instants: Iterable[datetime | None]) -> datetime | None:
    return min((each for each in instants if each), default=None)
