"""The installation: its settings in the store, its keys and its audit log."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from idp.records.audit import EventStream
from storage import Collection, Record

INSTANCE_ID: Final = "instance"


class Demo(Struct, kw_only=True):
    """The demo application and its user; for loopback issuers only."""

    client_id: str
    sealed_client_secret: str
    user_id: str
    sealed_password: str


class FirstAdmin(Struct, kw_only=True):
    """The first administrator and the encrypted one-time password, stored until another password
    is chosen.
    """

    user_id: str
    sealed_password: str
    expires_at: datetime


class MasterKeyReplacement(Struct, kw_only=True):
    """The replacement of the master key that is in progress since `began_at`.

    Records that the key with the fingerprint `old_key_check` has sealed are sealed with the
    present one, in the order of collections and ids: those up to the id `after` of `collection`
    are.
    """

    old_key_check: str
    began_at: datetime
    collection: str = ""
    after: str | None = None


class Instance(Record):
    """The record of the installation, of which there is one. `key_check` identifies the right
    master key (`idp/start/master_keys.py`).

    `replaced_key_checks` are the fingerprints of earlier master keys, with which nothing is sealed
    any more. Once a key was replaced, `sealed_mac_root` is the key from which those of MACs are
    derived, encrypted; until then that is the master key.
    `changed_at` is when its switches were last changed. `acting_stamp` changes whenever
    impersonation is switched on or off: tokens issued to an actor under an earlier one are no
    longer valid. `issuer` is that of the last start of the service; empty if no start has recorded
    it.
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
    sealed_mac_root: str | None = None
    key_replacement: MasterKeyReplacement | None = None
    replaced_key_checks: list[str] = []


class SigningKey(Record):
    """A key of the installation. `use` is `sig` (signs tokens) or `enc` (encrypts opaque tokens).

    `public` is the JWK as JSON text, None for an encryption key; `sealed_private` is the PKCS #8
    PEM or the raw symmetric key, encrypted under the master key, and empty for a removed key.
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
    """A piece of background work that one process alone does until `expires_at`; the id is the
    work's name, `holder` the process.
    """

    holder: str
    expires_at: datetime


class Event(Record):
    """One change of one record in the audit log, which contains no secret. State is never derived
    from it.

    `stream`, `position` and `chain` are set when the event is sealed: the stream that it belongs
    to, its number there, counted from 1, and its value in the chain. `salt` is the part of the
    payload's digest that can't be guessed; of an erased payload, `payload_digest` remains, which
    `erasure_mac` authenticates. A count of refused attempts has the stream `open` while it grows,
    and `is_final` afterwards.
    """

    collection: str
    record_id: str
    sequence: int
    type: str
    actor: str
    at: datetime
    org_id: str | None = None
    request_id: str | None = None
    payload: list[tuple[str, str]] = []
    stream: EventStream | Literal["open"] | None = None
    position: int | None = None
    chain: str | None = None
    salt: str | None = None
    payload_digest: str | None = None
    erasure_mac: str | None = None
    is_final: bool | None = None


class DemoVisit(Record):
    """The state of the demo application for one browser; encrypted, because it contains tokens."""

    sealed: str
    expires_at: datetime


INSTANCES: Final = Collection("instance", Instance)
SIGNING_KEYS: Final = Collection("signing_keys", SigningKey)
LEASES: Final = Collection("leases", Lease, expires=True, retention=timedelta(hours=1))
EVENTS: Final = Collection(
    "events",
    Event,
    lists=(
        ("at",),
        ("org_id", "at"),
        ("actor", "at"),
        ("record_id", "at"),
        # The list of an absent stream and position has the events that are not sealed.
        ("stream", "position"),
    ),
    narrowed=(("org_id", "stream", "position"),),
)
DEMO_VISITS: Final = Collection("demo_visits", DemoVisit, expires=True)
