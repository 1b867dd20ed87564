"""Browsers that an account knows: those in which its user has signed in (OWASP, device cookies).

There, guesses from elsewhere do not lock out the user. Everything that gives the user a new
security stamp ends this: a new password, adding or removing a second factor or passkey, a lock,
the account's end. So do "sign out everywhere" and the removal of an account from the list of
accounts. The browser in which the user does this and stays signed in remains known.
"""

from __future__ import annotations

from typing import Final

from msgspec import structs

from idp.records import BROWSERS, USERS, Browser, KnownUser, User
from idp.service import Service
from storage import Update, Write

MAX_ACCOUNTS: Final = 10  # accounts that know one browser


def is_known(browser: Browser | None, user: User) -> bool:
    """Returns whether the account of this user knows the browser; False without a browser."""
    return browser is not None and entry(user) in browser.known


def entry(user: User) -> KnownUser:
    """Returns the entry for `Browser.known` which states that the user's account knows the
    browser; it holds until the user's security stamp changes."""
    return KnownUser(user_id=user.id, stamp=f"{user.stamp}{user.browsers_stamp}")


def with_user(browser: Browser, user: User) -> list[KnownUser]:
    """Returns the new value of `browser.known` after the user has signed in: the user's entry
    first, then those of other users."""
    return [entry(user), *without_user(browser, user.id)][:MAX_ACCOUNTS]


def without_user(browser: Browser, user_id: str) -> list[KnownUser]:
    """Returns `browser.known` without the entry of this user."""
    return [each for each in browser.known if each.user_id != user_id]


def forget_others_writes(service: Service, user: User, browser: Browser) -> list[Write]:
    """Returns the writes after which the user's account knows no browser but this one, for the
    caller to commit."""
    stamp = service.random.token(bits=64)
    return [
        Update(USERS, user.id, set={"browsers_stamp": stamp}, expect={"stamp": user.stamp}),
        _known_write(browser, structs.replace(user, browsers_stamp=stamp)),
    ]


async def keep_known_writes(
    service: Service, browser_id: str, before: User, after: User
) -> list[Write]:
    """Returns the writes that keep a browser known to an account whose security stamp changes.

    The caller commits them in the unit that changes the user from `before` to `after`. Empty if
    the account did not know the browser before.
    """
    browser = await service.store.get(BROWSERS, browser_id)
    if browser is None or not is_known(browser, before):
        return []
    return [_known_write(browser, after)]


def _known_write(browser: Browser, user: User) -> Write:
    """Fails with Stale if the browser got another secret meanwhile."""
    known_users = with_user(browser, user)
    return Update(
        BROWSERS,
        browser.id,
        set={"known": known_users},
        expect={"secret_hash": browser.secret_hash},
    )
