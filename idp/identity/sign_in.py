"""Is this the user's password? One answer for everything that is wrong, after the same work."""

from __future__ import annotations

from datetime import datetime

from idp.identity import lockout, throttle, users
from idp.identity.hashing import HashingBusy
from idp.identity.subjects import Subject, is_active
from idp.records import USERS, User
from idp.service import Service
from storage import StorageError, Update


class Refused(Exception):
    """The name and the password don't match, or the account can't be used. The log has why."""


async def check_password(
    service: Service, login_name: str, password: str, address: str, org_id: str | None = None
) -> Subject:
    """The active user whose password this is. A password that must be changed counts.

    `org_id` is the organization that is signed in to: its own login names count there.

    Raises Refused, Throttled, HashingBusy.
    """
    service.hasher.expect_room()
    user = await users.find_by_login_name(service, login_name, org_id)
    account = throttle.account_of(user, login_name)
    await throttle.admit(service, account, address)
    try:
        subject = await _check(service, user, password)
    except Refused:
        await throttle.failed(service, account, address)
        await lockout.failed(service, user, account)
        raise
    await throttle.succeeded(service, account, address)
    await lockout.succeeded(service, subject.user, account)
    return subject


async def _check(service: Service, user: User | None, password: str) -> Subject:
    if user is None or user.password is None:
        await service.hasher.verify_nobody(password)
        raise Refused("no such user" if user is None else "the user has no password")
    verdict = await service.hasher.verify(password, user.password.hash)
    if not verdict.ok:
        raise Refused("wrong password")
    subject = await users.find_subject(service, user.id)
    if subject is None or not is_active(subject) or _has_expired(user, service.clock.now()):
        raise Refused("the account or its one-time password can't be used any more")
    if verdict.needs_rehash:
        await _rehash(service, user, password)
    return subject


def _has_expired(user: User, now: datetime) -> bool:
    return bool(user.password and user.password.expires_at and user.password.expires_at <= now)


async def _rehash(service: Service, user: User, password: str) -> None:
    """Bring the hash up to today's cost, unless the password was changed meanwhile."""
    if user.password is None:
        return
    old = user.password.hash
    try:
        fresh = await service.hasher.hash(password)
        await service.store.commit(
            Update(USERS, user.id, set={"password.hash": fresh}, expect={"password.hash": old})
        )
    except (StorageError, HashingBusy):
        return  # no sign-in fails because its hash could not be renewed
