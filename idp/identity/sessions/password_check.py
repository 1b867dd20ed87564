"""Checks the password of a sign-in: one answer for all failures, after the same work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct

from idp.identity.guesses import limiter as guess_limiter
from idp.identity.guesses import lock_ends, password_closing
from idp.identity.guesses import reports as guess_reports
from idp.identity.guesses.limiter import Guess
from idp.identity.guesses.reports import Cause, Outcome
from idp.identity.users import lookup as user_lookup
from idp.identity.users.subjects import Subject, is_active
from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from idp.passwords.hashing_threads import HashingBusy
from idp.records import USERS, User
from idp.service import Service
from storage import StorageError, Update


class SignInRefused(Exception):
    """Name and password don't match, or the account can't be used; `cause` is for the log.

    `is_repeated` says that there were so many failures that the page suggests other ways to sign
    in; it does not depend on whether the login name exists.
    """

    def __init__(self, cause: Cause, *, is_repeated: bool = False) -> None:
        super().__init__(cause)
        self.cause = cause
        self.is_repeated = is_repeated


ConcurrentRead: TypeAlias = Callable[[User], Awaitable[object]]


class CheckedPassword(Struct, frozen=True):
    """The user whose password was right, and the attempt, for `succeeded`: the caller passes it
    there after the commit of the sign-in."""

    subject: Subject
    guess: Guess


async def check_password(
    service: Service,
    login_name: str,
    password: str,
    origin: AttemptOrigin,
    org_id: str | None = None,
) -> CheckedPassword:
    """Returns the active user whose login name and password these are. A password that must be
    changed is accepted.

    `org_id` is the organization that is signed in to: also login names that are valid there alone
    are found. None means no organization in particular.

    Raises SignInRefused, Throttled, HashingBusy.
    """
    service.hasher.check_capacity()
    # The room is checked before anything is counted, so that a busy service uses up no attempt.
    user = await user_lookup.find_by_login_name(service, login_name, org_id)
    return await check_found(service, user, login_name, password, origin)


async def _read_nothing(user: User) -> None:
    return None


async def check_found(
    service: Service,
    user: User | None,
    login_name: str,
    password: str,
    origin: AttemptOrigin,
    concurrent_read: ConcurrentRead = _read_nothing,
) -> CheckedPassword:
    """Checks the password as `check_password` does, for the user that was found by the login name;
    None if none was.

    `concurrent_read` is awaited with the user after the comparison, together with what is read
    then: it reads what the caller needs next. Raises SignInRefused, Throttled, HashingBusy.
    """
    service.hasher.check_capacity()
    user = await lock_ends.lift_if_over(service, user) if user else None
    return await _check_limited(service, user, login_name, password, origin, concurrent_read)


async def check_current(
    service: Service, user: User, password: str, origin: AttemptOrigin
) -> CheckedPassword:
    """Checks the password of this user as `check_password` does, without looking the user up by a
    login name.

    Raises SignInRefused, Throttled, HashingBusy.
    """
    service.hasher.check_capacity()
    return await _check_limited(service, user, user.user_name, password, origin)


async def _check_limited(
    service: Service,
    user: User | None,
    login_name: str,
    password: str,
    origin: AttemptOrigin,
    concurrent_read: ConcurrentRead = _read_nothing,
) -> CheckedPassword:
    user_id, org_id = (user.id, user.org_id) if user else (None, None)
    is_known = False

    def report(cause: Cause) -> None:
        outcome = Outcome(cause, "password", origin, user_id, login_name, is_known, org_id)
        guess_reports.report(service, outcome)

    try:
        async with guess_limiter.admitted(service, user, login_name, origin) as guess:
            is_known = guess.browser_id is not None
            checked = await _check_guess(service, guess, password, concurrent_read)
    except (SignInRefused, Throttled) as refusal:
        report(refusal.cause)
        raise
    report("accepted")
    return checked


async def succeeded(service: Service, checked: CheckedPassword) -> None:
    """Deletes the counts of failures, once the unit of the sign-in is stored."""
    await guess_limiter.succeeded(service, checked.guess)


async def _check_guess(
    service: Service, guess: Guess, password: str, concurrent_read: ConcurrentRead
) -> CheckedPassword:
    try:
        return CheckedPassword(await _compare(service, guess, password, concurrent_read), guess)
    except HashingBusy:
        await guess_limiter.take_back(service, guess)
        raise
    except SignInRefused as refused:
        is_past_limit = await guess_limiter.failed(service, guess)
        if is_past_limit and guess.user is not None:
            service.background_tasks.start(
                password_closing.close_or_report(service, guess.user.id)
            )
        is_repeated = guess.ordinal > service.config.sign_in_failures_before_delay
        raise SignInRefused(refused.cause, is_repeated=is_repeated) from None


async def _compare(
    service: Service, guess: Guess, password: str, concurrent_read: ConcurrentRead
) -> Subject:
    user = guess.user
    if user is None or user.password is None:
        await service.hasher.verify_decoy(password)
        raise SignInRefused("unknown")
    if guess.is_closed or guess.is_locked:
        await service.hasher.verify_decoy(password)
        raise SignInRefused("closed" if guess.is_closed else "locked")
    result = await service.hasher.verify(password, user.password.hash)
    if not result.ok:
        raise SignInRefused("wrong")
    # Hashing takes time: a password that was changed meanwhile is not valid any more.
    subject, _ = await asyncio.gather(
        user_lookup.find_unchanged(service, user), concurrent_read(user)
    )
    if subject is None or not is_active(subject) or _has_expired(user, service.clock.now()):
        raise SignInRefused("unusable")
    if result.needs_rehash:
        await _rehash(service, user, password)
    return subject


def _has_expired(user: User, now: datetime) -> bool:
    return bool(user.password and user.password.expires_at and user.password.expires_at <= now)


async def _rehash(service: Service, user: User, password: str) -> None:
    """Hashes the password again with the present cost, unless it was changed meanwhile."""
    if user.password is None:
        return
    old_hash = user.password.hash
    try:
        new_hash = await service.hasher.hash(password)
        await service.store.commit(
            Update(
                USERS, user.id, set={"password.hash": new_hash}, expect={"password.hash": old_hash}
            )
        )
    except (StorageError, HashingBusy):
        return  # a sign-in does not fail because its hash can't be renewed
