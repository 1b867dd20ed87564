"""Calls that deactivate and reactivate a project with all its applications.

The record of an application contains whether its project is inactive, so that a request of a
client needs no read of the project. The unit that changes the project includes its first
applications, usually all of them; the others follow, a bounded number within the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from idp import changes
from idp.audit import deferred_work, events
from idp.audit.events import AuditEntry
from idp.changes import Change
from idp.foundation.errors import FailedPrecondition
from idp.management.call import Call
from idp.management.projects import projects, protected_projects
from idp.management.state_transitions import StateTransition
from idp.records import APPLICATIONS, DEFERRED_WORK, PROJECTS, DeferredWork, Project
from idp.schema.answers import Changed
from idp.service import Service
from storage import Insert, Stale, Write

BATCH_SIZE: Final = 100  # applications in one unit
_UNITS_PER_STEP: Final = 10

_TRANSITIONS: Final[Mapping[str, StateTransition]] = {
    "deactivate": StateTransition(
        ("active",), "inactive", "project.deactivated", ends_tokens=True
    ),
    "reactivate": StateTransition(
        ("inactive",), "active", "project.reactivated", ends_tokens=False
    ),
}
# The transitions of the applications, by the new state of their project.
_APPLICATION_TRANSITIONS: Final[Mapping[str, StateTransition]] = {
    "inactive": StateTransition(
        ("active",), "suspended", "application.suspended", ends_tokens=True
    ),
    "active": StateTransition(("suspended",), "active", "application.resumed", ends_tokens=False),
}


async def change(service: Service, call: Call, project_id: str, name: str) -> Change[Changed]:
    """Deactivates or reactivates a project; `name` is `deactivate` or `reactivate`.

    A deactivation makes all tokens of its applications invalid, and a reactivation does not
    restore them. Raises NotFound, PermissionDenied, FailedPrecondition (it is in that state
    already).
    """
    transition = _TRANSITIONS[name]
    project = await protected_projects.find(service, call, project_id)
    if project.state not in transition.before:
        raise FailedPrecondition(f"the project is {project.state}", error_code="project.state")
    update = changes.updated(
        service, call, PROJECTS, project, {"state": transition.after}, transition.event_type
    )
    work = deferred_work.new(service, "project.state", project_id, call.actor)
    return update.change(
        *await _application_updates(service, update.record, call.actor),
        Insert(DEFERRED_WORK, work),
        afterwards=[deferred_work.first_step(service, work, update_applications)],
    )


async def update_applications(service: Service, work: DeferredWork) -> bool:
    """Gives a bounded number of applications the state of their project, and returns whether all
    of them have it.

    It is a step of deferred work (`idp/audit/deferred_work.py`); `work.owner_id` is the id of the
    project.
    """
    for _ in range(_UNITS_PER_STEP):
        project = await service.store.get(PROJECTS, work.owner_id)
        writes = await _application_updates(service, project, work.actor) if project else []
        if project is None or not writes:
            return True
        with suppress(Stale):  # the project or an application changed: both are read again
            await changes.store(service, projects.state_unchanged(project), *writes)
    return False


async def _application_updates(service: Service, project: Project, actor: str) -> list[Write]:
    """Returns the writes that give the state of the project to the first of its applications that
    have another one."""
    transition, writes = _APPLICATION_TRANSITIONS[project.state], list[Write]()
    where = {"project_id": project.id, "state": transition.before[0]}
    now = service.clock.now()
    entry = AuditEntry(transition.event_type, actor, now)
    page = await service.store.find(APPLICATIONS, where, limit=BATCH_SIZE)
    for client in page.records:
        stamp = transition.stamp(service.random, client.stamp)
        values = {"state": transition.after, "stamp": stamp, "changed_at": now}
        writes += events.update(service.random, APPLICATIONS, client, values, entry)
    return writes
