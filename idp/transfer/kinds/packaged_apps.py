"""The forms of rows of `oidcApps` and `apiApps`: registrations with their ids and the digests of
their secrets.

An application is identified by its client id alone: `clientId` where a package has it, else
`appId`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from idp.management.projects import api_apps, oidc_apps
from idp.management.projects.api_apps import NewApiApp
from idp.management.projects.oidc_request import LoginVersion, NewOidcApp, OwnLogin
from idp.schema.field_rules import Name, OneOf, Text
from idp.schema.reading import Request
from idp.transfer.kinds.packaged_ids import RecordId
from idp.transfer.kinds.packaged_secrets import EndingSecret, HashedSecret

STATES: Final[dict[str, Literal["active", "inactive"]]] = {
    "APP_STATE_ACTIVE": "active",
    "APP_STATE_INACTIVE": "inactive",
}
_MAX_ADDRESS: Final = 2048


class ForeignSignInPages(OwnLogin, frozen=True, kw_only=True):
    """The application's choice to use sign-in pages of another service; their address is accepted
    and not stored."""

    base_uri: Annotated[str, Text(max=_MAX_ADDRESS)] = ""


class PackagedLogin(LoginVersion, frozen=True, kw_only=True):
    login_v2: ForeignSignInPages | None = None


class PackagedOidcApp(NewOidcApp, frozen=True, kw_only=True):
    project_id: Name
    client_id: Annotated[str, RecordId()] | None = None
    state: Annotated[str, OneOf(tuple(STATES))] | None = None
    hashed_secret: HashedSecret | None = None
    previous_secret: EndingSecret | None = None
    login_version: PackagedLogin | None = None

    def settings(self) -> dict[str, Any]:
        """Returns the application's settings as fields of its record."""
        return oidc_apps.settings(self)

    @property
    def external_login_uri(self) -> str:
        """The address of the application's own sign-in page in the other system, which is not
        stored; empty if there is none."""
        version = self.login_version
        return version.login_v2.base_uri if version and version.login_v2 else ""


class PackagedApiApp(NewApiApp, frozen=True, kw_only=True):
    project_id: Name
    client_id: Annotated[str, RecordId()] | None = None
    state: Annotated[str, OneOf(tuple(STATES))] | None = None
    hashed_secret: HashedSecret | None = None
    previous_secret: EndingSecret | None = None

    def settings(self) -> dict[str, Any]:
        """Returns the application's settings as fields of its record."""
        return api_apps.settings(self)

    @property
    def external_login_uri(self) -> str:
        """Always empty: users do not sign in to an API application."""
        return ""


class AppRow(Request, frozen=True, kw_only=True):
    app_id: Annotated[str, RecordId()]


class OidcRow(AppRow, frozen=True, kw_only=True):
    app: PackagedOidcApp


class ApiRow(AppRow, frozen=True, kw_only=True):
    app: PackagedApiApp
