"""What a user let a client do: the parent of every token."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

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


class Authorization(Record):
    """What a user let a client do, once: the parent of every token that came of it."""

    grant: Literal["code"]
    client_id: str
    client_org_id: str
    user_id: str
    org_id: str
    session_id: str
    scopes: list[str]
    audience: list[str]
    auth_time: datetime
    amr: list[str]
    acr: str
    stamps: str
    created_at: datetime
    expires_at: datetime
    sequence: int = 0  # codes and refresh tokens come and go without an event
    nonce: str | None = None
    code: Code | None = None
    refresh: Refresh | None = None
    revoked_at: datetime | None = None


AUTHORIZATIONS: Final = Collection("authorizations", Authorization, expires=True)
