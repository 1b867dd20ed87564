"""The scheduled task that does the deferred work of deletions and changes
(`idp/audit/deferred_work.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.audit import deferred_work
from idp.audit.deferred_work import Step
from idp.identity.users import groups, lost_domains, superseded_addresses
from idp.management.connections import removal as connection_removal
from idp.management.projects import app_removal, granted_roles
from idp.management.projects import removal as project_removal
from idp.management.projects import states as project_states
from idp.oauth.sign_in import authorized_applications
from idp.records import DEFERRED_WORK, DeferredWorkKind
from idp.service import Service

EVERY_SECONDS: Final = 10.0

STEPS: Final[Mapping[DeferredWorkKind, Step]] = {
    "application.deleted": app_removal.purge,
    "project.deleted": project_removal.purge,
    "project.state": project_states.update_applications,
    "project_grant.changed": granted_roles.reduce_roles,
    "project_grant.deleted": granted_roles.purge,
    # A user has revoked the authorization of an application.
    "connection.removed": authorized_applications.purge,
    "domain.lost": lost_domains.process_page,
    "email.superseded": superseded_addresses.process_page,
    "group.deleted": groups.purge,
    "connection.deactivated": connection_removal.end_sessions,
    "connection.deleted": connection_removal.purge,
}


async def process_due(service: Service) -> None:
    """Does all deferred work that is stored, step by step; a task of the schedule calls it. Raises
    StorageError."""
    while page := (await service.store.find(DEFERRED_WORK)).records:
        for work in page:
            while not await deferred_work.do_step(service, work, STEPS[work.kind]):
                pass
