"""Every stored record as a typed struct, and the collections that hold them.

Records are values: changing one is a unit of writes (`storage.Update`), never an assignment.
`sequence` counts the administrative changes of a record, one event each; `stamp` is a random
value whose change ends every session and token that was issued under the old one. Nothing that
can be used is kept in the clear: `*_hash` is a SHA-256 or a slow hash, `sealed_*` is encrypted
under the master key.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from msgspec import Struct, field

from storage import Collection, Record, Schema

INSTANCE_ID: Final = "instance"
SCHEMA: Final = Schema(version=1, oldest_reader=1)


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
    """This installation: one record. `key_check` tells whether a master key is the right one."""

    stamp: str
    key_check: str
    org_id: str
    created_at: datetime
    sequence: int = 1
    first_admin: FirstAdmin | None = None
    demo: Demo | None = None


class Organization(Record):
    name: str
    primary_domain: str
    stamp: str
    created_at: datetime
    changed_at: datetime
    state: Literal["active", "inactive"] = "active"
    sequence: int = 1


class Profile(Struct, kw_only=True):
    """The claims of the scope `profile`; what is not known is absent."""

    display_name: str
    given_name: str | None = None
    family_name: str | None = None
    middle_name: str | None = None
    nick_name: str | None = None
    preferred_language: str | None = None
    gender: Literal["female", "male", "diverse"] | None = None
    profile: str | None = None
    picture: str | None = None
    website: str | None = None
    birthdate: str | None = None
    zoneinfo: str | None = None


class Email(Struct, kw_only=True):
    address: str
    is_verified: bool = False


class Phone(Struct, kw_only=True):
    number: str
    is_verified: bool = False


class Address(Struct, kw_only=True):
    """OpenID Connect Core 5.1.1."""

    formatted: str | None = None
    street_address: str | None = None
    locality: str | None = None
    region: str | None = None
    postal_code: str | None = None
    country: str | None = None


class Password(Struct, kw_only=True):
    """`expires_at` is set for a one-time password: it lets its user choose another, once."""

    hash: str
    changed_at: datetime
    must_change: bool = False
    expires_at: datetime | None = None


class User(Record):
    """A human or a service user (`machine`). `login_key` = casefold(NFKC(user_name)).

    `email_key` is the same form of a verified e-mail address, else None.
    """

    org_id: str
    kind: Literal["human", "machine"]
    user_name: str
    login_key: str
    stamp: str
    profile: Profile
    created_at: datetime
    changed_at: datetime
    state: Literal["active", "inactive", "locked"] = "active"
    sequence: int = 1
    email: Email | None = None
    email_key: str | None = None
    phone: Phone | None = None
    address: Address | None = None
    password: Password | None = None


class Membership(Record):
    """Who manages what: the instance (`org_id` None) or an organization, with which roles."""

    user_id: str
    roles: list[str]
    created_at: datetime
    org_id: str | None = None
    sequence: int = 1


class Project(Record):
    org_id: str
    name: str
    created_at: datetime
    changed_at: datetime
    sequence: int = 1


AuthMethod = Literal["client_secret_basic", "client_secret_post", "none"]
ResponseType = Literal["code", "id_token", "id_token token"]
GrantType = Literal["authorization_code", "refresh_token"]


class Application(Record):
    """A client; its id is the client_id."""

    project_id: str
    org_id: str
    name: str
    auth_method: AuthMethod
    redirect_uris: list[str]
    stamp: str
    created_at: datetime
    changed_at: datetime
    post_logout_redirect_uris: list[str] = []
    response_types: list[ResponseType] = field(default_factory=lambda: ["code"])
    grant_types: list[GrantType] = field(default_factory=lambda: ["authorization_code"])
    access_token_type: Literal["opaque", "jwt"] = "opaque"  # noqa: S105 - a kind
    id_token_userinfo_assertion: bool = False
    secret_hash: str | None = None
    home_url: str | None = None
    explains_until: datetime | None = None
    state: Literal["active", "inactive"] = "active"
    sequence: int = 1


class PersonalAccessToken(Record):
    """Shown once, kept as a hash; dies with its user's stamp."""

    user_id: str
    secret_hash: str
    stamps: str
    created_at: datetime
    expires_at: datetime


class Agent(Record):
    """A browser: its cookie holds the id and a secret, which changes at every sign-in."""

    secret_hash: str
    created_at: datetime
    expires_at: datetime


