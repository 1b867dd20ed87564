"""Access tokens without a sign-in: those of service users, and of applications for themselves.

They depend on the user or the application and end with it. No record of their own is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from idp.identity.users.subjects import Subject
from idp.oauth import reserved_scopes, scopes
from idp.oauth.errors import InvalidScope
from idp.oauth.params import Params
from idp.oauth.refusals.token import SCOPE_ORGANIZATION
from idp.oauth.tokens import access_tokens, audiences, id_tokens, role_claims, user_claims
from idp.oauth.tokens import validity as token_validity
from idp.oauth.tokens.access_tokens import AccessTokenRequest, Issued
from idp.oauth.tokens.audiences import AudienceAndScopes
from idp.oauth.tokens.dependencies import StampOwner, TokenDependencies
from idp.oauth.tokens.id_tokens import IdTokenRequest
from idp.oauth.tokens.role_claims import RoleClaimRequest
from idp.oauth.tokens.validity import Client
from idp.records import Instance, Organization
from idp.service import Service

APPLICATION_SUBJECT: Final = "client:"
AMR_KEY: Final = "swk"  # RFC 8176: proof of possession of a key in software


def scopes_of(service: Service, params: Params) -> list[str]:
    """Returns the scopes that the form `params` requests, without `offline_access`.

    These tokens have no refresh token: the caller can authenticate again. Raises `InvalidScope`
    for an unknown scope.
    """
    requested = scopes.parse(params.get("scope"))
    scopes.refuse_unknown(service.config, requested)
    return [scope for scope in requested if scope != scopes.OFFLINE_ACCESS]


async def for_user(
    service: Service, subject: Subject, requested: Sequence[str], *, with_id_token: bool = False
) -> dict[str, Any]:
    """Returns the token response for a service user, with an access token for the `requested`
    scopes.

    With `with_id_token` and the scope `openid` there is an ID token, too. Raises `InvalidScope`
    when a scope names another organization.
    """
    _check_organization(service, subject.organization, requested)
    user, now = subject.user, service.clock.now()
    granted = await audiences.of_service_user(service, user, requested)
    issued = await access_tokens.issue(
        service,
        AccessTokenRequest(
            sub=user.id,
            client_id=user.id,
            audience=granted.audience,
            scopes=granted.scopes,
            kind=user.access_token_type,
            dependencies=TokenDependencies(
                stamps=token_validity.stamps_of(subject.instance, subject),
                user=StampOwner(user.id, user.org_id),
            ),
            auth_time=now,
            extra=await _extra(service, subject, granted),
        ),
        now,
    )
    body = _response(issued, granted.scopes)
    if with_id_token and scopes.OPENID in granted.scopes:
        request = IdTokenRequest(
            sub=user.id,
            client_id=user.id,
            auth_time=now,
            amr=[AMR_KEY],
            access_token=issued.token,
        )
        body["id_token"] = await id_tokens.issue(service, request, now)
    return body


async def for_application(
    service: Service, instance: Instance, client: Client, requested: Sequence[str]
) -> dict[str, Any]:
    """Returns the token response for an application itself; the token's `sub` is no user's id.

    `requested` are the scopes, and `instance` is the installation's record. Raises `InvalidScope`
    when a scope names another organization.
    """
    _check_organization(service, client.organization, requested)
    application, now = client.application, service.clock.now()
    granted = await audiences.of_application_itself(service, application, requested)
    issued = await access_tokens.issue(
        service,
        AccessTokenRequest(
            # A resource server must not take an application for a user (RFC 9068 5).
            sub=APPLICATION_SUBJECT + application.id,
            client_id=application.id,
            audience=granted.audience,
            scopes=granted.scopes,
            kind=application.access_token_type,
            algorithm=application.signing_algorithm,
            dependencies=TokenDependencies(
                stamps=token_validity.stamps_of(instance, client=client),
                client=StampOwner(application.id, application.org_id),
            ),
        ),
        now,
    )
    return _response(issued, granted.scopes)


def _check_organization(
    service: Service, organization: Organization, requested: Sequence[str]
) -> None:
    with SCOPE_ORGANIZATION:
        if not reserved_scopes.admit(service.config, requested, organization):
            raise InvalidScope("scope names another organization than the caller's")


async def _extra(
    service: Service, subject: Subject, granted: AudienceAndScopes
) -> Mapping[str, Any]:
    """Returns the role claims of a JWT access token, where a scope requests them."""
    reserved = reserved_scopes.read(service.config, granted.scopes)
    requested = RoleClaimRequest(reserved=reserved, audience=granted.audience)
    is_jwt = subject.user.access_token_type == "jwt"  # noqa: S105 - a kind
    if not is_jwt or not requested.has_role_scope:
        return {}
    return user_claims.within_size_limit(await role_claims.read(service, subject, requested))


def _response(issued: Issued, granted: Sequence[str]) -> dict[str, Any]:
    return {
        "access_token": issued.token,
        "token_type": "Bearer",
        "expires_in": issued.expires_in,
        "scope": " ".join(granted),
    }
