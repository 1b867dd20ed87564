"""Calls that deactivate an organization, with its users and applications, and reactivate it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp import changes
from idp.changes import Change
from idp.foundation.errors import FailedPrecondition
from idp.identity.users import memberships
from idp.management import call as management_call
from idp.management.call import Call
from idp.management.organizations import protected_organizations
from idp.management.state_transitions import StateTransition
from idp.records import INSTANCE_ID, INSTANCES, ORGANIZATIONS, Organization
from idp.schema.answers import Changed
from idp.service import Service
from storage import Write

_TRANSITIONS: Final[Mapping[str, StateTransition]] = {
    "deactivate": StateTransition(
        ("active",), "inactive", "organization.deactivated", ends_tokens=True
    ),
    "reactivate": StateTransition(
        ("inactive",), "active", "organization.reactivated", ends_tokens=False
    ),
}


async def change(service: Service, call: Call, name: str) -> Change[Changed]:
    """Deactivates or reactivates the call's organization; `name` is `deactivate` or `reactivate`.

    A deactivation makes all sessions and tokens of its users and applications invalid, and a
    reactivation does not restore them. Raises PermissionDenied, NotFound, FailedPrecondition (it
    is in that state already), and what `owner_guards` raises.
    """
    transition = _TRANSITIONS[name]
    organization = await management_call.organization(service, call)
    if organization.state not in transition.before:
        message = f"the organization is {organization.state}"
        raise FailedPrecondition(message, error_code="organization.state")
    guards = await owner_guards(service, call, organization) if transition.ends_tokens else []
    stamp = transition.stamp(service.random, organization.stamp)
    values, event = {"state": transition.after, "stamp": stamp}, transition.event_type
    return changes.updated(
        service, call, ORGANIZATIONS, organization, values, event, organization.id
    ).change(*guards)


async def owner_guards(service: Service, call: Call, organization: Organization) -> list[Write]:
    """Returns the guards for the unit that deactivates or deletes the organization: it is stored
    only if the installation keeps an active owner in another organization.

    Raises FailedPrecondition if it is the installation's own organization, or has the last owner
    of the installation; PermissionDenied if it has a user or an application that the caller may
    not end.
    """
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is not None and instance.org_id == organization.id:
        message = "the installation's own organization must stay active"
        raise FailedPrecondition(message, error_code="organization.of_instance")
    await protected_organizations.check(service, call, organization)
    guards = await memberships.owner_outside(service, organization.id)
    if not guards:
        message = "no user of another organization is an active owner of the instance"
        raise FailedPrecondition(message, error_code="organization.last_owner")
    return guards
