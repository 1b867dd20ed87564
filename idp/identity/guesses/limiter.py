"""Limits on password guesses: the steps of one attempt.

1. Everything that decides is read in one round trip. An attempt that has to wait is refused here,
   and writes nothing.
2. An attempt from a browser that the account knows is counted in the account's streak alone. Any
   other is counted for the login name, and takes the turn of a slowed network; past the free
   attempts, near the limit, or under a lockout policy it is counted in the streak, too. Each count
   is one compare-and-set, as `idp.limits.account_attempts` and `backoffs` decide.
3. The password is compared, unless the account is closed to unknown browsers: then the same work
   is done without effect, and the answer is that of a wrong password.
4. A wrong password is counted in the streak, and for the networks from which the account had not
   failed. After a right one, and the unit that it was for, the counts are reset: a crash between
   leaves them too high, never too low.

A login name without a user takes the same reads and as many writes; only its backoff is stored,
for a day.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from msgspec import Struct, structs

from idp.identity.guesses import account_names, lockout, login_name_backoffs, networks, streaks
from idp.identity.guesses.networks import CountedNetwork, Network
from idp.identity.sessions import known_browsers
from idp.limits import account_attempts
from idp.limits.account_attempts import AccountLimits, CountedAttempt
from idp.limits.origin import AttemptOrigin
from idp.records import (
    FAILURE_STREAKS,
    LOGIN_NAME_BACKOFFS,
    Browser,
    FailureStreak,
    LockoutRules,
    LoginNameBackoff,
    User,
)
from idp.service import Service

_NO_USER: Final = "none"  # not a user's id: read where there is no user


class GuessRecords(Struct, frozen=True):
    """What was read for an attempt at a password: `name` and `account` are those of the login name
    and of the account in counts (`account_names`)."""

    user: User | None
    name: str
    account: str
    backoff: LoginNameBackoff | None
    streak: FailureStreak | None
    limits: AccountLimits
    networks: Sequence[CountedNetwork]


class Guess(Struct, frozen=True):
    """An attempt at a password that was admitted.

    `ordinal` is its number since the last success, for this login name or this known browser
    within a day. `backoff` is that of the login name with the attempt counted, None for a browser
    that the account knows (`browser_id`). `is_counted` says that the streak includes the attempt,
    by the decision `attempt`; that is None without a user.
    """

    records: GuessRecords
    ordinal: int
    backoff: LoginNameBackoff | None = None
    browser_id: str | None = None
    is_counted: bool = False
    attempt: CountedAttempt | None = None

    @property
    def user(self) -> User | None:
        return self.records.user

    @property
    def is_closed(self) -> bool:
        return self.attempt is not None and self.attempt.is_closed

    @property
    def is_locked(self) -> bool:
        return self.attempt is not None and self.attempt.is_locked


@asynccontextmanager
async def admitted(
    service: Service, user: User | None, typed: str, origin: AttemptOrigin
) -> AsyncIterator[Guess]:
    """Counts and admits an attempt at the password of `user`; without a user (None), at the login
    name that was typed. An asynchronous context manager.

    The caller compares the password within the block, and then calls `failed`, `succeeded`, or
    `take_back`. Raises Throttled if the attempt has to wait; Busy, StorageError.
    """
    from_networks = networks.networks_of(service, origin)
    guess = await _admit_known(service, user, typed, origin.browser, from_networks)
    if guess is not None:
        yield guess
        return
    is_expensive = bool(user and user.password and service.hasher.is_expensive(user.password.hash))
    async with AsyncExitStack() as turns:
        for network in from_networks:
            turn = service.comparisons.turn(network.key, network.factor, is_expensive=is_expensive)
            if not await turns.enter_async_context(turn):
                raise networks.slowed(service)
        yield await _admit_unknown(service, user, typed, from_networks)


async def _admit_known(
    service: Service,
    user: User | None,
    typed: str,
    browser: Browser | None,
    from_networks: Sequence[Network],
) -> Guess | None:
    """The attempt of a browser that the account knows, while it has attempts left."""
    if user is None or browser is None or not known_browsers.is_known(browser, user):
        return None
    records = await _read(service, user, typed, from_networks)
    now = service.clock.now()
    attempt = await streaks.count(
        service,
        user.id,
        records.streak,
        lambda streak: account_attempts.with_known_browser(
            streak, user.stamp, browser.id, records.limits, now
        ),
    )
    if attempt is None:
        return None
    return Guess(
        records,
        ordinal=attempt.streak.browsers[0].tries,
        browser_id=browser.id,
        is_counted=True,
        attempt=attempt,
    )


async def _admit_unknown(
    service: Service, user: User | None, typed: str, from_networks: Sequence[Network]
) -> Guess:
    records = await _read(service, user, typed, from_networks)
    limit = account_attempts.backoff_limit(records.streak, records.limits)
    # All checks come before the first write: an attempt that has to wait writes nothing.
    networks.check(service, records.networks)
    login_name_backoffs.with_attempt(service, records.name, limit, records.backoff)
    await networks.claim(service, records.networks)
    backoff = await login_name_backoffs.count(
        service, records.name, limit, records.backoff, records.account
    )
    guess = Guess(records, backoff.backoff.tries, backoff)
    if account_attempts.is_counted_first(records.streak, guess.ordinal, records.limits):
        return await _count(service, guess)
    return guess


async def _count(service: Service, guess: Guess) -> Guess:
    """Counts an attempt of an unknown browser in the streak; without a user, writes as much and
    counts nothing."""
    user, records = guess.user, guess.records
    if user is None:
        await login_name_backoffs.write_decoy(service, records.name, guess.backoff)
        return structs.replace(guess, is_counted=True)
    attempt = await streaks.count(
        service,
        user.id,
        records.streak,
        lambda streak: account_attempts.with_unknown_browser(streak, user.stamp, records.limits),
    )
    return structs.replace(guess, is_counted=True, attempt=attempt)


async def _read(
    service: Service, user: User | None, typed: str, from_networks: Sequence[Network]
) -> GuessRecords:
    """Reads everything that decides about an attempt in one round trip."""
    name = account_names.login_name(service, typed)
    account = account_names.account(service, user, typed)
    backoff, streak, own, default, *counters = await service.store.get_many(
        [
            (LOGIN_NAME_BACKOFFS, name),
            (FAILURE_STREAKS, user.id if user else _NO_USER),
            *lockout.policy_keys(user),
            *(key for network in from_networks for key in network.keys(name)),
        ]
    )
    is_locked = user is not None and user.state == "locked"
    # What is tried during a lock does not count for the next one.
    rules = LockoutRules() if is_locked else lockout.rules_of(service, own, default)
    return GuessRecords(
        user=user,
        name=name,
        account=account,
        backoff=backoff,
        streak=streak,
        limits=account_attempts.limits_of(service.config, rules),
        networks=networks.counted(from_networks, counters),
    )


async def take_back(service: Service, guess: Guess) -> None:
    """Subtracts the attempt from its counts, because hashing was too busy to compare the password.

    Errors of the store are ignored.
    """
    if guess.backoff is not None:
        await login_name_backoffs.uncount(service, guess.backoff, guess.records.account)
    attempt = guess.attempt
    if attempt is not None:
        await streaks.change(
            service,
            attempt.streak,
            lambda streak: account_attempts.without_attempt(streak, attempt, guess.browser_id),
        )


async def failed(service: Service, guess: Guess) -> bool:
    """Counts a wrong password in the account's streak and for its networks, as far as `admitted`
    has not, and locks the user if the lockout policy requires it.

    Returns whether wrong passwords from unknown browsers have reached their limit.
    """
    if not guess.is_counted:
        guess = await _count(service, guess)
    is_known = guess.browser_id is not None
    if not is_known:
        await networks.failed(service, guess.records.networks, guess.records.name)
    attempt = guess.attempt
    if guess.user is None or attempt is None:
        return False
    if attempt.locks_if_wrong:
        service.background_tasks.start(
            lockout.lock_after_answer(service, guess.user, guess.records.limits.lockout)
        )
    return not is_known and attempt.streak.unknown >= guess.records.limits.max_unknown


async def succeeded(service: Service, guess: Guess) -> None:
    """Resets the counts of the attempt after a right password and the commit of the sign-in.

    Errors of the store are ignored.
    """
    records = guess.records
    backoff = guess.backoff or records.backoff
    if backoff is not None:
        await login_name_backoffs.succeeded(service, backoff, records.account)
    streak = guess.attempt.streak if guess.attempt else records.streak
    await streaks.change(service, streak, account_attempts.after_password)
    await networks.succeeded(service, records.networks, records.name)
