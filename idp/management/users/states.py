"""Calls that deactivate, lock, reactivate and unlock a user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from idp import changes
from idp.changes import Change
from idp.foundation.errors import FailedPrecondition
from idp.identity.guesses import counter_resets
from idp.identity.users import lookup as user_lookup
from idp.identity.users.ending import ending_writes
from idp.management.call import Call
from idp.management.state_transitions import StateTransition
from idp.management.users import manageable
from idp.records import USERS
from idp.schema import answers
from idp.schema.answers import Changed
from idp.service import Service

_TRANSITIONS: Final[Mapping[str, StateTransition]] = {
    "deactivate": StateTransition(("active",), "inactive", "user.deactivated", ends_tokens=True),
    "reactivate": StateTransition(("inactive",), "active", "user.reactivated", ends_tokens=False),
    "lock": StateTransition(("active",), "locked", "user.locked", ends_tokens=True),
    "unlock": StateTransition(("locked",), "active", "user.unlocked", ends_tokens=False),
}


async def change(service: Service, call: Call, user_id: str, name: str) -> Change[Changed]:
    """Changes the state of a user; `name` is `deactivate`, `reactivate`, `lock` or `unlock`.

    Sessions and tokens that end with it are not restored by a later change, and applications with
    a logout address are informed. Raises NotFound; PermissionDenied if the user has more rights
    than the caller; FailedPrecondition if the user is in another state, or is the last active
    owner of the installation or of an organization.
    """
    transition = _TRANSITIONS[name]
    user = await manageable.find(service, call, user_id)
    if user.state not in transition.before:
        message = f"the user is not {transition.before[0]}"
        raise FailedPrecondition(message, error_code="user.state")
    values = {
        "state": transition.after,
        "stamp": transition.stamp(service.random, user.stamp),
        "locked_until": None,
    }
    update = changes.updated(service, call, USERS, user, values, transition.event_type)
    return update.change(*(await ending_writes(service, user) if transition.ends_tokens else []))


async def unlock(service: Service, call: Call, user_id: str) -> Change[Changed]:
    """Unlocks a user and sets the counts of wrong passwords and codes to zero.

    For an active user with such counts it changes only the counts. Raises NotFound;
    PermissionDenied; FailedPrecondition if there is nothing to unlock.
    """
    user = await manageable.find(service, call, user_id)
    subject = await user_lookup.subject_of(service, user)
    if user.state == "active":
        changes.check_version(user, call)
        if subject and (resets := await counter_resets.writes(service, subject)):
            return Change(Changed(details=answers.details(user, user.org_id)), resets)
    unlocking = await change(service, call, user_id, "unlock")
    if subject is None:
        return unlocking
    return replace(unlocking, afterwards=[partial(counter_resets.forget, service, subject)])
