"""The checklist of an administrator's steps after the first start, computed by a few bounded
reads of the store."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec import Struct

from idp.audit import event_streams, retention
from idp.identity.users.memberships import IAM_OWNER
from idp.records import (
    APPLICATIONS,
    AUTHORIZATIONS,
    INSTANCE_ID,
    INSTANCES,
    MEMBERSHIPS,
    ORGANIZATIONS,
    USERS,
)
from idp.service import Service

_COUNT_LIMIT: Final = 2  # counting stops here: only the difference between one and more matters
_MAX_OWNERS: Final = 20
_MAX_SIGN_INS: Final = 50


class Checklist(Struct, frozen=True):
    """The steps that were completed since the first start.

    The fields are whether the first password was replaced, an organization and an application were
    created in addition to those of the first start, a user signed in to such an application, a
    second person has the owner role of the installation, and a mail server is configured.
    `removes_from` is the instant from which on old events will be removed from the audit log, None
    if no events will be removed.
    """

    password: bool
    organization: bool
    application: bool
    sign_in: bool
    owner: bool
    mail: bool
    removes_from: datetime | None = None


async def read_checklist(service: Service) -> Checklist:
    """Returns the checklist with the current state of this installation."""
    store = service.store
    instance = await store.get(INSTANCES, INSTANCE_ID)
    demo = instance.demo.client_id if instance and instance.demo else None
    return Checklist(
        password=instance is not None and instance.first_admin is None,
        organization=await store.count(ORGANIZATIONS, up_to=_COUNT_LIMIT) > 1,
        # The demo application, if there is one, is not counted.
        application=await store.count(APPLICATIONS, up_to=_COUNT_LIMIT) > (demo is not None),
        sign_in=await _has_sign_in(service, demo),
        owner=await _has_two_owners(service),
        mail=service.config.sends_mail,
        removes_from=await _removes_from(service),
    )


async def _removes_from(service: Service) -> datetime | None:
    heads = await event_streams.heads(service)
    days = retention.days_by_stream(service.config)
    return retention.removal_begins_at(heads, days, service.clock.now())


async def _has_sign_in(service: Service, demo: str | None) -> bool:
    """Returns whether a user has signed in to another application than the demo.

    It reads a limited number of stored authorizations.
    """
    page = await service.store.find(AUTHORIZATIONS, limit=_MAX_SIGN_INS)
    return any(session_client.client_id != demo for session_client in page.records)


async def _has_two_owners(service: Service) -> bool:
    """Returns whether at least two active persons have the owner role of the installation, so that
    one can restore the other's access."""
    page = await service.store.find(MEMBERSHIPS, {"org_id": None}, limit=_MAX_OWNERS)
    ids = [record.user_id for record in page.records if IAM_OWNER in record.roles]
    users = await service.store.get_many([(USERS, user_id) for user_id in ids])
    persons = [
        record
        for record in users
        if record and record.kind == "human" and record.state == "active"
    ]
    return len(persons) > 1
