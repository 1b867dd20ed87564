"""Deactivating a user, and letting them in again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from idp import answers, changes, listing
from idp.access import Call
from idp.changes import Changed
from idp.errors import FailedPrecondition, PermissionDenied
from idp.identity import memberships, permissions, read_user, sessions, users
from idp.identity.permissions import Rights
from idp.records import MEMBERSHIPS, USERS, User
from idp.service import Service
from storage import Write

State = Literal["active", "inactive", "locked"]


class Step(NamedTuple):
    """A change of state: from which it can be made, and whether all that was issued ends."""

    before: State
    after: State
    type: str
    is_end: bool


STEPS: Final[Mapping[str, Step]] = {
    "deactivate": Step("active", "inactive", "user.deactivated", is_end=True),
    "reactivate": Step("inactive", "active", "user.reactivated", is_end=False),
    "lock": Step("active", "locked", "user.locked", is_end=True),
    "unlock": Step("locked", "active", "user.unlocked", is_end=False),
}


async def change(service: Service, call: Call, user_id: str, name: str) -> Changed:
    """Take a step of `STEPS`. Sessions and tokens that ended by it stay dead for good, and
    applications that want to hear of it are told.

    Raises NotFound; PermissionDenied: nobody shuts out who may do more than they;
    FailedPrecondition: the user is in another state, or the last owner of the instance.
    """
    step, news = STEPS[name], list[Write]()

    async def find() -> User:
        user = await read_user.find(service, call, user_id)
        rights = await permissions.of_user(service, user.id)
        if not call.rights.cover(rights):
            raise PermissionDenied("the user may do more than the caller")
        if user.state != step.before:
            raise FailedPrecondition(f"the user is not {step.before}", slug="user.state")
        if step.is_end and await _is_last_owner(service, user, rights):
            raise FailedPrecondition(
                "nobody else is an active owner of the instance", slug="user.last_owner"
            )
        subject = await users.subject_of(service, user) if step.is_end else None
        news[:] = await sessions.news_of_all(service, subject) if subject else []
        return user

    def decide(user: User) -> Mapping[str, object]:
        stamp = service.random.token(bits=64) if step.is_end else user.stamp
        return {"state": step.after, "stamp": stamp}

    user = await changes.changed(
        service, USERS, find, decide, step.type, call.actor, also=lambda *_: news
    )
    return Changed(details=answers.details(user, user.org_id))


async def _is_last_owner(service: Service, user: User, rights: Rights) -> bool:
    if "iam.member.write" not in rights.everywhere:
        return False
    held = listing.each(service, MEMBERSHIPS, {"org_id": None})
    owners = {one.user_id async for one in held if memberships.IAM_OWNER in one.roles}
    others = await service.store.get_many([(USERS, id) for id in owners - {user.id}])
    return not any(other and other.state == "active" for other in others)
