"""Calls that deactivate and reactivate one application."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp import changes
from idp.changes import Change
from idp.foundation.errors import FailedPrecondition
from idp.management.call import Call
from idp.management.projects import apps, projects
from idp.management.state_transitions import StateTransition
from idp.records import APPLICATIONS
from idp.schema.answers import Changed
from idp.service import Service

# A reactivated application is suspended, and not active, while its project is inactive.
_TRANSITIONS: Final[Mapping[str, StateTransition]] = {
    "deactivate": StateTransition(
        ("active", "suspended"), "inactive", "application.deactivated", ends_tokens=True
    ),
    "reactivate": StateTransition(
        ("inactive",), "active", "application.reactivated", ends_tokens=False
    ),
}


async def change(
    service: Service, call: Call, project_id: str, app_id: str, name: str
) -> Change[Changed]:
    """Deactivates or reactivates an application; `name` is `deactivate` or `reactivate`.

    A deactivation makes all tokens of the application invalid, and a reactivation does not restore
    them. Raises NotFound, PermissionDenied, FailedPrecondition (it is in that state already).
    """
    transition = _TRANSITIONS[name]
    project = await projects.find(service, call, project_id)
    client = await apps.find_to_change(service, call, project_id, app_id)
    if client.state not in transition.before:
        raise FailedPrecondition(f"the application is {client.state}", error_code="app.state")
    state = transition.after if transition.ends_tokens else apps.inherited_state(project)
    values = {"state": state, "stamp": transition.stamp(service.random, client.stamp)}
    return changes.updated(
        service, call, APPLICATIONS, client, values, transition.event_type
    ).change(projects.state_unchanged(project))
