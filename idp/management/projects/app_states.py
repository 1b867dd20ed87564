"""Calls that deactivate and reactivate one application."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.audit import versioned_updates
from idp.audit.versioned_updates import Changed
from idp.foundation.errors import FailedPrecondition
from idp.management.call import Call
from idp.management.projects import apps, projects
from idp.management.state_transitions import StateTransition
from idp.records import APPLICATIONS, Application
from idp.schema import answers
from idp.service import Service
from storage import Write

# A reactivated application is suspended, and not active, while its project is inactive.
_TRANSITIONS: Final[Mapping[str, StateTransition]] = {
    "deactivate": StateTransition(
        ("active", "suspended"), "inactive", "application.deactivated", ends_tokens=True
    ),
    "reactivate": StateTransition(
        ("inactive",), "active", "application.reactivated", ends_tokens=False
    ),
}


async def change(service: Service, call: Call, project_id: str, app_id: str, name: str) -> Changed:
    """Deactivates or reactivates an application; `name` is `deactivate` or `reactivate`.

    A deactivation makes all tokens of the application invalid, and a reactivation does not restore
    them. Raises NotFound, PermissionDenied, FailedPrecondition (it is in that state already).
    """
    transition, guards = _TRANSITIONS[name], list[Write]()
    new_state = transition.after

    async def find() -> Application:
        nonlocal new_state
        project = await projects.find(service, call, project_id)
        client = await apps.find_to_change(service, call, project_id, app_id)
        if client.state not in transition.before:
            raise FailedPrecondition(f"the application is {client.state}", error_code="app.state")
        new_state = transition.after if transition.ends_tokens else apps.inherited_state(project)
        guards[:] = [projects.state_unchanged(project)]
        return client

    def decide(client: Application) -> Mapping[str, object]:
        return {"state": new_state, "stamp": transition.stamp(service.random, client.stamp)}

    client = await versioned_updates.changed(
        service,
        APPLICATIONS,
        find,
        decide,
        transition.event_type,
        call,
        further_writes=lambda *_: guards,
    )
    return Changed(details=answers.details(client, client.org_id))
