"""Deletion of an application. Without its record, all tokens that were issued to it are
invalid."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from idp import changes
from idp.audit import deferred_work, events
from idp.audit.events import AuditEntry
from idp.changes import Change
from idp.clients import web_origins
from idp.foundation.errors import FailedPrecondition
from idp.management.call import Call
from idp.management.projects import apps
from idp.records import (
    APP_KEYS,
    APPLICATIONS,
    CONSENTS,
    DEFERRED_WORK,
    INSTANCE_ID,
    INSTANCES,
    Application,
    DeferredWork,
)
from idp.schema.answers import Changed
from idp.service import Service
from storage import Insert, Write

_TYPE: Final = "application.deleted"


async def remove(service: Service, call: Call, project_id: str, app_id: str) -> Change[Changed]:
    """Deletes an application with its keys and consents; the tokens that were issued to it become
    invalid.

    Raises NotFound, PermissionDenied, FailedPrecondition (it is the demo application).
    """
    app = await apps.find_to_change(service, call, project_id, app_id)
    demo = await find_demo(service)
    if demo is not None and demo.id == app.id:
        message = (
            "the demo application can't be deleted; it is inactive unless the issuer is on"
            " loopback"
        )
        raise FailedPrecondition(message, error_code="app.demo")
    work = deferred_work.new(service, _TYPE, app.id, call.actor, app.org_id)
    return changes.removed(service, call, APPLICATIONS, app, _TYPE).change(
        *_further_writes(app, work),
        afterwards=[deferred_work.first_step(service, work, purge)],
    )


def removal(service: Service, client: Application, actor: str, now: datetime) -> list[Write]:
    """Returns the writes that delete an application, which the caller commits in one unit: it is
    stored only if the application has not changed since `client` was read. `actor` is the user
    that the events name."""
    work = deferred_work.new(service, _TYPE, client.id, actor, client.org_id)
    entry = AuditEntry(_TYPE, actor, now)
    client_removal = events.removal(service.random, APPLICATIONS, client, entry)
    return [*client_removal, *_further_writes(client, work)]


async def purge(service: Service, work: DeferredWork) -> bool:
    """Removes a bounded number of the keys and consents of a deleted application, and returns
    whether none remains.

    It is a step of deferred work (`idp/audit/deferred_work.py`); `work.owner_id` is the id of the
    application.
    """
    all_keys_removed, all_consents_removed = [
        await deferred_work.delete_some(
            service, collection, where, event_type, work.actor, org_id=work.org_id
        )
        for collection, where, event_type in (
            (APP_KEYS, {"owner_id": work.owner_id}, "app_key.deleted"),
            (CONSENTS, {"client_id": work.owner_id}, "consent.deleted"),
        )
    ]
    return all_keys_removed and all_consents_removed


async def find_demo(service: Service) -> Application | None:
    """Returns the demo application, or None if there is none. Calls must not delete it, because
    the demo's page and each start with a loopback issuer need it."""
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    demo = instance.demo if instance else None
    return await service.store.get(APPLICATIONS, demo.client_id) if demo else None


def _further_writes(client: Application, work: DeferredWork) -> list[Write]:
    return [*web_origins.changes(client, None), Insert(DEFERRED_WORK, work)]
