"""Changing a password: the check of the new one, and the writes that replace the old one."""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec import Struct, structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.identity.factors import second_factors
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import password_acceptance
from idp.identity.users.subjects import Subject
from idp.mail.templates import security as security_messages
from idp.passwords import policy as password_policy
from idp.policies import effective
from idp.records import INSTANCES, USERS, Instance, Password, User
from idp.service import Service
from storage import Update, Write


class PasswordChange(Struct, frozen=True):
    """The writes of the change, for the caller to commit, and the subject as it is after that
    (with a new security stamp)."""

    writes: list[Write]
    subject: Subject


async def chosen_problems(
    service: Service, subject: Subject, password: str, *, application: str = ""
) -> list[password_policy.PasswordProblem]:
    """Returns why the user can't choose this password; empty if it is accepted. `application` is
    the name of the application that the user is signing in to.

    Raises HashingBusy.
    """
    has_factor = await second_factors.is_asked_for(service, subject.user)
    return await chosen_problems_with(
        service, subject, password, has_factor=has_factor, application=application
    )


async def chosen_problems_with(
    service: Service,
    subject: Subject,
    password: str,
    *,
    has_factor: bool,
    application: str = "",
) -> list[password_policy.PasswordProblem]:
    """Returns why the user can't choose this password, if the user has a second factor
    (`has_factor`) or has none; empty if it is accepted. `application` is the name of the
    application that the user is signing in to.

    Raises HashingBusy.
    """
    words = [*await _words(service, subject), application]
    required = await password_acceptance.chosen_requirements(
        service, subject.user.org_id, words, has_factor=has_factor
    )
    return await _problems(service, subject, password, required)


async def initial_problems(
    service: Service, subject: Subject, password: str
) -> list[password_policy.PasswordProblem]:
    """Returns why an administrator or a program can't set this password for the user; empty if it
    is accepted. Raises HashingBusy."""
    words = await _words(service, subject)
    required = await password_acceptance.initial_requirements(service, subject.user.org_id, words)
    return await _problems(service, subject, password, required)


async def _words(service: Service, subject: Subject) -> list[str]:
    user = subject.user
    return await password_acceptance.words_of(
        service, subject.organization, user.user_name, user.profile, user.email
    )


async def _problems(
    service: Service, subject: Subject, password: str, required: password_policy.Requirements
) -> list[password_policy.PasswordProblem]:
    reasons = await password_acceptance.problems(service, password, required)
    current = subject.user.password
    # Only for passwords that are accepted otherwise, because hashing is slow.
    if not reasons and current is not None:
        if (await service.hasher.verify(password, current.hash)).ok:
            return [password_policy.unchanged()]
    return reasons


async def is_due(service: Service, user: User) -> bool:
    """Returns whether the user has to choose a new password at the sign-in, because it must be
    changed or is older than the policy allows."""
    if user.password is None:
        return False
    return user.password.must_change or await _is_too_old(service, user.org_id, user.password)


async def _is_too_old(service: Service, org_id: str, password: Password) -> bool:
    days = (await effective.age(service, org_id)).max_age_days
    return days > 0 and service.clock.now() - password.changed_at >= timedelta(days=days)


async def prepare(service: Service, subject: Subject, password: str, actor: str) -> PasswordChange:
    """Returns the change that replaces the password by `password`, for the caller to commit. All
    sessions and tokens of the user end with the old security stamp; logout messages to
    applications and a mail to the user are among the writes.

    `actor` is that of the event. Of two concurrent changes one fails with Stale: so a one-time
    password can be used only once. Raises HashingBusy.
    """
    user, now = subject.user, service.clock.now()
    new = await password_acceptance.hashed(service, user.org_id, password)
    stamp = service.random.token(bits=64)
    change = Update(
        USERS,
        user.id,
        set={"password": new, "stamp": stamp, "changed_at": now},
        increment={"sequence": 1},
        expect={"sequence": user.sequence, "stamp": user.stamp, "state": "active"},
    )
    event = events.changed(
        service.random, USERS, user, AuditEntry("user.password_changed", actor, now)
    )
    writes: list[Write] = [
        change,
        event,
        *await session_lifetime.logout_messages_of_all(service, subject),
    ]
    writes += forget_first_password(service, subject.instance, user.id, actor=actor, now=now)
    writes += security_messages.password_changed(service, user)
    changed_user = structs.replace(
        user, password=new, stamp=stamp, changed_at=now, sequence=user.sequence + 1
    )
    return PasswordChange(writes=writes, subject=structs.replace(subject, user=changed_user))


def forget_first_password(
    service: Service, instance: Instance, user_id: str, *, actor: str, now: datetime
) -> list[Write]:
    """Returns the writes that delete the one-time password which the start page prints, if it is
    that of the user `user_id`; otherwise none.

    `actor` is that of the event.
    """
    first_admin = instance.first_admin
    if first_admin is None or first_admin.user_id != user_id:
        return []
    values = {"first_admin": None}
    entry = AuditEntry("instance.first_admin_forgotten", actor, now)
    return events.update(service.random, INSTANCES, instance, values, entry)
