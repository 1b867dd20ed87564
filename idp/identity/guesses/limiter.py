"""Limits on password guesses: the steps of one attempt.

1. All counters are read in one round trip. An attempt that has to wait is refused here, and
   writes nothing.
2. The attempt is counted; from the sixth on it also has to wait for the login name's delay.
3. The password is compared, unless the account is closed to unknown browsers: then the same work
   is done without effect, and the answer is that of a wrong password.
4. A wrong password is counted in the account's streak, and for its networks. After a right one,
   and the unit that it was for, the counters are deleted: a crash between leaves them too high,
   never too low.

An attempt that may be one of the last is counted in the streak before it is compared, too. A login
name without a user takes the same reads and as many writes; only its rate is stored, for a day.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Final

from msgspec import Struct

from idp.foundation.errors import Busy
from idp.identity.guesses import lockout, lockout_counters, network_limits, throttle
from idp.identity.guesses import streaks as guess_streaks
from idp.identity.guesses.network_limits import CountedNetwork
from idp.identity.guesses.origin import AttemptOrigin
from idp.identity.sessions import known_browsers
from idp.records import FAILURE_STREAKS, FailureStreak, LockoutRules, User
from idp.service import Service
from storage import StorageError

# Between two attempts at an account that is never closed.
SLOW_INTERVAL: Final = timedelta(minutes=30)
_NO_USER: Final = "none"  # not a user's id: read where there is no user


class GuessCounters(Struct, frozen=True):
    """An attempt at a password, and the counters that limit it as they were read before it.

    `login_name` is the name for which its rate is limited (`throttle.login_name`), and `account`
    the one for which the lockout policy counts it (`throttle.account_of`). `throttle_counters` are
    the records of `throttle.keys` for the login name; `rules` is the lockout policy.
    """

    login_name: str
    account: str
    user: User | None
    origin: AttemptOrigin
    throttle_counters: Sequence[Any]
    streak: FailureStreak | None
    rules: LockoutRules
    networks: list[CountedNetwork]


class Guess(Struct, frozen=True):
    """An attempt at a password that was admitted.

    `ordinal` is its number since the last success, and `lockout_ordinal` its number for the
    lockout policy, None if that counts none. `is_known` says that the account knows the browser;
    `is_counted` that the `streak` includes the attempt; `is_past_limit` that the account is closed
    to unknown browsers, by this attempt or before. With `is_closed` or `is_locked` the password is
    not compared, and the answer is that of a wrong one.
    """

    counters: GuessCounters
    ordinal: int
    lockout_ordinal: int | None
    streak: FailureStreak
    is_known: bool = False
    is_closed: bool = False
    is_locked: bool = False
    is_counted: bool = False
    is_past_limit: bool = False

    @property
    def is_compared(self) -> bool:
        return not (self.is_closed or self.is_locked)


@asynccontextmanager
async def admitted(
    service: Service, user: User | None, typed: str, origin: AttemptOrigin
) -> AsyncIterator[Guess]:
    """Counts and admits an attempt at the password of `user`; without a user (None), at the login
    name that was typed. It is a context manager.

    The caller compares the password within the block, and then calls `failed`, `succeeded`, or
    `take_back`. Raises Throttled if the attempt has to wait.
    """
    guess = await _admit_known(service, user, typed, origin)
    if guess is not None:
        yield guess
        return
    networks = network_limits.networks_of(service, origin)
    if not networks:
        yield await _admit_unknown(service, user, typed, origin)
        return
    is_dear = bool(user and user.password and service.hasher.is_dear(user.password.hash))
    async with AsyncExitStack() as turns:
        for network in networks:
            turn = service.comparisons.turn(network.key, network.factor, is_dear=is_dear)
            if not await turns.enter_async_context(turn):
                raise network_limits.slowed(service)
        yield await _admit_unknown(service, user, typed, origin)


async def _admit_known(
    service: Service, user: User | None, typed: str, origin: AttemptOrigin
) -> Guess | None:
    """The attempt of a browser that the account knows, while it has attempts left."""
    if user is None or origin.browser is None or not known_browsers.is_known(origin.browser, user):
        return None
    counters = await _read(service, user, typed, origin)
    streak = await guess_streaks.claim_known(service, user.id, origin.browser.id, counters.streak)
    if streak is None:
        return None
    lockout_ordinal = await lockout_counters.claim(
        service, user, counters.account, counters.rules, "passwords"
    )
    return Guess(
        counters=counters,
        ordinal=streak.browsers[0].tries,
        lockout_ordinal=lockout_ordinal,
        streak=streak,
        is_known=True,
        is_locked=lockout_counters.exceeds_limit(counters.rules, "passwords", lockout_ordinal),
        is_counted=True,
    )


async def _admit_unknown(
    service: Service, user: User | None, typed: str, origin: AttemptOrigin
) -> Guess:
    counters = await _read(service, user, typed, origin)
    max_failures = guess_streaks.max_unknown(service.config)
    streak = counters.streak or FailureStreak(id=_NO_USER)
    is_slow = streak.stays_open and (
        max_failures <= streak.unknown < guess_streaks.max_slow(service.config)
    )
    free_failures = 0 if is_slow else service.config.sign_in_failures_before_delay
    # All checks come before the first write: an attempt that has to wait writes nothing.
    network_limits.check(service, counters.networks)
    counted_attempts = throttle.check(service, counters.throttle_counters, free=free_failures)
    await network_limits.claim(service, counters.networks)
    delay = SLOW_INTERVAL if is_slow else None
    ordinal = await throttle.claim(
        service, counters.login_name, counted_attempts, free=free_failures, delay=delay
    )
    uncounted = throttle.LOGIN_NAMES * free_failures
    is_counted = ordinal > free_failures or streak.unknown + uncounted >= max_failures
    if is_counted:
        streak = await _count(service, counters)
    is_closed = not is_slow and (
        streak.unknown > max_failures if is_counted else streak.unknown >= max_failures
    )
    lockout_ordinal = None
    if not is_closed:
        lockout_ordinal = await lockout_counters.claim(
            service, user, counters.account, counters.rules, "passwords"
        )
    return Guess(
        counters=counters,
        ordinal=ordinal,
        lockout_ordinal=lockout_ordinal,
        streak=streak,
        is_closed=is_closed,
        is_locked=lockout_counters.exceeds_limit(counters.rules, "passwords", lockout_ordinal),
        is_counted=is_counted,
        is_past_limit=user is not None and streak.unknown >= max_failures,
    )


async def _read(
    service: Service, user: User | None, typed: str, origin: AttemptOrigin
) -> GuessCounters:
    """Reads everything that decides about an attempt in one round trip."""
    login_name = throttle.login_name(typed)
    name = throttle.hidden(service, login_name)
    networks = network_limits.networks_of(service, origin)
    records = await service.store.get_many(
        [
            *throttle.keys(service, login_name),
            (FAILURE_STREAKS, user.id if user else _NO_USER),
            *lockout_counters.policy_keys(user),
            *(key for network in networks for key in network.keys(name)),
        ]
    )
    return GuessCounters(
        login_name=login_name,
        account=throttle.account_of(user, typed),
        user=user,
        origin=origin,
        throttle_counters=records[:2],
        streak=records[2],
        rules=lockout_counters.rules_of(service, records[3:5]),
        networks=network_limits.counted(networks, records[5:]),
    )


async def _count(service: Service, counters: GuessCounters) -> FailureStreak:
    """Counts a wrong password in the streak; without a user, writes as much and stores nothing."""
    if counters.user is not None:
        return await guess_streaks.count(service, counters.user.id, counters.streak, "unknown")
    (_, attempts_key), _ = throttle.keys(service, counters.login_name)
    # A write without effect, so that timing does not reveal which names exist.
    await service.store.increment(attempts_key, 0, window=throttle.WINDOW)
    return FailureStreak(id=_NO_USER)


async def take_back(service: Service, guess: Guess) -> None:
    """Subtracts the attempt from its counters, because hashing was too busy to compare the
    password.

    Errors of the store are ignored.
    """
    counters = guess.counters
    if not guess.is_known:
        await throttle.take_back(service, counters.login_name)
    if guess.is_counted:
        browser = counters.origin.browser if guess.is_known else None
        with suppress(StorageError, Busy):
            await guess_streaks.take_back(service, guess.streak, browser.id if browser else None)
    if guess.lockout_ordinal is not None:
        await lockout_counters.take_back(service, counters.user, counters.account)


async def failed(service: Service, guess: Guess) -> None:
    """Counts a wrong password in the account's streak and for its networks, as far as `admitted`
    has not, and locks the user if the lockout policy requires it."""
    counters = guess.counters
    if not guess.is_known:
        if not guess.is_counted:
            await _count(service, counters)
        name = throttle.hidden(service, counters.login_name)
        await network_limits.failed(service, counters.networks, name)
    await lockout.failed(
        service, counters.user, counters.rules, "passwords", guess.lockout_ordinal
    )


async def succeeded(service: Service, guess: Guess) -> None:
    """Deletes the counters of the attempt after a right password and the commit of the sign-in.

    Errors of the store are ignored.
    """
    counters = guess.counters
    if counters.user is None:
        return
    pairs = zip(
        throttle.keys(service, counters.login_name), counters.throttle_counters, strict=True
    )
    is_delayed = guess.ordinal > service.config.sign_in_failures_before_delay
    # Counters that this attempt has created were not there when they were read.
    created = (not guess.is_known, not guess.is_known and is_delayed)
    keys = [
        key
        for (key, record), is_created in zip(pairs, created, strict=True)
        if record or is_created
    ]
    await throttle.delete(service, keys)
    if guess.is_counted or counters.streak is not None:
        await guess_streaks.end(service, guess.streak, ("unknown", "known"))
    await lockout_counters.succeeded(
        service, counters.user, counters.account, guess.lockout_ordinal
    )
    name = throttle.hidden(service, counters.login_name)
    await network_limits.succeeded(service, counters.networks, name)