class Session(Record):
    """A user signed in at an agent. `auth_time` is the last real check of a credential.

    The record outlives the last token that names it; `expires_at` is the end of the record,
    not of the session.
    """

    agent_id: str
    user_id: str
    org_id: str
    stamps: str
    auth_time: datetime
    amr: list[str]
    acr: str
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime
    ended_at: datetime | None = None


class AuthRequest(Record):
    """An authorization request that waits for a person (OpenID Connect Core 3.1.2.1).

    `agent_id` is None until the first page is opened (a cross-site POST brings no cookie).
    `state` is kept percent-encoded, so that any octet comes back as it was sent.
    `login_name` is what the person typed; `proven_user_id` is set when the password was right
    but another step is due; `session_id` is the session that was chosen or made here.
    """

    client_id: str
    redirect_uri: str
    response_type: ResponseType
    response_mode: Literal["query", "fragment"]
    scopes: list[str]
    created_at: datetime
    expires_at: datetime
    agent_id: str | None = None
    state: str | None = None
    nonce: str | None = None
    prompt: list[str] = []
    max_age: int | None = None
    login_hint: str | None = None
    hinted_user_id: str | None = None
    ui_locales: str | None = None
    code_challenge: str | None = None
    language: str | None = None
    login_name: str | None = None
    proven_user_id: str | None = None
    proven_stamp: str | None = None
    session_id: str | None = None
    completed_at: datetime | None = None


class LogoutRequest(Record):
    """A logout that waits for the person's word (OpenID Connect RP-Initiated Logout 2)."""

    expires_at: datetime
    client_id: str | None = None
    post_logout_redirect_uri: str | None = None
    state: str | None = None
    ui_locales: str | None = None


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
    nonce: str | None = None
    code: Code | None = None
    refresh: Refresh | None = None
    revoked_at: datetime | None = None


class SigningKey(Record):
    """A key of the instance. `use` is `sig` (signs tokens) or `enc` (seals opaque tokens).

    `public` is the JWK as JSON text, None for a sealing key; `sealed_private` is the PKCS #8
    PEM or the raw symmetric key, encrypted under the master key.
    """

    use: Literal["sig", "enc"]
    algorithm: Literal["RS256", "A256GCM"]
    state: Literal["next", "active", "retired", "removed"]
    sealed_private: str
    created_at: datetime
    changed_at: datetime
    public: str | None = None
    sequence: int = 1


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
ORGANIZATIONS: Final = Collection("organizations", Organization, unique=("primary_domain",))
USERS: Final = Collection("users", User, unique=("login_key",), lists=(("email_key",),))
MEMBERSHIPS: Final = Collection("memberships", Membership, lists=(("user_id",), ("org_id",)))
PROJECTS: Final = Collection("projects", Project, lists=(("org_id", "name"),))
APPLICATIONS: Final = Collection("applications", Application, lists=(("project_id", "name"),))
PATS: Final = Collection(
    "personal_access_tokens", PersonalAccessToken, lists=(("user_id",),), expires=True
)
AGENTS: Final = Collection("agents", Agent, expires=True)
SESSIONS: Final = Collection(
    "sessions", Session, lists=(("agent_id", "ended_at"), ("user_id",)), expires=True
)
AUTH_REQUESTS: Final = Collection("auth_requests", AuthRequest, expires=True)
LOGOUT_REQUESTS: Final = Collection("logout_requests", LogoutRequest, expires=True)
AUTHORIZATIONS: Final = Collection(
    "authorizations", Authorization, lists=(("user_id",),), expires=True
)
SIGNING_KEYS: Final = Collection("signing_keys", SigningKey)
EVENTS: Final = Collection(
    "events", Event, lists=(("at",), ("collection", "record_id", "sequence"))
)
DEMO_VISITS: Final = Collection("demo_visits", DemoVisit, expires=True)

ALL: Final = (
    INSTANCES,
    ORGANIZATIONS,
    USERS,
    MEMBERSHIPS,
    PROJECTS,
    APPLICATIONS,
    PATS,
    AGENTS,
    SESSIONS,
    AUTH_REQUESTS,
    LOGOUT_REQUESTS,
    AUTHORIZATIONS,
    SIGNING_KEYS,
    EVENTS,
    DEMO_VISITS,
)
