"""Calls on the secrets of an application: to generate a new one, to list them, and to end one
before its time."""

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
    """`client_secret` is shown here and never again."""

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

    async def find_one() -> Application:
        client = await apps.find_to_change(service, call, project_id, app_id)
        if client.auth_method not in apps.BY_SECRET:
            message = "the application does not authenticate by a secret"
            raise FailedPrecondition(message, error_code="app.no_secret")
        return client

    client = await versioned_updates.changed(
        service,
        APPLICATIONS,
        find_one,
        lambda client: client_secrets.replaced(client, secret, request.overlap, now),
        "application.secret_generated",
        call,
        also=client_secrets.forgotten,
    )
    return AppSecretGenerated(client_secret=secret, details=answers.details(client, client.org_id))


async def listed(service: Service, call: Call, project_id: str, app_id: str) -> Secrets:
    """Returns an application's valid secrets, and when each was last used. Raises NotFound."""
    return await client_secrets.listed(service, await apps.find(service, call, project_id, app_id))


async def end(
    service: Service, call: Call, project_id: str, app_id: str, secret_id: str
) -> Changed:
    """Ends the earlier secret of an application, which is valid in addition to the current one,
    before its time.

    Raises NotFound, PermissionDenied, FailedPrecondition (it is the current secret).
    """
    client = await versioned_updates.changed(
        service,
        APPLICATIONS,
        lambda: apps.find_to_change(service, call, project_id, app_id),
        lambda client: client_secrets.without(client, secret_id, service.clock.now()),
        "application.secret_ended",
        call,
        also=client_secrets.forgotten,
    )
    return Changed(details=answers.details(client, client.org_id))
