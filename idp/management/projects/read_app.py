"""The form in which the management API returns an application: its settings, without its
secret."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, TypeVar

from idp.clients.wire_names import (
    ALGORITHMS,
    ALLOWED_USERS,
    APP_TYPES,
    AUTH_METHODS,
    GRANT_TYPES,
    RESPONSE_TYPES,
    TOKEN_TYPES,
)
from idp.management.call import Call
from idp.management.projects import api_apps, apps, compliance
from idp.management.projects.compliance import ComplianceProblem
from idp.records import Application, AppState
from idp.schema import answers
from idp.schema.answers import Answer, Details
from idp.service import Service

V = TypeVar("V", bound=str)

# The application's own state; that its project is deactivated is part of the project's answer.
_STATES: Final[Mapping[AppState, str]] = {
    "active": "APP_STATE_ACTIVE",
    "suspended": "APP_STATE_ACTIVE",
    "inactive": "APP_STATE_INACTIVE",
}


class OidcConfig(Answer, frozen=True, kw_only=True):
    client_id: str
    redirect_uris: list[str] = []
    response_types: list[str] = []
    grant_types: list[str] = []
    app_type: str = ""
    auth_method_type: str = ""
    post_logout_redirect_uris: list[str] = []
    version: str = ""
    none_compliant: bool = False
    compliance_problems: list[ComplianceProblem] = []
    dev_mode: bool = False
    access_token_type: str = ""
    access_token_role_assertion: bool = False
    id_token_role_assertion: bool = False
    id_token_userinfo_assertion: bool = False
    id_token_signed_response_alg: str = ""
    clock_skew: str = ""
    additional_origins: list[str] = []
    back_channel_logout_uri: str = ""
    front_channel_logout_uri: str = ""
    home_url: str = ""
    groups_claim: str = ""
    third_party: bool = False
    management_access: bool = False
    allowed_users: str = ""
    refresh_token_reuse_seconds: int
    loopback_any_port: bool = False
    require_pushed_requests: bool = False
    require_pkce: bool = False
    strict_auth_method: bool = False
    confirm_return: bool = False


class ApiConfig(Answer, frozen=True, kw_only=True):
    client_id: str
    auth_method_type: str = ""


class AppView(Answer, frozen=True, kw_only=True):
    """An application. Either `oidc_config` or `api_config` is present, and `explains_until` while
    debug mode is on.
    """

    id: str
    details: Details
    name: str
    state: str
    explains_until: datetime | None = None
    oidc_config: OidcConfig | None = None
    api_config: ApiConfig | None = None


class AppFound(Answer, frozen=True, kw_only=True):
    details: Details
    app: AppView


async def show(service: Service, call: Call, project_id: str, app_id: str) -> AppFound:
    """Returns an application with its settings. Raises NotFound (the project or the
    application)."""
    client = await apps.find(service, call, project_id, app_id)
    app_view = view(client, service.clock.now())
    return AppFound(details=app_view.details, app=app_view)


def view(client: Application, now: datetime) -> AppView:
    """Returns an application in the form in which the API returns it. `now` decides whether its
    debug mode is still on."""
    is_api, until = client.app_type == "api", client.explains_until
    return AppView(
        id=client.id,
        details=answers.details(client, client.org_id),
        name=client.name,
        # Debug mode ends by itself, without a write.
        explains_until=until if until is not None and now < until else None,
        state=_STATES[client.state],
        oidc_config=None if is_api else oidc(client),
        api_config=api(client) if is_api else None,
    )


def api(client: Application) -> ApiConfig:
    """Returns the settings of an API application in the form in which answers contain them."""
    method = _api_name(api_apps.AUTH_METHODS, client.auth_method)
    return ApiConfig(client_id=client.id, auth_method_type=method)


def oidc(client: Application) -> OidcConfig:
    """Returns the settings of an OpenID Connect application in the form in which answers contain
    them."""
    problems = compliance.problems(client)
    return OidcConfig(
        client_id=client.id,
        redirect_uris=client.redirect_uris,
        response_types=[_api_name(RESPONSE_TYPES, each) for each in client.response_types],
        grant_types=[_api_name(GRANT_TYPES, each) for each in client.grant_types],
        app_type=_api_name(APP_TYPES, client.app_type),
        auth_method_type=_api_name(AUTH_METHODS, client.auth_method),
        post_logout_redirect_uris=client.post_logout_redirect_uris,
        version="OIDC_VERSION_1_0",
        none_compliant=bool(problems),
        compliance_problems=problems,
        dev_mode=client.is_dev_mode,
        access_token_type=_api_name(TOKEN_TYPES, client.access_token_type),
        access_token_role_assertion=client.access_token_role_assertion,
        id_token_role_assertion=client.id_token_role_assertion,
        id_token_userinfo_assertion=client.id_token_userinfo_assertion,
        id_token_signed_response_alg=_api_name(ALGORITHMS, client.signing_algorithm),
        clock_skew=f"{client.clock_skew_seconds}s" if client.clock_skew_seconds else "",
        additional_origins=client.additional_origins,
        back_channel_logout_uri=client.back_channel_logout_uri or "",
        front_channel_logout_uri=client.front_channel_logout_uri or "",
        home_url=client.home_url or "",
        groups_claim=client.groups_claim or "",
        third_party=client.is_third_party,
        management_access=client.has_management_access,
        allowed_users=_api_name(ALLOWED_USERS, client.allowed_users),
        refresh_token_reuse_seconds=client.refresh_token_reuse_seconds,
        loopback_any_port=client.allows_any_loopback_port,
        require_pushed_requests=client.requires_pushed_requests,
        require_pkce=client.requires_pkce,
        strict_auth_method=client.is_auth_method_strict,
        confirm_return=client.confirms_return,
    )


def _api_name(names: Mapping[str, V], value: str) -> str:
    return next(name for name, each in names.items() if each == value)
