"""Calls that deactivate, lock, reactivate and unlock a user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from idp.audit import versioned_updates
from idp.audit.versioned_updates import Changed
from idp.foundation.errors import FailedPrecondition
from idp.identity.guesses import resets as guess_resets
from idp.identity.users.ending import ending_writes
from idp.management.call import Call
from idp.management.users import manageable
from idp.records import USERS, User
from idp.schema import answers
from idp.service import Service
from storage import Write

State = Literal["active", "inactive", "locked"]


class UserTransition(NamedTuple):
    """A change of state: the state before and after, the type of the event, and whether all
    that was issued ends."""

    before: State
    after: State
    type: str
    is_end: bool


STEPS: Final[Mapping[str, UserTransition]] = {
    "deactivate": UserTransition("active", "inactive", "user.deactivated", is_end=True),
    "reactivate": UserTransition("inactive", "active", "user.reactivated", is_end=False),
    "lock": UserTransition("active", "locked", "user.locked", is_end=True),
    "unlock": UserTransition("locked", "active", "user.unlocked", is_end=False),
}


async def change(service: Service, call: Call, user_id: str, name: str) -> Changed:
    """Changes the state of a user, as `name` says (`STEPS`).

    Sessions and tokens that end with it are not restored by a later change, and applications with
    a logout address are informed. Raises NotFound; PermissionDenied if the user has more rights
    than the caller; FailedPrecondition if the user is in another state, or is the last active
    owner of the installation or of an organization.
    """
    step, also = STEPS[name], list[Write]()

    async def find() -> User:
        user = await manageable.find(service, call, user_id)
        if user.state != step.before:
            raise FailedPrecondition(f"the user is not {step.before}", slug="user.state")
        also[:] = await ending_writes(service, user) if step.is_end else []
        return user

    def decide(user: User) -> Mapping[str, object]:
        # Sessions and tokens hold the stamp of their time, and end when it changes.
        stamp = service.random.token(bits=64) if step.is_end else user.stamp
        return {"state": step.after, "stamp": stamp, "locked_until": None}

    user = await versioned_updates.changed(
        service, USERS, find, decide, step.type, call, also=lambda *_: also
    )
    return Changed(details=answers.details(user, user.org_id))


async def unlock(service: Service, call: Call, user_id: str) -> Changed:
    """Unlocks a user and resets the counts of wrong passwords and codes.

    For an active user with such counts it resets only these. Raises NotFound, PermissionDenied,
    FailedPrecondition.
    """
    user = await manageable.find(service, call, user_id)
    if user.state == "active":
        versioned_updates.check_sequence(user, call)
        if await guess_resets.forget(service, user):
            return Changed(details=answers.details(user, user.org_id))
    changed = await change(service, call, user_id, "unlock")
    await guess_resets.forget_afterwards(service, user)
    return changed
