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
from idp.records import GUESS_STREAKS, BrowserTries, GuessStreak
from idp.service import Service
from storage import Conflict, Delete, Insert, Stale, StorageError, Update, Write

MOST_CODES: Final = 50  # wrong codes of an authenticator app
MOST_OF_BROWSER: Final = 10  # tries of one known browser
BROWSER_WINDOW: Final = timedelta(hours=24)
_COUNTS: Final = ("unknown", "known", "codes")
_ATTEMPTS: Final = 64  # at each conflict another update has succeeded


def most_unknown(config: Config) -> int:
    """Returns how many wrong passwords from unknown browsers close the account to them."""
    return config.sign_in_failures_limit * 5 // 9


def most_known(config: Config) -> int:
    """Returns how many wrong passwords known browsers have before they are treated as unknown."""
    return config.sign_in_failures_limit * 4 // 9


async def find(service: Service, user_id: str) -> GuessStreak | None:
    """Returns the user's streak; None if nothing is counted."""
    return await service.store.get(GUESS_STREAKS, user_id)


async def count(
    service: Service, user_id: str, found: GuessStreak | None, name: str
) -> GuessStreak:
    """Adds a wrong password of an `unknown` browser, or one of the `codes`, and returns the
    streak."""

    def more(streak: GuessStreak) -> Mapping[str, Any]:
        return {name: getattr(streak, name) + 1}

    return await _changed(service, user_id, found, more) or GuessStreak(id=user_id)


async def claim_known(
    service: Service, user_id: str, agent_id: str, found: GuessStreak | None
) -> GuessStreak | None:
    """Counts a try of a known browser before it is compared; returns the streak, with this browser
    first.

    Returns None if this browser, or all known browsers together, have used up their tries.
    """
    now = service.clock.now()

    def more(streak: GuessStreak) -> Mapping[str, Any] | None:
        mine = _tries_of(streak, agent_id, now)
        is_spent = mine.tries > MOST_OF_BROWSER or streak.known >= most_known(service.config)
        if is_spent:
            return None
        others = [one for one in streak.browsers if one.agent_id != agent_id]
        return {"known": streak.known + 1, "browsers": [mine, *others]}

    return await _changed(service, user_id, found, more)


async def take_back(service: Service, found: GuessStreak, agent_id: str | None) -> None:
    """Uncounts a try that was not compared: of a known browser, or without one of an unknown
    browser. Raises Busy, StorageError."""
    name = "known" if agent_id else "unknown"

    def less(streak: GuessStreak) -> Mapping[str, Any] | None:
        left = getattr(streak, name) - 1
        if left < 0:
            return None  # a sign-in has set it to 0 meanwhile
        browsers = [
            structs.replace(one, tries=max(0, one.tries - (one.agent_id == agent_id)))
            for one in streak.browsers
        ]
        return {name: left, "browsers": browsers} if agent_id else {name: left}

    await _changed(service, found.id, found, less)


def _tries_of(streak: GuessStreak, agent_id: str, now: datetime) -> BrowserTries:
    """The browser's tries plus this one."""
    for one in streak.browsers:
        if one.agent_id == agent_id and one.ends_at > now:
            return structs.replace(one, tries=one.tries + 1)
    return BrowserTries(agent_id=agent_id, tries=1, ends_at=now + BROWSER_WINDOW)


async def _changed(
    service: Service,
    user_id: str,
    found: GuessStreak | None,
    decide: Callable[[GuessStreak], Mapping[str, Any] | None],
) -> GuessStreak | None:
    """The streak after what `decide` sets; None if it sets nothing. Raises Busy."""
    for _ in range(_ATTEMPTS):
        before = found or GuessStreak(id=user_id)
        changes = decide(before)
        if changes is None:
            return None
        after = structs.replace(before, **changes)
        with suppress(Conflict, Stale):
            await service.store.commit(_write(found, after, changes))
            return after
        found = await find(service, user_id)
    raise Busy("too many tries at once", retry_after_seconds=1)


def _write(found: GuessStreak | None, after: GuessStreak, changes: Mapping[str, Any]) -> Write:
    if found is None:
        return Insert(GUESS_STREAKS, after)
    expected = {name: getattr(found, name) for name in _COUNTS if name in changes}
    return Update(GUESS_STREAKS, found.id, set=changes, expect=expected)


async def end(service: Service, found: GuessStreak, names: Sequence[str] = _COUNTS) -> None:
    """Sets counts to 0 after a success; best effort, because a count that remains only limits
    more."""
    with suppress(StorageError):
        await service.store.commit(_ending(found, names))


def _ending(found: GuessStreak, names: Sequence[str]) -> Write:
    """Deletes a streak without counts. The deletion fails with Stale if there is a count by
    now."""
    left = {name: 0 for name in _COUNTS if name not in names}
    if all(getattr(found, name) == 0 for name in left):
        return Delete(GUESS_STREAKS, found.id, expect=left)
    zeros: dict[str, Any] = dict.fromkeys(names, 0)
    if "unknown" in names:
        zeros |= {"browsers": [], "stays_open": False, "told_at": None}
    return Update(GUESS_STREAKS, found.id, set=zeros)
