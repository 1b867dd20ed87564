"""Calls that register an OpenID Connect application, and replace its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from idp.changes import Planned
from idp.clients.wire_names import (
    ALGORITHMS,
    ALLOWED_USERS,
    APP_TYPES,
    AUTH_METHODS,
    GRANT_TYPES,
    RESPONSE_TYPES,
    TOKEN_TYPES,
)
from idp.foundation.errors import FailedPrecondition
from idp.management.call import Call
from idp.management.projects import apps, compliance, uri_warnings
from idp.management.projects.apps import AppConfigured, AppRegistered
from idp.management.projects.compliance import ComplianceProblem
from idp.management.projects.oidc_request import CheckedOidcApp, NewOidcApp, OidcSettings
from idp.management.projects.uri_warnings import UriWarning
from idp.records import Application
from idp.schema.answers import Answer
from idp.service import Service


class AppChecked(Answer, frozen=True, kw_only=True):
    """`compliance_problems` are those that the registration would answer. `proposed_allowed_users`
    is what the installation proposes for a new application that does not say who may use it.
    """

    proposed_allowed_users: str
    none_compliant: bool = False
    compliance_problems: list[ComplianceProblem] = []
    warnings: list[UriWarning] = []


async def create(
    service: Service, call: Call, project_id: str, request: NewOidcApp
) -> Planned[AppRegistered]:
    """Registers an OpenID Connect application in a project.

    Raises NotFound (the project), PermissionDenied (only owners of the installation decide about
    management access).
    """
    return await apps.register(service, call, project_id, request.name, _new(service, request))


async def configure(
    service: Service, call: Call, project_id: str, app_id: str, request: OidcSettings
) -> Planned[AppConfigured]:
    """Replaces the settings of an OpenID Connect application; those that the request omits get
    their defaults.

    For a native application without a secret, `confirms_return` keeps its value if the request
    omits it. Raises NotFound, PermissionDenied (only owners of the installation decide about
    management access), FailedPrecondition (the application is of another kind).
    """
    values = settings(request)
    return await apps.configure(service, call, project_id, app_id, values, check_kind)


async def check(
    service: Service, call: Call, project_id: str, request: CheckedOidcApp
) -> AppChecked:
    """Returns what the registration of such an application would answer, without storing anything,
    and warnings about its redirect URIs.

    Raises NotFound (the project), PermissionDenied (only owners of the installation decide about
    management access), as the registration would.
    """
    client = await apps.draft(service, call, project_id, request.name, _new(service, request))
    problems = compliance.problems(client)
    return AppChecked(
        proposed_allowed_users=proposed_users(service),
        none_compliant=bool(problems),
        compliance_problems=problems,
        warnings=uri_warnings.warnings(client),
    )


def proposed_users(service: Service) -> str:
    """Returns the value of `allowed_users` that the installation's settings propose for a new
    application."""
    proposed = service.config.new_application_users
    return next(name for name, users in ALLOWED_USERS.items() if users == proposed)


def check_kind(client: Application) -> None:
    """Raises FailedPrecondition if the application is not an OpenID Connect application."""
    if client.app_type == "api":
        raise FailedPrecondition("this is an API application", error_code="app.not_oidc")


def settings(request: OidcSettings) -> dict[str, Any]:
    """Returns the fields of an application record that the request sets, as a dict.

    Without grant types, the application uses the authorization code. Without response types, it
    gets `code` if its grant types include the authorization code. `allowed_users` is present only
    if the request names it.
    """
    grants = _unique(GRANT_TYPES, request.grant_types) or ["authorization_code"]
    implied = ["code"] if "authorization_code" in grants else []
    allowed = request.allowed_users
    return {
        **({"allowed_users": ALLOWED_USERS[allowed]} if allowed else {}),
        "auth_method": AUTH_METHODS[request.auth_method_type],
        "is_auth_method_strict": request.strict_auth_method,
        "app_type": APP_TYPES[request.app_type],
        "redirect_uris": request.redirect_uris,
        "post_logout_redirect_uris": request.post_logout_redirect_uris,
        "response_types": _unique(RESPONSE_TYPES, request.response_types) or implied,
        "grant_types": grants,
        "access_token_type": TOKEN_TYPES[request.access_token_type],
        "signing_algorithm": ALGORITHMS[request.id_token_signed_response_alg],
        "id_token_userinfo_assertion": request.id_token_userinfo_assertion,
        "id_token_role_assertion": request.id_token_role_assertion,
        "access_token_role_assertion": request.access_token_role_assertion,
        "groups_claim": request.groups_claim or None,
        "is_dev_mode": request.dev_mode,
        "is_third_party": request.third_party,
        "has_management_access": request.management_access,
        "allows_any_loopback_port": request.loopback_any_port,
        "requires_pushed_requests": request.require_pushed_requests,
        "requires_pkce": request.require_pkce,
        "refresh_token_reuse_seconds": request.refresh_token_reuse_seconds,
        "clock_skew_seconds": request.clock_skew,
        "additional_origins": request.additional_origins,
        "back_channel_logout_uri": request.back_channel_logout_uri or None,
        "front_channel_logout_uri": request.front_channel_logout_uri or None,
        "home_url": request.home_url or None,
        **_confirmation(request),
    }


def _new(service: Service, request: OidcSettings) -> dict[str, Any]:
    """Returns the fields of the record of a new application that the request sets.

    In the public profile, a native application without a secret confirms its returns, because
    another application may impersonate it (RFC 8252 8.6).
    """
    return {"confirms_return": service.config.is_public} | settings(request)


def _confirmation(request: OidcSettings) -> dict[str, bool]:
    """Returns the field `confirms_return`, or nothing if the request omits it for an application
    that may confirm returns: a new one then has the profile's default, and an existing one keeps
    its value."""
    is_native = APP_TYPES[request.app_type] == "native"
    may_confirm = is_native and AUTH_METHODS[request.auth_method_type] == "none"
    if request.confirm_return is None and may_confirm:
        return {}
    return {"confirms_return": bool(request.confirm_return)}


def _unique(names: Mapping[str, str], sent: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names[each] for each in sent))
