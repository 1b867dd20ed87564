"""Projects and the applications in them: the clients of the protocol."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from msgspec import field

from storage import Collection, Record

AuthMethod = Literal["client_secret_basic", "client_secret_post", "none"]
ResponseType = Literal["code", "id_token", "id_token token"]
GrantType = Literal["authorization_code", "refresh_token"]
AppType = Literal["web", "user_agent", "native"]


class Project(Record):
    org_id: str
    name: str
    created_at: datetime
    changed_at: datetime
    sequence: int = 1


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
    app_type: AppType = "web"
    is_dev_mode: bool = False
    home_url: str | None = None
    explains_until: datetime | None = None
    state: Literal["active", "inactive"] = "active"
    sequence: int = 1


PROJECTS: Final = Collection("projects", Project, lists=(("org_id", "name"),))
APPLICATIONS: Final = Collection("applications", Application, lists=(("project_id", "name"),))
