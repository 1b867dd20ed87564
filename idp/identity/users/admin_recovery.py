"""Recovery by an administrator: of a lost password, a locked user, or an installation without
owner."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from idp import changes
from idp.audit import events
from idp.audit.events import AuditEntry
from idp.changes import Change
from idp.foundation.errors import IdpError, NotFound
from idp.identity.guesses import counter_resets, lock_ends
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import lookup as user_lookup
from idp.identity.users import memberships, password_change
from idp.identity.users.memberships import IAM_OWNER
from idp.mail.templates import security as security_messages
from idp.records import USERS, Password, User
from idp.service import Service
from storage import Write


class NotLocked(IdpError):
    """The user is deactivated, so there is no lock to remove."""

    error_code = "user.not_locked"


async def reset_password(service: Service, login_name: str, *, actor: str) -> str:
    """Sets a one-time password for the person with this login name, and returns it. All sessions
    and tokens of the user end.

    `actor` is that of the event. Raises NotFound if no person has the login name.
    """
    return await changes.run(service, _password_reset, login_name, actor)


async def _password_reset(service: Service, login_name: str, actor: str) -> Change[str]:
    user = await user_lookup.find_by_login_name(service, login_name)
    if user is None or user.kind != "human":
        raise NotFound(f"no person has the login name {login_name}")
    password, now = service.random.one_time_password(), service.clock.now()
    writes = await one_time_password_writes(service, user, password, now, actor)
    writes += security_messages.password_changed(service, user)
    subject = await user_lookup.subject_of(service, user)
    if subject is None:
        return Change(password, writes)
    writes += await session_lifetime.logout_messages_of_all(service, subject)
    writes += password_change.forget_first_password(
        service, subject.instance, user.id, actor=actor, now=now
    )
    return Change(password, writes, [partial(counter_resets.forget, service, subject)])


async def unlock(service: Service, login_name: str, *, actor: str) -> bool:
    """Removes the lock of the user with this login name and resets the counts of failures; returns
    False if there was neither.

    Raises NotFound; NotLocked if the user is deactivated, which a lock's removal must not undo.
    """
    return await changes.run(service, _unlocking, login_name, actor)


async def _unlocking(service: Service, login_name: str, actor: str) -> Change[bool]:
    user = await _find(service, login_name)
    if user.state == "inactive":
        raise NotLocked(f"{login_name} is deactivated, not locked")
    subject = await user_lookup.subject_of(service, user)
    resets = await counter_resets.writes(service, subject) if subject else []
    if user.state != "locked":
        return Change(bool(resets), resets)
    values = {"state": "active", "locked_until": None}
    update = changes.updated(service, changes.by(actor), USERS, user, values, "user.unlocked")
    return Change(True, [*update.writes, *resets])


async def grant_owner(service: Service, login_name: str, *, actor: str) -> bool:
    """Makes the user with this login name an owner of the installation; returns False if the user
    is one already. Raises NotFound if no user has the login name."""
    user = await _find(service, login_name)
    return await memberships.grant(service, user.id, None, IAM_OWNER, actor=actor)


async def _find(service: Service, login_name: str) -> User:
    user = await user_lookup.find_by_login_name(service, login_name)
    if user is None:
        raise NotFound(f"no user has the login name {login_name}")
    return await lock_ends.lift_if_over(service, user)


async def one_time_password_writes(
    service: Service, user: User, password: str, now: datetime, actor: str
) -> list[Write]:
    """Returns the writes that replace a user's password by `password`, which must be changed at
    the next sign-in and expires; for the caller to commit.

    The user gets a new security stamp. `actor` is that of the event.
    """
    expires_at = now + timedelta(seconds=service.config.one_time_password_seconds)
    new = Password(
        hash=await service.hasher.hash(password),
        changed_at=now,
        must_change=True,
        expires_at=expires_at,
    )
    # The new security stamp ends all sessions and tokens of the user.
    values = {"password": new, "stamp": service.random.token(bits=64), "changed_at": now}
    return events.update(
        service.random, USERS, user, values, AuditEntry("user.password_reset", actor, now)
    )
