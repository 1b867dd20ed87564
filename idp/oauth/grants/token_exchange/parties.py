"""The subject and the actor of a token exchange, each with the records that its token depends
on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec
from msgspec import Struct

from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions import security_stamps
from idp.identity.users import lookup as user_lookup
from idp.identity.users import subjects
from idp.identity.users.subjects import Subject
from idp.keys import jws
from idp.oauth.authentication import access_token_verification, jwt_assertions
from idp.oauth.authentication.access_token_verification import PresentedToken
from idp.oauth.authentication.jwt_assertions import AssertionRefused
from idp.oauth.errors import InvalidToken
from idp.oauth.grants.token_exchange.token_types import TokenType
from idp.oauth.refusals import details as refusal_details
from idp.oauth.tokens import acting, audiences, id_tokens
from idp.oauth.tokens import validity as token_validity
from idp.oauth.tokens.dependencies import TokenDependencies
from idp.oauth.tokens.validity import Client, ValidRecords
from idp.records import APP_KEYS, SESSIONS, AccessGrounds, Actor, Application, UsedValue
from idp.service import Service


class InputRefused(Exception):
    """A token sent for an exchange is not valid.

    The message is for the log and the administrator.
    """


class ActingEnded(InputRefused):
    """A token with an actor (`act`) was valid, and no longer is."""


class Party(Struct, frozen=True, kw_only=True):
    """The subject or the actor of an exchange: the user of a token, its access and its
    dependencies.

    `scopes` is None for a kind of token without scopes. `actor` is the token's `act` claim, and
    `actors` are the users in it; `other_clients` are the clients that the token and the tokens it
    was exchanged for were issued to. `ends_at` is when the token expires, `grant_ends_at` when its
    authorizations end. `exchanges` counts the exchanges that led to the token; `used_value` is the
    record of a used `jti`, to be stored with the new authorization. If `allows_service_api` is
    false, the new token must not have this service's own API in its audience. `grounds` are the
    reasons for which a subject may use the client that exchanges the token.
    """

    subject: Subject
    dependencies: TokenDependencies
    audience: Sequence[str] = ()
    scopes: Sequence[str] | None = None
    actor: Actor | None = None
    actors: Sequence[Subject] = ()
    other_clients: Sequence[Client] = ()
    auth_time: datetime | None = None
    amr: list[str] = []
    acr: str | None = None
    ends_at: datetime | None = None
    grant_ends_at: datetime | None = None
    exchanges: int = 0
    used_value: UsedValue | None = None
    allows_service_api: bool = True
    grounds: AccessGrounds | None = None


async def read(service: Service, client: Application, token_type: TokenType, token: str) -> Party:
    """Returns the user, access and dependencies of a valid token that `client` sends for an
    exchange.

    `token_type` is the type that the request states. Raises `InputRefused` if the token is not
    valid, or the client may not exchange it.
    """
    return await _READERS[token_type](service, client, token)


async def _from_access_token(service: Service, client: Application, token: str) -> Party:
    """Reads an opaque access token, a JWT, or a personal access token."""
    try:
        presented = await access_token_verification.read(service, token)
    except InvalidToken as error:
        raise InputRefused(error.details) from None
    valid_records = await _validate(service, presented)
    if valid_records.subject is None:
        raise InputRefused("That is an application's own token: it stands for no user.")
    if presented.is_pat:
        return await _from_pat(service, client, presented, valid_records.subject)
    return _from_claims(service, client, presented, valid_records, valid_records.subject)


async def _validate(service: Service, presented: PresentedToken) -> ValidRecords:
    try:
        records = await token_validity.read(service, presented.dependencies)
        return await access_token_verification.validate(service, presented, records)
    except InvalidToken as error:
        # A token with an actor ends as its refresh token does; `ActingEnded` gives both the same
        # error.
        raise (InputRefused if presented.claims.act is None else ActingEnded)(
            error.details
        ) from None


async def _from_pat(
    service: Service, client: Application, presented: PresentedToken, subject: Subject
) -> Party:
    """Reads a personal access token, which is valid for every application that its user gives it
    to.

    It allows this service's API only for an application with management access in the user's
    organization.
    """
    claims, pat_id = presented.claims, presented.claims.jti
    scopes = claims.scope.split()
    granted = await audiences.of_application(service, client, scopes)
    ends_at = datetime.fromtimestamp(claims.exp, UTC)
    return Party(
        subject=subject,
        # A personal access token is not revoked by its `jti`: the result depends on its own
        # record.
        dependencies=msgspec.structs.replace(
            presented.dependencies, token_ids=(), pat_ids=(pat_id,)
        ),
        audience=[*claims.aud, *granted.audience],
        scopes=scopes,
        auth_time=datetime.fromtimestamp(claims.iat, UTC),
        ends_at=ends_at,
        grant_ends_at=ends_at,
        allows_service_api=client.has_management_access
        and client.org_id == subject.organization.id,
    )


def _from_claims(
    service: Service,
    client: Application,
    presented: PresentedToken,
    valid_records: ValidRecords,
    subject: Subject,
) -> Party:
    claims = presented.claims
    # A client may exchange only tokens with itself or its project in the audience.
    if not {client.id, client.project_id} & set(claims.aud):
        owner = refusal_details.quoted(claims.client_id)
        raise InputRefused(
            f"It was issued to {owner}; neither this client nor its project is in aud."
        )
    grants = valid_records.authorizations
    since = claims.iat if claims.auth_time is None else claims.auth_time
    return Party(
        subject=subject,
        dependencies=presented.dependencies,
        audience=_without_service(service, client, claims.aud),
        scopes=claims.scope.split(),
        actor=claims.act,
        actors=valid_records.actors,
        other_clients=[
            *([valid_records.client] if valid_records.client else []),
            *valid_records.other_clients,
        ],
        auth_time=datetime.fromtimestamp(since, UTC),
        amr=claims.amr,
        acr=claims.acr,
        ends_at=datetime.fromtimestamp(claims.exp, UTC),
        grant_ends_at=min((acting.ends_at(grant) for grant in grants), default=None),
        exchanges=sum(grant.grant == "exchange" for grant in grants),
    )


def _without_service(service: Service, client: Application, audience: Sequence[str]) -> list[str]:
    """Returns the audience without this service's own API for an application without management
    access."""
    excluded = set() if client.has_management_access else {service.config.issuer}
    return [each for each in audience if each not in excluded]


async def _from_id_token(service: Service, client: Application, token: str) -> Party:
    """Returns the party that an ID token, issued to this client, names: its user, as long as the
    session of the ID token is open and the user's password is the same. The party has no scopes.
    Raises InputRefused."""
    try:
        claims = await id_tokens.read(service, token)
    except jws.NotAToken:
        raise InputRefused(refusal_details.no_id_token(service.config, token)) from None
    now = service.clock.now()
    if now.timestamp() >= claims.exp:
        since = refusal_details.span(now - datetime.fromtimestamp(claims.exp, UTC))
        raise InputRefused(f"The ID token expired {since} ago.")
    if claims.aud != client.id:
        raise InputRefused(f"The ID token was issued to {refusal_details.quoted(claims.aud)}.")
    if claims.sid is None:
        raise InputRefused(
            "The ID token names no session that would tell whether it still counts."
        )
    session = await service.store.get(SESSIONS, claims.sid)
    subject = await _active(service, claims.sub)
    stamps = security_stamps.of_session(subject.instance, subject.organization, subject.user)
    if (
        session is None
        or session.ended_at is not None
        or session.user_id != claims.sub
        or session.stamps != stamps
        or session_lifetime.is_over(service.config, session, now)
    ):
        raise InputRefused("The session of the ID token has ended.")
    return Party(
        subject=subject,
        dependencies=TokenDependencies(stamps=stamps, session_ids=[session.id]),
        audience=[client.id],
        auth_time=datetime.fromtimestamp(claims.auth_time, UTC),
        amr=claims.amr,
        acr=claims.acr,
        ends_at=datetime.fromtimestamp(claims.exp, UTC),
        grant_ends_at=session.expires_at,
    )


async def _from_jwt(service: Service, client: Application, token: str) -> Party:
    """Reads a JWT that the client signed, in which it states the user. It gives no access."""
    try:
        assertion = jwt_assertions.read(token)
        claims = assertion.claims
        if claims.iss != client.id:
            raise InputRefused(
                f"The JWT's iss is {refusal_details.quoted(claims.iss)}, not the client that sent"
                " it."
            )
        key = await service.store.get(APP_KEYS, assertion.kid)
        jwt_assertions.check(service, assertion, key)
    except AssertionRefused as error:
        raise InputRefused(str(error)) from None
    return Party(
        subject=await _active(service, claims.sub),
        dependencies=TokenDependencies(stamps=""),
        ends_at=datetime.fromtimestamp(claims.exp, UTC),
        used_value=jwt_assertions.used_value_of(claims, claims.jti) if claims.jti else None,
    )


async def _from_user_id(service: Service, client: Application, user_id: str) -> Party:
    """Reads a user's id, which authenticates no user: the actor has to have all the rights."""
    return Party(
        subject=await _active(service, user_id), dependencies=TokenDependencies(stamps="")
    )


async def _active(service: Service, user_id: str) -> Subject:
    subject = await user_lookup.find_subject(service, user_id)
    if subject is None or not subjects.is_active(subject):
        raise InputRefused("There is no such user, or they or their organization are not active.")
    return subject


_READERS: Final[dict[TokenType, Callable[[Service, Application, str], Awaitable[Party]]]] = {
    "access_token": _from_access_token,
    "id_token": _from_id_token,
    "jwt": _from_jwt,
    "user_id": _from_user_id,
}
