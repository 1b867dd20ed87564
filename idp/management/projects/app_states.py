"""Calls that deactivate and reactivate one application."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from idp.audit import versioned_updates
from idp.audit.versioned_updates import Changed
from idp.foundation.errors import FailedPrecondition
from idp.management.call import Call
from idp.management.projects import apps, projects
from idp.records import APPLICATIONS, Application, AppState
from idp.schema import answers
from idp.service import Service
from storage import Write


class _ApplicationTransition(NamedTuple):
    """The states before, the type of the event, and whether all that was issued ends."""

    before: tuple[AppState, ...]
    type: str
    is_end: bool


_STEPS: Final[Mapping[str, _ApplicationTransition]] = {
    "deactivate": _ApplicationTransition(
        ("active", "suspended"), "application.deactivated", is_end=True
    ),
    "reactivate": _ApplicationTransition(("inactive",), "application.reactivated", is_end=False),
}


async def change(service: Service, call: Call, project_id: str, app_id: str, name: str) -> Changed:
    """Deactivates or reactivates an application, as `name` says (`_STEPS`).

    What a deactivation ended is not restored by a reactivation. Raises NotFound, PermissionDenied,
    FailedPrecondition (it is in that state already).
    """
    step, after, guards = _STEPS[name], list[AppState](), list[Write]()

    async def find() -> Application:
        project = await projects.find(service, call, project_id)
        client = await apps.find_to_change(service, call, project_id, app_id)
        if client.state not in step.before:
            raise FailedPrecondition(f"the application is {client.state}", slug="app.state")
        after[:] = ["inactive" if step.is_end else apps.working(project)]
        guards[:] = [projects.still_there(project)]
        return client

    def decide(client: Application) -> Mapping[str, object]:
        # All that was issued holds the stamp of that time, and ends when it changes.
        stamp = service.random.token(bits=64) if step.is_end else client.stamp
        return {"state": after[0], "stamp": stamp}

    client = await versioned_updates.changed(
        service, APPLICATIONS, find, decide, step.type, call, also=lambda *_: guards
    )
    return Changed(details=answers.details(client, client.org_id))
