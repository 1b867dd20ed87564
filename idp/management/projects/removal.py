"""Deletion of a project with its applications, roles and grants.

Its record is deleted in one unit with its first applications, usually all of them; from then on
nothing can be added to it. The other applications follow, a bounded number within the call, then
its roles, project grants and role assignments.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from idp import changes
from idp.audit import deferred_work
from idp.changes import Change
from idp.foundation.errors import FailedPrecondition
from idp.management.call import Call
from idp.management.projects import app_removal, protected_projects
from idp.records import (
    APPLICATIONS,
    DEFERRED_WORK,
    PROJECT_GRANTS,
    PROJECT_ROLES,
    PROJECTS,
    ROLE_ASSIGNMENTS,
    DeferredWork,
)
from idp.records.groups import GROUP_GRANTS
from idp.schema.answers import Changed
from idp.service import Service
from storage import Insert, Stale, Write

BATCH_SIZE: Final = 50  # applications in one unit; each has up to a hundred origins
_UNITS_PER_STEP: Final = 10
_TYPE: Final = "project.deleted"


async def remove(service: Service, call: Call, project_id: str) -> Change[Changed]:
    """Deletes a project with its applications and their keys, its roles and their assignments.

    All tokens that were issued to its applications become invalid. Raises NotFound,
    PermissionDenied, FailedPrecondition (the demo application is in it).
    """
    project = await protected_projects.find(service, call, project_id)
    demo = await app_removal.find_demo(service)
    if demo is not None and demo.project_id == project.id:
        message = "the project contains the demo application, which can't be deleted"
        raise FailedPrecondition(message, error_code="project.demo")
    work = deferred_work.new(service, _TYPE, project.id, call.actor)

    return changes.removed(service, call, PROJECTS, project, _TYPE).change(
        *await _application_removals(service, project.id, call.actor),
        Insert(DEFERRED_WORK, work),
        afterwards=[deferred_work.first_step(service, work, purge)],
    )


async def purge(service: Service, work: DeferredWork) -> bool:
    """Removes a bounded number of records that were in a deleted project, and returns whether none
    remains.

    It is a step of deferred work (`idp/audit/deferred_work.py`); `work.owner_id` is the id of the
    project.
    """
    project_id, actor = work.owner_id, work.actor
    for _ in range(_UNITS_PER_STEP):
        writes = await _application_removals(service, project_id, actor)
        if not writes:
            break
        with suppress(Stale):  # an application changed: the next iteration reads it again
            await changes.store(service, *writes)
    else:
        return False
    where, delete_some = {"project_id": project_id}, deferred_work.delete_some
    # A role is assigned in a unit with a guard that it exists. So once the roles are removed, no
    # new assignment can appear after the last step.
    event_type = "project_role.deleted"
    if not await delete_some(service, PROJECT_ROLES, where, event_type, actor, order="key"):
        return False
    if not await delete_some(service, PROJECT_GRANTS, where, "project_grant.deleted", actor):
        return False
    if not await delete_some(service, GROUP_GRANTS, where, "group_grant.deleted", actor):
        return False
    return await delete_some(service, ROLE_ASSIGNMENTS, where, "role_assignment.deleted", actor)


async def _application_removals(service: Service, project_id: str, actor: str) -> list[Write]:
    """Returns the writes that delete the first applications of a project."""
    writes, now = list[Write](), service.clock.now()
    page = await service.store.find(
        APPLICATIONS, {"project_id": project_id}, order="name", limit=BATCH_SIZE
    )
    for client in page.records:
        writes += app_removal.removal(service, client, actor, now)
    return writes
