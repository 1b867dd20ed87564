"""Calls that deactivate and reactivate a project with all its applications.

The record of an application says that its project is inactive, so that a request of a client needs
no further read for it. The unit that changes the project has its first applications in it, usually
all of them; the others follow, a bounded number within the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final, Literal, NamedTuple

from msgspec import structs

from idp.audit import deferred_work, events, versioned_updates
from idp.audit.events import AuditEntry
from idp.audit.versioned_updates import Changed
from idp.foundation.errors import FailedPrecondition
from idp.management.call import Call
from idp.management.projects import projects, protected_projects
from idp.records import APPLICATIONS, LEFTOVERS, PROJECTS, AppState, Leftover, Project
from idp.schema import answers
from idp.service import Service
from storage import Insert, Stale, Write
from storage.settling import commit_settled

AT_ONCE: Final = 100  # applications in one unit
_UNITS: Final = 10  # in one step

State = Literal["active", "inactive"]


class _ProjectTransition(NamedTuple):
    """The state after, and the type of the event."""

    after: State
    type: str


class _Following(NamedTuple):
    """The state before and after of the applications of a project, and the type of the event."""

    before: AppState
    after: AppState
    type: str


_STEPS: Final[Mapping[str, _ProjectTransition]] = {
    "deactivate": _ProjectTransition("inactive", "project.deactivated"),
    "reactivate": _ProjectTransition("active", "project.reactivated"),
}
_FOLLOWING: Final[Mapping[State, _Following]] = {
    "inactive": _Following("active", "suspended", "application.suspended"),
    "active": _Following("suspended", "active", "application.resumed"),
}


async def change(service: Service, call: Call, project_id: str, name: str) -> Changed:
    """Deactivates or reactivates a project, as `name` says (`_STEPS`).

    All that was issued to its applications ends with a deactivation, and is not restored by a
    reactivation. Raises NotFound, PermissionDenied, FailedPrecondition (it is in that state
    already).
    """
    step, first = _STEPS[name], list[Write]()
    leftover = deferred_work.new(service, "project.state", project_id, call.actor)

    async def find() -> Project:
        project = await protected_projects.find(service, call, project_id)
        if project.state == step.after:
            raise FailedPrecondition(f"the project is {project.state}", slug="project.state")
        turned = structs.replace(project, state=step.after)
        first[:] = await _first(service, turned, call.actor)
        return project

    project = await versioned_updates.changed(
        service,
        PROJECTS,
        find,
        lambda _: {"state": step.after},
        step.type,
        call,
        also=lambda *_: [*first, Insert(LEFTOVERS, leftover)],
    )
    await deferred_work.begin(service, leftover, follow)
    return Changed(details=answers.details(project, project.org_id))


async def follow(service: Service, leftover: Leftover) -> bool:
    """Gives applications the state of their project: a step of `idp/audit/deferred_work.py`."""
    for _ in range(_UNITS):
        project = await service.store.get(PROJECTS, leftover.owner_id)
        writes = await _first(service, project, leftover.actor) if project else []
        if project is None or not writes:
            return True
        with suppress(Stale):  # the project or an application changed: both are read again
            await commit_settled(service.store, projects.still_there(project), *writes)
    return False


async def _first(service: Service, project: Project, actor: str) -> list[Write]:
    """Returns the writes that give the first applications the state of the project."""
    following, writes, now = _FOLLOWING[project.state], list[Write](), service.clock.now()
    where = {"project_id": project.id, "state": following.before}
    page = await service.store.find(APPLICATIONS, where, limit=AT_ONCE)
    for client in page.records:
        is_end = project.state == "inactive"
        stamp = service.random.token(bits=64) if is_end else client.stamp
        values = {"state": following.after, "stamp": stamp, "changed_at": now}
        writes += events.update(
            service.random, APPLICATIONS, client, values, AuditEntry(following.type, actor, now)
        )
    return writes
