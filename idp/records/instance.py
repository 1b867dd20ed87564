"""This installation: its settings, its keys and its audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from storage import Collection, Record

INSTANCE_ID: Final = "instance"


class Demo(Struct, kw_only=True):
    """The demonstration application and its user; loopback issuers only."""

    client_id: str
    sealed_client_secret: str
    user_id: str
    sealed_password: str


class FirstAdmin(Struct, kw_only=True):
    """The first administrator's one-time password; gone once another one was chosen."""

    user_id: str
    sealed_password: str
    expires_at: datetime


class Instance(Record):
    """This installation: one record. `key_check` tells whether a master key is the right one.

    `changed_at` is when somebody last changed its switches. `acting_stamp` is a new one each time
    that impersonation is switched: what was issued to an actor under a former one has ended.
    `issuer` is the one that the service was last started with; empty if no start has noted it.
    """

    stamp: str
    key_check: str
    org_id: str
    created_at: datetime
    changed_at: datetime | None = None
    sequence: int = 1
    first_admin: FirstAdmin | None = None
    demo: Demo | None = None
    allows_token_exchange: bool = False
    allows_impersonation: bool = False
    acting_stamp: str = ""
    issuer: str = ""


class SigningKey(Record):
    """A key of the instance. `use` is `sig` (signs tokens) or `enc` (seals opaque tokens).

    `public` is the JWK as JSON text, None for a sealing key; `sealed_private` is the PKCS #8
    PEM or the raw symmetric key, encrypted under the master key, and empty in a removed key.
    """

    use: Literal["sig", "enc"]
    algorithm: Literal["RS256", "ES256", "EdDSA", "A256GCM"]
    state: Literal["next", "active", "retired", "removed"]
    sealed_private: str
    created_at: datetime
    changed_at: datetime
    public: str | None = None
    sequence: int = 1


class Lease(Record):
    """Whose turn it is at a piece of background work, by its name; nobody's once it has ended."""

    holder: str
    expires_at: datetime


class Event(Record):
    """One change of one record: the audit log, never the source of truth; holds no secret."""

    collection: str
    record_id: str
    sequence: int
    type: str
    actor: str
    at: datetime
    org_id: str | None = None
    request_id: str | None = None
    payload: list[tuple[str, str]] = []


class DemoVisit(Record):
    """What the demonstration relying party remembers of one browser; sealed: it holds tokens."""

    sealed: str
    expires_at: datetime


INSTANCES: Final = Collection("instance", Instance)
SIGNING_KEYS: Final = Collection("signing_keys", SigningKey)
LEASES: Final = Collection("leases", Lease, expires=True)
EVENTS: Final = Collection(
    "events",
    Event,
    lists=(("at",), ("org_id", "at"), ("actor", "at"), ("record_id", "at")),
)
DEMO_VISITS: Final = Collection("demo_visits", DemoVisit, expires=True)
