"""Memberships: a user's roles in the installation or in an organization, one record for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from idp import changes
from idp.audit import events
from idp.audit.events import AuditEntry
from idp.changes import Change
from idp.foundation import opaque_tokens
from idp.foundation.errors import FailedPrecondition
from idp.foundation.randomness import Random
from idp.records import MEMBERSHIPS, ORGANIZATIONS, USERS, Membership, User
from idp.search import paging
from idp.service import Service
from storage import Update, Write

IAM_OWNER: Final = "IAM_OWNER"
ORG_OWNER: Final = "ORG_OWNER"


def new(user_id: str, org_id: str | None, roles: Sequence[str], now: datetime) -> Membership:
    """Returns a membership that is not stored yet; `org_id` None means the installation."""
    return Membership(
        id=id_of(user_id, org_id),
        user_id=user_id,
        org_id=org_id,
        roles=list(roles),
        created_at=now,
        changed_at=now,
    )


def id_of(user_id: str, org_id: str | None) -> str:
    """Returns the id of a membership. A user has one per organization, so of two concurrent
    creations one fails with Conflict."""
    return opaque_tokens.digest(f"{user_id}\n{org_id or ''}")


def insertion(random: Random, membership: Membership, actor: str, now: datetime) -> list[Write]:
    """Returns the writes that store a new membership with its event, for the caller to commit."""
    entry = AuditEntry("membership.created", actor, now, payload={"user": membership.user_id})
    return events.insertion(random, MEMBERSHIPS, membership, entry)


async def find(service: Service, user_id: str, org_id: str | None) -> Membership | None:
    """Returns the user's membership in the organization (None: the installation), if there is
    one."""
    return await service.store.get(MEMBERSHIPS, id_of(user_id, org_id))


def owner_of(org_id: str | None) -> str:
    """Returns the name of the owner's role in the organization; in the installation if `org_id` is
    None."""
    return IAM_OWNER if org_id is None else ORG_OWNER


async def another_owner(service: Service, org_id: str | None, user_id: str) -> list[Write]:
    """Returns guards, for a unit, that a user other than `user_id` is an active owner of the
    organization (None: the installation); empty if there is no such user."""
    return await _owner(service, org_id, lambda user: user.id != user_id)


async def owner_guards(service: Service, user_id: str) -> list[Write]:
    """Returns guards, for the unit that ends the user, that each organization the user owns, and
    the installation, has another active owner.

    Raises FailedPrecondition if one of them has none.
    """
    guards: dict[tuple[str, str], Write] = {}
    async for membership in paging.each(service, MEMBERSHIPS, {"user_id": user_id}):
        if owner_of(membership.org_id) not in membership.roles:
            continue
        other_owner = await another_owner(service, membership.org_id, user_id)
        if not other_owner:
            owned = "the instance" if membership.org_id is None else "an organization"
            message = f"there is no other active owner of {owned}"
            raise FailedPrecondition(message, error_code="user.last_owner")
        guards |= {(each.collection.name, each.id): each for each in other_owner}
    return list(guards.values())


async def owner_outside(service: Service, org_id: str) -> list[Write]:
    """Returns guards, for the unit that ends the organization, that the installation has an active
    owner who belongs to another organization; empty if it has none."""
    return await _owner(service, None, lambda user: user.org_id != org_id)


async def _owner(
    service: Service, org_id: str | None, is_candidate: Callable[[User], bool]
) -> list[Write]:
    """Guards that one of the users whom `is_candidate` selects is an active owner there."""
    async for membership in paging.each(service, MEMBERSHIPS, {"org_id": org_id}):
        if owner_of(org_id) not in membership.roles:
            continue
        user = await service.store.get(USERS, membership.user_id)
        if user is None or not is_candidate(user):
            continue
        organization = await service.store.get(ORGANIZATIONS, user.org_id)
        if (
            user.state == "active"
            and organization
            and (organization.id == org_id or organization.state == "active")
        ):
            return [
                Update(MEMBERSHIPS, membership.id, expect={"sequence": membership.sequence}),
                Update(USERS, user.id, expect={"state": "active"}),
                Update(ORGANIZATIONS, organization.id, expect={"state": organization.state}),
            ]
    return []


async def grant(
    service: Service, user_id: str, org_id: str | None, role: str, *, actor: str
) -> bool:
    """Stores that the user has the role in the organization (None: in the installation), with an
    event; returns False if the user has it already."""

    async def plan() -> Change[bool]:
        stored = await find(service, user_id, org_id)
        if stored is None:
            now = service.clock.now()
            membership = new(user_id, org_id, [role], now)
            return Change(True, insertion(service.random, membership, actor, now))
        if role in stored.roles:
            return Change(False)
        values, author = {"roles": [*stored.roles, role]}, changes.by(actor)
        update = changes.updated(
            service, author, MEMBERSHIPS, stored, values, "membership.changed"
        )
        return update.answered(True)

    return await changes.commit(service, plan)
