"""Deferred work after an organization has given up a verified domain.

Addresses below the domain were verified by it. From then on they are verified by the
organization's statement alone, and are login names in the organization only.
"""

from __future__ import annotations

from contextlib import suppress

from msgspec import structs

from idp.audit import deferred_work, events
from idp.audit.deferred_work import BATCH_SIZE
from idp.audit.events import AuditEntry
from idp.foundation import domain_names
from idp.identity.users import lookup as user_lookup
from idp.identity.users import org_domains
from idp.records import DEFERRED_WORK, USERS, DeferredWork, OrganizationDomain, User
from idp.service import Service
from storage import Insert, Stale, Update, Write

_TYPE = "user.email_domain_lost"


def deferred_writes(service: Service, domain: OrganizationDomain, actor: str) -> list[Write]:
    """Returns the write that records the deferred work after the organization has lost the
    verified `domain`: users' addresses below it are then verified by the organization only
    (`process_page`). The caller commits it in the unit that removes the domain. Empty if the
    domain was not verified.

    `actor` is the author of the events that the work will write.
    """
    if not domain.is_verified:
        return []
    work = deferred_work.new(service, "domain.lost", domain.domain, actor, domain.org_id)
    return [Insert(DEFERRED_WORK, work)]


async def process_page(service: Service, work: DeferredWork) -> bool:
    """Does the next step of the recorded work: changes a page of the organization's users. Returns
    whether it was the last one."""
    work = await service.store.get(DEFERRED_WORK, work.id) or work
    org_id = work.org_id or ""
    if await org_domains.owner(service, work.owner_id) == org_id:
        return True  # the organization has verified the domain again
    page = await service.store.find(
        USERS, {"org_id": org_id}, order="login_key", after=work.after, limit=BATCH_SIZE
    )
    affected = [user for user in page.records if _is_affected(user, work.owner_id)]
    units = [_change(service, user, work.actor) for user in affected]
    for outcome in await service.store.commit_each(units):
        if isinstance(outcome, Stale):
            return False  # a user was changed concurrently: repeat the same page
        if outcome is not None:
            raise outcome
    if page.after is not None:
        with suppress(Stale):  # another process has recorded its progress
            await service.store.commit(
                Update(
                    DEFERRED_WORK,
                    work.id,
                    set={"after": page.after},
                    expect={"kind": work.kind},
                )
            )
    return page.after is None


def _is_affected(user: User, domain: str) -> bool:
    email = user.email
    if email is None or not email.is_verified or email.verified_by != "domain":
        return False
    return domain_names.key(email.address.rpartition("@")[2]) == domain


def _change(service: Service, user: User, actor: str) -> list[Write]:
    assert user.email is not None  # noqa: S101 - `_is_affected` has checked it
    now = service.clock.now()
    email = structs.replace(user.email, verified_by="organization")
    changes = {
        "email": email,
        "email_key": user_lookup.email_key(email, user.org_id),
        "changed_at": now,
    }
    return events.update(service.random, USERS, user, changes, AuditEntry(_TYPE, actor, now))
