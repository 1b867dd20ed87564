"""Calls that deactivate, lock, reactivate and unlock a user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.audit import versioned_updates
from idp.foundation.errors import FailedPrecondition
from idp.identity.guesses import counter_resets
from idp.identity.users import lookup as user_lookup
from idp.identity.users.ending import ending_writes
from idp.management.call import Call
from idp.management.state_transitions import StateTransition
from idp.management.users import manageable
from idp.records import USERS, User
from idp.schema import answers
from idp.schema.answers import Changed
from idp.service import Service
from storage import Write

_TRANSITIONS: Final[Mapping[str, StateTransition]] = {
    "deactivate": StateTransition(("active",), "inactive", "user.deactivated", ends_tokens=True),
    "reactivate": StateTransition(("inactive",), "active", "user.reactivated", ends_tokens=False),
    "lock": StateTransition(("active",), "locked", "user.locked", ends_tokens=True),
    "unlock": StateTransition(("locked",), "active", "user.unlocked", ends_tokens=False),
}


async def change(service: Service, call: Call, user_id: str, name: str) -> Changed:
    """Changes the state of a user; `name` is `deactivate`, `reactivate`, `lock` or `unlock`.

    Sessions and tokens that end with it are not restored by a later change, and applications with
    a logout address are informed. Raises NotFound; PermissionDenied if the user has more rights
    than the caller; FailedPrecondition if the user is in another state, or is the last active
    owner of the installation or of an organization.
    """
    transition, further_writes = _TRANSITIONS[name], list[Write]()

    async def find() -> User:
        user = await manageable.find(service, call, user_id)
        if user.state not in transition.before:
            message = f"the user is not {transition.before[0]}"
            raise FailedPrecondition(message, error_code="user.state")
        further_writes[:] = await ending_writes(service, user) if transition.ends_tokens else []
        return user

    def decide(user: User) -> Mapping[str, object]:
        stamp = transition.stamp(service.random, user.stamp)
        return {"state": transition.after, "stamp": stamp, "locked_until": None}

    user = await versioned_updates.changed(
        service,
        USERS,
        find,
        decide,
        transition.event_type,
        call,
        further_writes=lambda *_: further_writes,
    )
    return Changed(details=answers.details(user, user.org_id))


async def unlock(service: Service, call: Call, user_id: str) -> Changed:
    """Unlocks a user and sets the counts of wrong passwords and codes to zero.

    For an active user with such counts it changes only the counts. Raises NotFound;
    PermissionDenied; FailedPrecondition if there is nothing to unlock.
    """
    user = await manageable.find(service, call, user_id)
    subject = await user_lookup.subject_of(service, user)
    if user.state == "active":
        versioned_updates.check_sequence(user, call)
        if subject and await counter_resets.forget(service, subject):
            return Changed(details=answers.details(user, user.org_id))
    changed = await change(service, call, user_id, "unlock")
    if subject is not None:
        await counter_resets.forget_afterwards(service, subject)
    return changed
