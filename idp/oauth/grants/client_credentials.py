"""The client credentials grant (RFC 6749 4.4): a token for a service user's or application's own
use.

Nothing is written, and there is no refresh token (4.4.3): the caller can authenticate again.
"""

from __future__ import annotations

from typing import Any, Final

from idp.identity.users import subjects
from idp.identity.users.subjects import Subject
from idp.oauth.authentication import client_authentication
from idp.oauth.errors import InvalidClient
from idp.oauth.grants import service_tokens
from idp.oauth.grants.token_request import Grant, TokenRequest
from idp.oauth.refusals import token as checks
from idp.oauth.refusals.client import CLIENT_KNOWN
from idp.oauth.tokens.validity import Client
from idp.records import (
    APPLICATIONS,
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    USERS,
    Application,
    User,
)
from storage import Follow, Key


async def respond(request: TokenRequest) -> dict[str, Any]:
    """Returns the token response with an access token for the authenticated client or service
    user.

    Raises `InvalidScope`, and `InvalidClient` when the caller or its organization is not active.
    """
    service, caller = request.service, request.caller
    with checks.SCOPE_KNOWN:
        requested = service_tokens.scopes_of(service, request.params)
    if not isinstance(caller, User):
        return await _for_application(request, requested)
    instance, organization = await request.get_many(_keys(caller))
    with CLIENT_KNOWN:
        if instance is None or organization is None:
            raise InvalidClient("the service user or its organization is not active")
        subject = Subject(instance=instance, organization=organization, user=caller)
        if not subjects.is_active(subject):
            raise InvalidClient("the service user or its organization is not active")
    return await service_tokens.for_user(service, subject, requested)


def _keys(caller: Application | User) -> list[Key]:
    """Returns the keys of the installation's record, which has a stamp that is in the token's
    digest, and of the caller's organization."""
    return [(INSTANCES, INSTANCE_ID), (ORGANIZATIONS, caller.org_id)]


async def _for_application(request: TokenRequest, requested: list[str]) -> dict[str, Any]:
    service, client = request.service, request.client
    instance, organization = await request.get_many(_keys(client))
    with CLIENT_KNOWN:
        if organization is None or organization.state != "active":
            raise InvalidClient("the application's organization is not active")
    client_with_organization = Client(client, organization)
    return await service_tokens.for_application(
        service, instance, client_with_organization, requested
    )


GRANT: Final = Grant(
    respond=respond,
    checks=checks.CLIENT_CREDENTIALS_CHECKS,
    reads=lambda params: [(INSTANCES, INSTANCE_ID)],
    follows=(
        Follow(APPLICATIONS, "org_id", ORGANIZATIONS),
        Follow(USERS, "org_id", ORGANIZATIONS),
    ),
    authenticates=client_authentication.authenticate_any,
    api_name="OIDC_GRANT_TYPE_CLIENT_CREDENTIALS",
)
