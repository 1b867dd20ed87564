"""Authorizations: what a user let a client do, the parent of every token."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, Literal

import msgspec
from msgspec import Struct

from idp.records.clients import TokenKind
from storage import Collection, Record


class Code(Struct, kw_only=True):
    """The code of an authorization. `unanswered_at` is a `redeemed_at` whose tokens reached
    no one."""

    hash: str
    redirect_uri: str
    expires_at: datetime
    code_challenge: str | None = None
    redeemed_at: datetime | None = None
    unanswered_at: datetime | None = None


class Refresh(Struct, kw_only=True):
    """The refresh token of an authorization: the hash of the secret that changes at each use, now
    (`current_hash`) and before (`previous_hash`).

    `family_hash` is that of the secret that never changes: it distinguishes a used token from a
    forged one. `unanswered_hash` is a `current_hash` whose secret reached no one.
    """

    family_hash: str
    current_hash: str
    rotated_at: datetime
    idle_expires_at: datetime
    expires_at: datetime
    previous_hash: str | None = None
    unanswered_hash: str | None = None


class Actor(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """The party that acts for a user. `act` is the actor before it in a chain of delegations (RFC
    8693 4.1).
    """

    iss: str
    sub: str
    act: Actor | None = None


class AccessGrounds(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """Why a user was allowed to use an application when a token was issued.

    Each field is the stamp of one reason, or None if the reason did not apply: the application was
    open to everybody, there was an active project grant for the user's organization, the project
    required no role, the user had a role in it. `groups` are the groups by which the user had one
    where the project required it: their ids, each with the stamps of membership and roles.
    """

    project_id: str
    everybody: str | None = None
    grant: str | None = None
    role_not_required: str | None = msgspec.field(default=None, name="no_role")
    role: str | None = None
    groups: tuple[tuple[str, str], ...] = ()


class ApplicationUse(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """A user's use of an application, with the organizations of both and the reasons that allowed
    it.

    `grounds` is None for a token that an earlier version issued, which did not record the reasons.
    """

    user_id: str
    user_org_id: str
    client_id: str
    client_org_id: str
    grounds: AccessGrounds | None = None


class Authorization(Record):
    """What a user let a client do, once: the parent of every token issued for it.

    `claims` is the request's parameter of that name, as JSON (OpenID Connect Core 5.5), and
    `consented_claims` are those of it, beyond the scopes, that the user allowed a third-party
    application.

    The authorization of a token exchange records its inputs, and ends with any of them: the chain
    of actors (`actor_org_ids` are their organizations, that of the outermost actor
    first) and the
    authorizations, sessions, single tokens, clients and uses of its inputs (`parent_*`; clients
    are pairs of their own id and their organization's). If there is an actor, `acting_stamp` is
    the installation's at the time of the exchange, and no token outlives `acting_ends_at`.
    `token_kind` is the requested kind; without it the client's applies.
    """

    grant: Literal["code", "implicit", "device", "exchange"]
    client_id: str
    client_org_id: str
    user_id: str
    org_id: str
    scopes: list[str]
    audience: list[str]
    auth_time: datetime
    amr: list[str]
    stamps: str
    created_at: datetime
    expires_at: datetime
    sequence: int = 0  # codes and refresh tokens change without an event
    acr: str | None = None
    session_id: str | None = None
    nonce: str | None = None
    code: Code | None = None
    refresh: Refresh | None = None
    claims: str | None = None
    consented_claims: list[str] = []
    actor: Actor | None = None
    actor_org_ids: list[str] = []
    acting_stamp: str = ""
    acting_ends_at: datetime | None = None
    parent_ids: list[str] = []
    parent_session_ids: list[str] = []
    parent_token_ids: list[str] = []
    parent_pat_ids: list[str] = []
    parent_clients: list[tuple[str, str]] = []
    parent_uses: list[ApplicationUse] = []
    grounds: AccessGrounds | None = None
    token_kind: TokenKind | None = None
    revoked_at: datetime | None = None


class RevokedToken(Record):
    """One access token that was revoked; its id is the token's `jti`."""

    expires_at: datetime


class UsedValue(Record):
    """A single-use value that was used: an assertion or the challenge of a passkey.

    Its id is a digest: of an assertion's issuer and `jti`, of the signed text of an assertion
    without `jti`, or of a challenge.
    """

    expires_at: datetime


AUTHORIZATIONS: Final = Collection(
    "authorizations", Authorization, lists=(("user_id", "client_id"),), expires=True
)
REVOKED_TOKENS: Final = Collection("revoked_tokens", RevokedToken, expires=True)
USED_VALUES: Final = Collection("replay", UsedValue, expires=True, retention=timedelta(hours=1))
