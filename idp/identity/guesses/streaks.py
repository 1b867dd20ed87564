"""Wrong passwords and codes of a user in a row, which never end by time (NIST SP 800-63B-4 3.2.2).

Of every hundred guesses in a row fewer are compared: those from browsers that the account does not
know have 5 parts of `sign_in_failures_limit`, those from browsers that it knows have 4.
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
_ATTEMPTS: Final = 64  # who loses an update has lost it to somebody who is done


def most_unknown(config: Config) -> int:
    """Wrong passwords of browsers that the account does not know, before it is closed to them."""
    return config.sign_in_failures_limit * 5 // 9


def most_known(config: Config) -> int:
    """Wrong passwords of browsers that the account knows, before they count as unknown."""
    return config.sign_in_failures_limit * 4 // 9


async def find(service: Service, user_id: str) -> GuessStreak | None:
    """The user's streak, if anything is counted."""
    return await service.store.get(GUESS_STREAKS, user_id)


async def count(
    service: Service, user_id: str, found: GuessStreak | None, name: str
) -> GuessStreak:
    """Add a wrong password of an `unknown` browser, or one of the `codes`; the streak after it."""

    def more(streak: GuessStreak) -> Mapping[str, Any]:
        return {name: getattr(streak, name) + 1}

    return await _changed(service, user_id, found, more) or GuessStreak(id=user_id)


async def claim_known(
    service: Service, user_id: str, agent_id: str, found: GuessStreak | None
) -> GuessStreak | None:
    """Count a try of a known browser before it is looked at; the streak, this browser first.

    None when this browser, or all that the account knows together, have used up theirs.
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
    """Uncount a try that was not looked at: of a known browser, or without one of an unknown one.
    Raises Busy, StorageError."""
    name = "known" if agent_id else "unknown"

    def less(streak: GuessStreak) -> Mapping[str, Any] | None:
        left = getattr(streak, name) - 1
        if left < 0:
            return None  # a success has set it to 0 meanwhile
        browsers = [
            structs.replace(one, tries=max(0, one.tries - (one.agent_id == agent_id)))
            for one in streak.browsers
        ]
        return {name: left, "browsers": browsers} if agent_id else {name: left}

    await _changed(service, found.id, found, less)


def _tries_of(streak: GuessStreak, agent_id: str, now: datetime) -> BrowserTries:
    """The browser's tries with one more."""
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
    """The streak after what `decide` sets; None when it sets nothing. Raises Busy."""
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
    """Set counts to 0 after a success; best effort, as one that is left makes nobody weaker."""
    with suppress(StorageError):
        await service.store.commit(_ending(found, names))


def _ending(found: GuessStreak, names: Sequence[str]) -> Write:
    """What has no count left is deleted. Stale: it has one by now, or is gone."""
    left = {name: 0 for name in _COUNTS if name not in names}
    if all(getattr(found, name) == 0 for name in left):
        return Delete(GUESS_STREAKS, found.id, expect=left)
    zeros: dict[str, Any] = dict.fromkeys(names, 0)
    if "unknown" in names:
        zeros |= {"browsers": [], "stays_open": False, "told_at": None}
    return Update(GUESS_STREAKS, found.id, set=zeros)
