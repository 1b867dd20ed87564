"""Calls on the secrets of an application: to generate a new one, to list them, and to end one
before it expires."""

from __future__ import annotations

from idp.audit import versioned_updates
from idp.audit.versioned_updates import Changed
from idp.credentials import client_secrets
from idp.credentials.client_secrets import NewSecret, Secrets
from idp.foundation.errors import FailedPrecondition
from idp.management.call import Call
from idp.management.projects import apps
from idp.records import APPLICATIONS, Application
from idp.schema import answers
from idp.schema.answers import Answer, Details
from idp.service import Service


class AppSecretGenerated(Answer, frozen=True, kw_only=True):
    """`client_secret` is returned only in this answer."""

    client_secret: str
    details: Details


async def generate(
    service: Service, call: Call, project_id: str, app_id: str, request: NewSecret
) -> AppSecretGenerated:
    """Generates a new secret for an application. The earlier one stays valid for the requested
    overlap, and tokens stay valid.

    Raises NotFound, PermissionDenied, FailedPrecondition (the application does not authenticate by
    a secret).
    """
    secret, now = service.random.token(), service.clock.now()

    async def find_client() -> Application:
        client = await apps.find_to_change(service, call, project_id, app_id)
        if client.auth_method not in apps.SECRET_METHODS:
            message = "the application doesn't authenticate with a secret"
            raise FailedPrecondition(message, error_code="app.no_secret")
        return client

    client = await versioned_updates.changed(
        service,
        APPLICATIONS,
        find_client,
        lambda client: client_secrets.rotation_fields(client, secret, request.overlap, now),
        "application.secret_generated",
        call,
        further_writes=client_secrets.last_use_deletions,
    )
    return AppSecretGenerated(client_secret=secret, details=answers.details(client, client.org_id))


async def find_all(service: Service, call: Call, project_id: str, app_id: str) -> Secrets:
    """Returns an application's valid secrets, and when each was last used. Raises NotFound."""
    application = await apps.find(service, call, project_id, app_id)
    return await client_secrets.find_all(service, application)


async def end(
    service: Service, call: Call, project_id: str, app_id: str, secret_id: str
) -> Changed:
    """Ends the earlier secret of an application, which is valid in addition to the current one,
    before it expires.

    Raises NotFound, PermissionDenied, FailedPrecondition (it is the current secret).
    """
    client = await versioned_updates.changed(
        service,
        APPLICATIONS,
        lambda: apps.find_to_change(service, call, project_id, app_id),
        lambda client: client_secrets.removal_fields(client, secret_id, service.clock.now()),
        "application.secret_ended",
        call,
        further_writes=client_secrets.last_use_deletions,
    )
    return Changed(details=answers.details(client, client.org_id))
