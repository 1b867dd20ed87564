"""Calls on the secrets of an application: to generate a new one, to list them, and to end one
before it expires."""

from __future__ import annotations

from idp import changes
from idp.changes import Change
from idp.credentials import client_secrets
from idp.credentials.client_secrets import NewSecret, Secrets
from idp.foundation.errors import FailedPrecondition
from idp.management.call import Call
from idp.management.projects import apps
from idp.records import APPLICATIONS
from idp.schema.answers import Answer, Changed, Details
from idp.service import Service


class AppSecretGenerated(Answer, frozen=True, kw_only=True):
    """`client_secret` is returned only in this answer."""

    client_secret: str
    details: Details


async def generate(
    service: Service, call: Call, project_id: str, app_id: str, request: NewSecret
) -> Change[AppSecretGenerated]:
    """Generates a new secret for an application. The earlier one stays valid for the requested
    overlap, and tokens stay valid.

    Raises NotFound, PermissionDenied, FailedPrecondition (the application does not authenticate by
    a secret).
    """
    secret, now = service.random.token(), service.clock.now()

    client = await apps.find_to_change(service, call, project_id, app_id)
    if client.auth_method not in apps.SECRET_METHODS:
        message = "the application doesn't authenticate with a secret"
        raise FailedPrecondition(message, error_code="app.no_secret")
    values = client_secrets.rotation_fields(client, secret, request.overlap, now)
    update = changes.updated(
        service, call, APPLICATIONS, client, values, "application.secret_generated"
    )
    return update.answered(
        AppSecretGenerated(client_secret=secret, details=update.details),
        *client_secrets.last_use_deletions(client, update.record),
    )


async def find_all(service: Service, call: Call, project_id: str, app_id: str) -> Secrets:
    """Returns an application's valid secrets, and when each was last used. Raises NotFound."""
    application = await apps.find(service, call, project_id, app_id)
    return await client_secrets.find_all(service, application)


async def end(
    service: Service, call: Call, project_id: str, app_id: str, secret_id: str
) -> Change[Changed]:
    """Ends the earlier secret of an application, which is valid in addition to the current one,
    before it expires.

    Raises NotFound, PermissionDenied, FailedPrecondition (it is the current secret).
    """
    client = await apps.find_to_change(service, call, project_id, app_id)
    values = client_secrets.removal_fields(client, secret_id, service.clock.now())
    update = changes.updated(
        service, call, APPLICATIONS, client, values, "application.secret_ended"
    )
    return update.change(*client_secrets.last_use_deletions(client, update.record))
