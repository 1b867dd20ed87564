"""Choosing a new password: the policy, and the unit of writes that replaces the old one."""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec import Struct, structs

from idp import events
from idp.identity import passwords, security_letters, sessions
from idp.identity.subjects import Subject
from idp.policies import effective
from idp.records import INSTANCES, USERS, Instance, Password, User
from idp.service import Service
from storage import Update, Write


class Change(Struct, frozen=True):
    """The writes, and the subject as it is once they are committed (with a new stamp)."""

    writes: list[Write]
    subject: Subject


async def problems(service: Service, subject: Subject, password: str) -> list[passwords.Problem]:
    """What keeps `password` from being this user's next one; empty when it is fine.

    Raises HashingBusy.
    """
    user = subject.user
    names = [user.user_name, user.profile.display_name, subject.organization.name]
    names += [user.profile.given_name or "", user.profile.family_name or ""]
    names += [user.email.address] if user.email else []
    found = passwords.policy_problems(
        password,
        rules=await effective.complexity(service, user.org_id),
        own_words=names,
        max_bytes=service.hasher.max_bytes,
    )
    if not found and user.password is not None:
        if (await service.hasher.verify(password, user.password.hash)).ok:
            return [passwords.unchanged()]
    return found


async def is_due(service: Service, user: User) -> bool:
    """Whether the user has to choose a new password before anything else."""
    if user.password is None:
        return False
    return user.password.must_change or await _is_too_old(service, user.org_id, user.password)


async def _is_too_old(service: Service, org_id: str, password: Password) -> bool:
    days = (await effective.age(service, org_id)).max_age_days
    return days > 0 and service.clock.now() - password.changed_at >= timedelta(days=days)


async def prepare(service: Service, subject: Subject, password: str, actor: str) -> Change:
    """Replace the password; every session and token of the user ends with the old stamp, and
    applications that want to hear of it are told, as the user is by mail.

    Of two changes at once, one is Stale: that is what makes a one-time password count once.
    Raises HashingBusy.
    """
    user, now = subject.user, service.clock.now()
    new = Password(hash=await service.hasher.hash(password), changed_at=now)
    stamp = service.random.token(bits=64)
    change = Update(
        USERS,
        user.id,
        set={"password": new, "stamp": stamp, "changed_at": now},
        increment={"sequence": 1},
        expect={"sequence": user.sequence, "stamp": user.stamp, "state": "active"},
    )
    event = events.changed(service.random, USERS, user, "user.password_changed", actor, now)
    writes: list[Write] = [change, event, *await sessions.news_of_all(service, subject)]
    writes += forget_first_password(service, subject.instance, user.id, actor=actor, now=now)
    writes += security_letters.password_changed(service, user)
    changed = structs.replace(
        user, password=new, stamp=stamp, changed_at=now, sequence=user.sequence + 1
    )
    return Change(writes=writes, subject=structs.replace(subject, user=changed))


def forget_first_password(
    service: Service, instance: Instance, user_id: str, *, actor: str, now: datetime
) -> list[Write]:
    """Forget the one-time password that the start page prints, if it was this user's."""
    first = instance.first_admin
    if first is None or first.user_id != user_id:
        return []
    forgotten, type = {"first_admin": None}, "instance.first_admin_forgotten"
    return events.update(service.random, INSTANCES, instance, forgotten, type, actor, now)
