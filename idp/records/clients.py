"""Projects and their applications, which are the clients of the protocol."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from msgspec import Struct, field

from storage import Collection, Record

AuthMethod = Literal["client_secret_basic", "client_secret_post", "none", "private_key_jwt"]
ResponseType = Literal["code", "id_token", "id_token token"]
AppType = Literal["web", "user_agent", "native", "api"]
TokenKind = Literal["opaque", "jwt"]
SigningAlgorithm = Literal["RS256", "ES256", "EdDSA"]
AppState = Literal["active", "inactive", "suspended"]
AllowedUsers = Literal["everybody", "own_organization", "granted"]


class Project(Record):
    """A group of applications, with the roles of their users.

    With `requires_grant` its applications are for users of its own organization and of
    organizations with an active project grant, with `requires_role` for users with a role in it.
    `everybody_stamp` changes when `requires_grant` is switched on, `no_role_stamp` when
    `requires_role` is: sessions and tokens of users who are excluded by it end permanently.
    """

    org_id: str
    name: str
    created_at: datetime
    changed_at: datetime
    state: Literal["active", "inactive"] = "active"
    requires_grant: bool = False
    requires_role: bool = False
    everybody_stamp: str = ""
    no_role_stamp: str = ""
    sequence: int = 1


class OldSecret(Struct, kw_only=True):
    """A secret that was replaced by another one, and is still valid until `ends_at`."""

    hash: str
    ends_at: datetime
    created_at: datetime | None = None


class Application(Record):
    """A client; its id is the client_id.

    `grant_types` are names of `idp.oauth.grants.GRANTS`, and `implicit`. An application of the
    type `api` signs no users in: it introspects tokens, and gets tokens for itself.
    `signing_algorithm` is that of its ID tokens, JWT access tokens and logout tokens.
    `groups_claim` is the name of a claim that lists the user's roles. The state is `suspended`
    while the application would be active but its project is not, so that the project need not be
    read. `everybody_stamp` changes when `allowed_users` is no longer `everybody`, `granted_stamp`
    when it becomes `own_organization`: sessions and tokens of users who are excluded by it end
    permanently.
    """

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
    grant_types: list[str] = field(default_factory=lambda: ["authorization_code"])
    access_token_type: TokenKind = "opaque"  # noqa: S105 - a kind
    signing_algorithm: SigningAlgorithm = "RS256"
    id_token_userinfo_assertion: bool = False
    id_token_role_assertion: bool = False
    access_token_role_assertion: bool = False
    groups_claim: str | None = None
    secret_hash: str | None = None
    secret_created_at: datetime | None = None
    old_secret: OldSecret | None = None
    app_type: AppType = "web"
    is_dev_mode: bool = False
    is_third_party: bool = False
    has_management_access: bool = False
    allows_any_loopback_port: bool = False
    requires_pushed_requests: bool = False
    requires_pkce: bool = False
    is_auth_method_strict: bool = False
    confirms_return: bool = False
    refresh_token_reuse_seconds: int = 0
    clock_skew_seconds: int = 0
    additional_origins: list[str] = []
    back_channel_logout_uri: str | None = None
    front_channel_logout_uri: str | None = None
    home_url: str | None = None
    explains_until: datetime | None = None
    allowed_users: AllowedUsers = "everybody"
    everybody_stamp: str = ""
    granted_stamp: str = ""
    state: AppState = "active"
    sequence: int = 1


class RegisteredKey(Record):
    """A public key that verifies assertions; its id is the `kid`. `public` is a PEM.

    `owner_id` is the id of an application or a service user, depending on the collection.
    """

    owner_id: str
    public: str
    created_at: datetime
    expires_at: datetime
    sequence: int = 1


class ProjectRole(Record):
    """A role of a project; its id is the digest of the project's id and `key`."""

    project_id: str
    org_id: str
    key: str
    display_name: str
    created_at: datetime
    changed_at: datetime
    group: str | None = None
    sequence: int = 1


class ProjectGrant(Record):
    """The right of another organization to use a project's applications and to assign some of its
    roles to its own users.

    Its id is the digest of the project's and that organization's. `org_id` is the organization
    that owns the project. `generation` changes when a deleted grant is created again; `stamp` does
    so too, and also when the grant is deactivated.
    """

    project_id: str
    org_id: str
    granted_org_id: str
    role_keys: list[str]
    generation: str
    stamp: str
    created_at: datetime
    changed_at: datetime
    state: Literal["active", "inactive"] = "active"
    sequence: int = 1


class RoleAssignment(Record):
    """The roles of a user in a project; its id is the digest of the user's and the project's.

    `org_id` is the organization that assigned them: the owner of the project, or the user's own by
    a project grant, whose generation is `granted_by` then. `stamp` is random.
    """

    user_id: str
    project_id: str
    org_id: str
    role_keys: list[str]
    created_at: datetime
    changed_at: datetime
    granted_by: str | None = None
    stamp: str = ""
    sequence: int = 1


PROJECTS: Final = Collection("projects", Project, lists=(("org_id", "name"),))
APPLICATIONS: Final = Collection(
    "applications",
    Application,
    lists=(("project_id", "name"), ("project_id", "app_type"), ("project_id", "state")),
)
APP_KEYS: Final = Collection("app_keys", RegisteredKey, lists=(("owner_id",),), expires=True)
USER_KEYS: Final = Collection("user_keys", RegisteredKey, lists=(("owner_id",),), expires=True)
PROJECT_ROLES: Final = Collection("project_roles", ProjectRole, lists=(("project_id", "key"),))
PROJECT_GRANTS: Final = Collection(
    "project_grants", ProjectGrant, lists=(("project_id",), ("org_id",), ("granted_org_id",))
)
ROLE_ASSIGNMENTS: Final = Collection(
    "role_assignments",
    RoleAssignment,
    lists=(("user_id",), ("project_id",), ("org_id",), ("granted_by",)),
)
