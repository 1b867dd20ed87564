"""What a user let a client do: the parent of every token."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from idp.records.clients import TokenKind
from storage import Collection, Record


class Code(Struct, kw_only=True):
    hash: str
    redirect_uri: str
    expires_at: datetime
    code_challenge: str | None = None
    redeemed_at: datetime | None = None


class Refresh(Struct, kw_only=True):
    """`family_hash` stays for life: it tells a genuine but spent token from a forged one."""

    family_hash: str
    current_hash: str
    rotated_at: datetime
    idle_expires_at: datetime
    expires_at: datetime
    previous_hash: str | None = None


class Actor(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """Who acts for the subject, and for whom that one acted before (RFC 8693 4.1)."""

    iss: str
    sub: str
    act: Actor | None = None


class Grounds(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """By what a user was allowed to use an application when something was issued to it.

    Each is the stamp of one ground, or None when the user had no such ground: the application was
    open to everybody, there was an active project grant for the user's organization, the project
    required no role, the user had a role in it.
    """

    project_id: str
    everybody: str | None = None
    grant: str | None = None
    no_role: str | None = None
    role: str | None = None


class Use(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """That a user uses an application, each with its organization, and by which grounds.

    Without `grounds` it was issued by a program that did not know them.
    """

    user_id: str
    user_org_id: str
    client_id: str
    client_org_id: str
    grounds: Grounds | None = None


class Authorization(Record):
    """What a user let a client do, once: the parent of every token that came of it.

    `claims` is the request's parameter of that name, as JSON (OpenID Connect Core 5.5), and
    `consented_claims` are those of it, beyond the scopes, that an application of others may have
    because the user agreed.

    That of a token exchange tells what it came of, and dies with any of it: the chain of actors
    (`actor_org_ids` are their organizations, the outermost's first) and the authorizations,
    sessions, single tokens, clients and uses of its inputs (`parent_*`; clients are pairs of
    their own id and their organization's). Where there is an actor, `acting_stamp` is the
    installation's at the exchange, and nothing that comes of it outlives `acting_ends_at`.
    `token_kind` is what it was asked for, else it is the client's.
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
    sequence: int = 0  # codes and refresh tokens come and go without an event
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
    parent_uses: list[Use] = []
    grounds: Grounds | None = None
    token_kind: TokenKind | None = None
    revoked_at: datetime | None = None


class RevokedToken(Record):
    """One access token that does not count any more; its id is the token's `jti`."""

    expires_at: datetime


class Replay(Record):
    """What counts once and was used: an assertion, by the digest of its issuer and `jti` or of
    what was signed, or the challenge that a passkey signed, by its own."""

    expires_at: datetime


AUTHORIZATIONS: Final = Collection(
    "authorizations", Authorization, lists=(("user_id", "client_id"),), expires=True
)
REVOKED_TOKENS: Final = Collection("revoked_tokens", RevokedToken, expires=True)
REPLAY: Final = Collection("replay", Replay, expires=True)
