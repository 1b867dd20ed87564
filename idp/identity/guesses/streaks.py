"""A user's wrong passwords and codes in a row, which do not expire (NIST SP 800-63B-4 3.2.2).

All browsers share `sign_in_failures_limit`, which is below a hundred: those that the account does
not know have five ninths of it, those that it knows have four ninths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import structs

from idp.config.settings import Config
from idp.foundation.errors import Busy
from idp.records import FAILURE_STREAKS, BrowserAttempts, FailureStreak
from idp.service import Service
from storage import Conflict, Delete, Insert, Stale, StorageError, Update, Write

MAX_CODES: Final = 50  # wrong codes of an authenticator app
MAX_OF_BROWSER: Final = 10  # attempts of one known browser
BROWSER_WINDOW: Final = timedelta(hours=24)
_MAX_COMPARED: Final = 99  # wrong passwords of one account in a row
_COUNTS: Final = ("unknown", "known", "codes", "mail_codes")
_MAX_COMMITS: Final = 64  # at each conflict another update has succeeded


def max_unknown(config: Config) -> int:
    """Returns how many wrong passwords from unknown browsers close the account to them."""
    return config.sign_in_failures_limit * 5 // 9


def max_slow(config: Config) -> int:
    """Returns how many wrong passwords from unknown browsers close an account that was left open
    because its user has no other way to sign in. With those of known browsers they are fewer than
    a hundred."""
    return _MAX_COMPARED - max_known(config)


def max_known(config: Config) -> int:
    """Returns how many wrong passwords from known browsers the account allows before it treats all
    browsers as unknown."""
    return config.sign_in_failures_limit * 4 // 9


async def find(service: Service, user_id: str) -> FailureStreak | None:
    """Returns the user's streak of wrong passwords and codes; None if nothing is counted."""
    return await service.store.get(FAILURE_STREAKS, user_id)


async def count(
    service: Service, user_id: str, stored: FailureStreak | None, name: str
) -> FailureStreak:
    """Increments one of the user's counts of wrong attempts in the store, and returns the changed
    record.

    `name` is `unknown` for a wrong password from a browser that the account does not know, `codes`
    for a wrong code of the app, or `mail_codes` for a code from a mail. `stored` is the record as
    it was read, None if there was none.
    """

    def increments(streak: FailureStreak) -> Mapping[str, Any]:
        return {name: getattr(streak, name) + 1}

    return await _update(service, user_id, stored, increments) or FailureStreak(id=user_id)


async def claim_known(
    service: Service, user_id: str, browser_id: str, stored: FailureStreak | None
) -> FailureStreak | None:
    """Counts an attempt from a browser that the account knows, before it is compared, and returns
    the changed record, with this browser first in its list.

    `stored` is the record as it was read, None if there was none. Returns None, and counts
    nothing, if this browser or all known browsers together have used up their attempts.
    """
    now = service.clock.now()

    def with_attempt(streak: FailureStreak) -> Mapping[str, Any] | None:
        attempts = _attempts_of(streak, browser_id, now)
        is_exhausted = attempts.tries > MAX_OF_BROWSER or streak.known >= max_known(service.config)
        if is_exhausted:
            return None
        other_browsers = [each for each in streak.browsers if each.agent_id != browser_id]
        return {"known": streak.known + 1, "browsers": [attempts, *other_browsers]}

    return await _update(service, user_id, stored, with_attempt)


async def take_back(service: Service, stored: FailureStreak, browser_id: str | None) -> None:
    """Subtracts one attempt, which was not compared, from the user's counts: one of the known
    browser `browser_id`, or of an unknown browser if it is None.

    `stored` is the record that `claim_known` or `count` returned. Raises Busy, StorageError.
    """
    name = "known" if browser_id else "unknown"

    def without_attempt(streak: FailureStreak) -> Mapping[str, Any] | None:
        remaining = getattr(streak, name) - 1
        if remaining < 0:
            return None  # a sign-in has set it to 0 meanwhile
        browsers = [
            structs.replace(each, tries=max(0, each.tries - (each.agent_id == browser_id)))
            for each in streak.browsers
        ]
        return {name: remaining, "browsers": browsers} if browser_id else {name: remaining}

    await _update(service, stored.id, stored, without_attempt)


def _attempts_of(streak: FailureStreak, browser_id: str, now: datetime) -> BrowserAttempts:
    """The browser's attempts plus this one."""
    for each in streak.browsers:
        if each.agent_id == browser_id and each.ends_at > now:
            return structs.replace(each, tries=each.tries + 1)
    return BrowserAttempts(agent_id=browser_id, tries=1, ends_at=now + BROWSER_WINDOW)


async def _update(
    service: Service,
    user_id: str,
    stored: FailureStreak | None,
    decide: Callable[[FailureStreak], Mapping[str, Any] | None],
) -> FailureStreak | None:
    """The streak after what `decide` sets; None if it sets nothing. Raises Busy."""
    for _ in range(_MAX_COMMITS):
        before = stored or FailureStreak(id=user_id)
        changes = decide(before)
        if changes is None:
            return None
        after = structs.replace(before, **changes)
        with suppress(Conflict, Stale):
            await service.store.commit(_write(stored, after, changes))
            return after
        stored = await find(service, user_id)
    raise Busy("too many concurrent attempts", retry_after_seconds=1)


def _write(
    stored: FailureStreak | None, after: FailureStreak, changes: Mapping[str, Any]
) -> Write:
    if stored is None:
        return Insert(FAILURE_STREAKS, after)
    expected = {name: getattr(stored, name) for name in _COUNTS if name in changes}
    return Update(FAILURE_STREAKS, stored.id, set=changes, expect=expected)


async def end(service: Service, stored: FailureStreak, names: Sequence[str] = _COUNTS) -> None:
    """Sets the counts `names` (by default all) to 0 after a success, and deletes the record if no
    count is left.

    Errors of the store are ignored, because a count that remains only limits more.
    """
    with suppress(StorageError):
        await service.store.commit(_deletion_if_empty(stored, names))


def _deletion_if_empty(stored: FailureStreak, names: Sequence[str]) -> Write:
    """Deletes a streak without counts. The deletion fails with Stale if there is a count by
    now."""
    remaining = {name: 0 for name in _COUNTS if name not in names}
    if all(getattr(stored, name) == 0 for name in remaining):
        return Delete(FAILURE_STREAKS, stored.id, expect=remaining)
    zeros: dict[str, Any] = dict.fromkeys(names, 0)
    if "unknown" in names:
        zeros |= {"browsers": [], "stays_open": False, "told_at": None}
    return Update(FAILURE_STREAKS, stored.id, set=zeros)
