"""Limits on password guesses: the steps of one attempt.

1. Everything that decides is read in one round trip. An attempt that has to wait is refused here,
   and writes nothing.
2. The attempt is counted for the login name, and from a slowed network for that; from the sixth
   on, and where it may be one of the last, also in the account's streak. Each count is one
   compare-and-set, as `idp.limits.backoffs`, `account_attempts` and `network_failures` decide.
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

from idp.identity.guesses import account_names, counting, lockout, networks
from idp.identity.guesses.networks import CountedNetwork
from idp.identity.sessions import known_browsers
from idp.limits import account_attempts, backoffs, network_failures
from idp.limits.account_attempts import AccountLimits, CountedAttempt
from idp.limits.compare_and_set import ReadRecord
from idp.limits.network_failures import Network
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
    """What was read for an attempt at a password: `name` names the login name's backoff
    (`account_names`), and `networks` are those that count the account if it fails."""

    user: User | None
    name: str
    backoff: LoginNameBackoff | None
    streak: FailureStreak | None
    rules: LockoutRules
    limits: AccountLimits
    networks: Sequence[CountedNetwork]


class Guess(Struct, frozen=True):
    """An attempt at a password that was admitted.

    `ordinal` is its number since the last success. `backoff` is that of the login name with the
    attempt counted, None for a browser that the account knows (`browser_id`). `is_counted` says
    that the streak includes the attempt, by the decision `attempt`; that is None without a user.
    """

    records: GuessRecords
    ordinal: int
    backoff: LoginNameBackoff | None = None
    new_networks: Sequence[str] = ()
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
    name that was typed. It is a context manager.

    The caller compares the password within the block, and then calls `failed`, `succeeded`, or
    `take_back`. Raises Throttled if the attempt has to wait.
    """
    from_networks = network_failures.networks_of(service.config, origin)
    guess = await _admit_known(service, user, typed, origin.browser, from_networks)
    if guess is not None:
        yield guess
        return
    is_dear = bool(user and user.password and service.hasher.is_dear(user.password.hash))
    async with AsyncExitStack() as turns:
        for network in from_networks:
            turn = service.comparisons.turn(network.key, network.factor, is_dear=is_dear)
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

    def decision(
        streak: FailureStreak | None,
    ) -> tuple[FailureStreak | None, CountedAttempt | None]:
        before, now = streak or FailureStreak(id=user.id), service.clock.now()
        attempt = account_attempts.with_known_browser(
            before, user.stamp, browser.id, records.limits, now
        )
        return (attempt.streak, attempt) if attempt else (streak, None)

    read = ReadRecord(FAILURE_STREAKS, user.id, records.streak)
    streak, attempt = await counting.decide(service, read, decision)
    if attempt is None or streak is None:
        return None
    return Guess(
        records,
        ordinal=streak.browsers[0].tries,
        new_networks=backoffs.new_networks(
            records.backoff.backoff if records.backoff else None,
            [counted.network.key for counted in records.networks],
            service.clock.now(),
        ),
        browser_id=browser.id,
        is_counted=True,
        attempt=structs.replace(attempt, streak=streak),
    )


async def _admit_unknown(
    service: Service, user: User | None, typed: str, from_networks: Sequence[Network]
) -> Guess:
    records = await _read(service, user, typed, from_networks)
    limit = account_attempts.backoff_limit(records.streak, records.limits)
    # All checks come before the first write: an attempt that has to wait writes nothing.
    networks.check(service, records.networks)
    counting.check(service, records.name, limit, records.backoff)
    records = structs.replace(records, networks=await networks.claim(service, records.networks))
    keys = [counted.network.key for counted in records.networks]
    claim = await counting.claim(service, records.name, limit, records.backoff, keys)
    guess = Guess(records, claim.record.backoff.tries, claim.record, claim.new_networks)
    if account_attempts.is_counted_first(records.streak, guess.ordinal, records.limits):
        return await _count(service, guess)
    return guess


async def _count(service: Service, guess: Guess) -> Guess:
    """Counts an attempt of an unknown browser in the streak; without a user, writes as much and
    counts nothing."""
    user, records = guess.user, guess.records
    if user is None:
        await counting.write_without_effect(service, records.name, guess.backoff)
        return structs.replace(guess, is_counted=True)
    attempt = await counting.count(
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
    backoff, streak, *others = await service.store.get_many(
        [
            (LOGIN_NAME_BACKOFFS, name),
            (FAILURE_STREAKS, user.id if user else _NO_USER),
            *lockout.policy_keys(user),
            *(networks.key(each) for each in from_networks),
        ]
    )
    rules = lockout.rules_of(service, others[:2])
    return GuessRecords(
        user=user,
        name=name,
        backoff=backoff,
        streak=streak,
        rules=rules,
        limits=account_attempts.limits_of(service.config, rules),
        networks=[CountedNetwork(*pair) for pair in zip(from_networks, others[2:], strict=True)],
    )


async def take_back(service: Service, guess: Guess) -> None:
    """Subtracts the attempt from its counts, because hashing was too busy to compare the password.

    Errors of the store are ignored.
    """
    if guess.backoff is not None:
        await counting.take_back(service, guess.backoff.id, guess.backoff, guess.new_networks)
    attempt = guess.attempt
    if attempt is not None:
        await counting.change_streak(
            service,
            attempt.streak,
            lambda streak: account_attempts.without_attempt(streak, attempt, guess.browser_id),
        )


async def failed(service: Service, guess: Guess) -> bool:
    """Counts a wrong password in the account's streak and for its networks, as far as `admitted`
    has not, and locks the user if the lockout policy requires it.

    Returns whether the account is closed to unknown browsers, by this attempt or before.
    """
    if not guess.is_counted:
        guess = await _count(service, guess)
    is_known = guess.browser_id is not None
    for counted in guess.records.networks:
        if not is_known and counted.network.key in guess.new_networks:
            await networks.count(service, counted)
    attempt = guess.attempt
    if guess.user is None or attempt is None:
        return False
    if attempt.locks_if_wrong:
        await lockout.lock(service, guess.user, guess.records.rules)
    return not is_known and attempt.streak.unknown >= guess.records.limits.max_unknown


async def succeeded(service: Service, guess: Guess) -> None:
    """Resets the counts of the attempt after a right password and the commit of the sign-in.

    Errors of the store are ignored.
    """
    records = guess.records
    await counting.forget(service, guess.backoff or records.backoff)
    streak = guess.attempt.streak if guess.attempt else records.streak
    await counting.change_streak(service, streak, account_attempts.after_password)
    for counted in records.networks:
        if counted.network.key not in guess.new_networks:
            await networks.uncount(service, counted)
