"""Browsers: a cookie, and the record behind it once a user has authenticated.

The cookie is id ‖ secret. The store holds the secret's digest, and the secret changes whenever a
user authenticates, also where a further step is required, and at every logout: an earlier cookie
is no longer valid. The secret that a form gives is derived from all that the browser sent with it.
So the same form, sent again with the cookie from before, is recognized for a minute and gets the
same cookie.

A new browser has no record: its cookie is id ‖ secret ‖ time ‖ MAC, so that anonymous requests
store nothing. The MAC is valid only while there is no record of that id.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from msgspec import structs

from idp.foundation import base64url, opaque_tokens
from idp.foundation.opaque_tokens import Confidential
from idp.foundation.randomness import Random
from idp.identity.sessions import known_browsers
from idp.keys.master_key import MasterKey
from idp.records import BROWSERS, Browser, User
from idp.service import Service
from storage import Insert, Update

COOKIE_LIFETIME: Final = timedelta(days=400)  # browsers store no cookie longer
REPEATED_WITHIN: Final = timedelta(minutes=1)  # a form that gets its first answer again
REMEMBERED: Final = 10  # accounts in one browser
_MAX_REPEATED: Final = 10  # forms of a browser that are compared within a minute
_PURPOSE: Final = "browser"
_PLAIN_LENGTH: Final = opaque_tokens.ID_LENGTH + opaque_tokens.SECRET_LENGTH
_TIME: Final = re.compile(r"[0-9]{10}")  # whole seconds: enough until the year 2286
_TIME_LENGTH: Final = 10


class Cookie(Confidential, frozen=True):
    """A new value of the browser's cookie, and the record that it belongs to."""

    value: str
    browser: Browser


class SendingBrowser(Browser):
    """A browser whose form is being answered; if that changes its secret, to `next_secret`."""

    next_secret: str | None = None


class NewBrowser(SendingBrowser):
    """A browser that has a cookie, but no record yet."""


class CookieContent(NamedTuple):
    """The parts of a cookie: the browser's id and secret. `made_at` is set for a browser in which
    no user has signed in: its cookie has a time, with a MAC that was right."""

    id: str
    secret: str
    made_at: datetime | None


def new(service: Service) -> Cookie:
    """Returns a cookie for a browser without a record, and that browser."""
    browser_id, secret = service.random.id(), service.random.token()
    made_at = service.clock.now().replace(microsecond=0)
    signed = f"{browser_id}{secret}{int(made_at.timestamp()):0{_TIME_LENGTH}}"
    return Cookie(value=signed + _mac(service, signed), browser=_new(browser_id, secret, made_at))


def _new(browser_id: str, secret: str, made_at: datetime) -> NewBrowser:
    return NewBrowser(
        id=browser_id,
        secret_hash=opaque_tokens.digest(secret),
        created_at=made_at,
        expires_at=made_at + COOKIE_LIFETIME,
    )


async def find(service: Service, cookie: str | None) -> Browser | None:
    """Returns the browser whose current cookie this is, as it is stored or as a NewBrowser; None
    if the cookie is not valid."""
    content = read(service, cookie)
    if content is None:
        return None
    return of_record(service, content, await service.store.get(BROWSERS, content.id))


def of_record(service: Service, content: CookieContent, browser: Browser | None) -> Browser | None:
    """Returns what `find` returns for the cookie with this content. `browser` is the record with
    its id, None if there is none."""
    if browser is not None:
        return browser if opaque_tokens.matches(content.secret, browser.secret_hash) else None
    # A record of a sign-in is stored longer than the MAC is valid, so the MAC can't bring back a
    # deleted one.
    if content.made_at is None or service.clock.now() >= content.made_at + COOKIE_LIFETIME:
        return None
    return _new(content.id, content.secret, content.made_at)


def may_have_user(cookie: str | None) -> bool:
    """Returns whether a user may have signed in in the browser with this cookie. Does not ask the
    store: a cookie of a browser without a record is longer than the others."""
    return cookie is not None and opaque_tokens.split(cookie) is not None


def has_user(browser: Browser | None) -> bool:
    """Returns whether a user has signed in in this browser."""
    return browser is not None and bool(browser.remembered or browser.known)


def read(service: Service, cookie: str | None) -> CookieContent | None:
    """Returns the parts of a cookie; None without one, or if it has not the form of a cookie.
    Whether its secret is right is not checked."""
    if cookie is None:
        return None
    id_and_secret, remainder = cookie[:_PLAIN_LENGTH], cookie[_PLAIN_LENGTH:]
    parts = opaque_tokens.split(id_and_secret)
    if parts is None:
        return None
    if not remainder:
        return CookieContent(parts[0], parts[1], None)
    time, mac = remainder[:_TIME_LENGTH], remainder[_TIME_LENGTH:]
    if not _TIME.fullmatch(time) or not opaque_tokens.equal(
        _mac(service, id_and_secret + time), mac
    ):
        return None
    return CookieContent(parts[0], parts[1], datetime.fromtimestamp(int(time), UTC))


def _mac(service: Service, signed: str) -> str:
    return base64url.encode(service.master_key.mac(_PURPOSE, signed))


def is_stored(browser: Browser) -> bool:
    """Returns whether the browser has a record."""
    return not isinstance(browser, NewBrowser)


def sending(browser: Browser, next_secret: str) -> Browser:
    """Returns the browser as one whose form is being answered."""
    if isinstance(browser, SendingBrowser):
        return structs.replace(browser, next_secret=next_secret)
    return SendingBrowser(**structs.asdict(browser), next_secret=next_secret)


def next_secret(master_key: MasterKey, cookie: str, address: str, body: bytes) -> str:
    """Returns the secret that a form gives its browser: `cookie` is the one that came with it.

    It is as unpredictable as the secret in that cookie, and without the master key it says nothing
    of the next one. Who knows that cookie alone can't derive it: the form has the password, the
    code or the passkey that authenticates the user.
    """
    sent = b"\n".join([cookie.encode(), address.encode(), body])
    return base64url.encode(master_key.mac("browser's next secret", sent))


async def repeated(service: Service, cookie: str | None, next_secret: str) -> Cookie | None:
    """Returns the cookie that the first sending of a form has given its browser, if this is
    another one within a minute: `cookie` is the one from before. None otherwise."""
    content = read(service, cookie)
    if content is None or service.request_counts.wait_seconds(
        service.clock.now(), "repeated forms", content.id, _MAX_REPEATED
    ):
        return None  # else who has the cookie from before could guess what the form had
    browser = await service.store.get(BROWSERS, content.id)
    if browser is None or not opaque_tokens.matches(next_secret, browser.secret_hash):
        return None
    if service.clock.now() >= browser.expires_at - COOKIE_LIFETIME + REPEATED_WITHIN:
        return None
    return Cookie(value=browser.id + next_secret, browser=browser)


def record_of(browser: Browser, /, **changes: Any) -> Browser:
    """Returns the record to insert for a browser (a `Browser`, also for a `NewBrowser`), with
    these fields changed."""
    fields = {name: getattr(browser, name) for name in Browser.__struct_fields__}
    return Browser(**fields | changes)


def rotation(
    random: Random, browser: Browser, now: datetime, user: User | None = None
) -> tuple[Update | Insert, Cookie]:
    """Returns the write that gives the browser a new secret, for the caller to commit, and the
    cookie with that secret: the one of the form that is being answered, or else a random one.

    A `user` who signs in is added to the users that the browser remembers, and to the accounts
    that know it. For a browser without a record, the write inserts the record. Of two concurrent
    units with a rotation, one fails.
    """
    chosen = browser.next_secret if isinstance(browser, SendingBrowser) else None
    secret = chosen or random.token()
    values: dict[str, Any] = {
        "secret_hash": opaque_tokens.digest(secret),
        "expires_at": now + COOKIE_LIFETIME,
        "browser": browser.browser,
        "system": browser.system,
    }
    if user is not None:
        other_users = [each for each in browser.remembered if each != user.id]
        values["remembered"] = [user.id, *other_users][:REMEMBERED]
        values["known"] = known_browsers.with_user(browser, user)
    record = record_of(browser, **values)
    write: Update | Insert = Insert(BROWSERS, record)
    if is_stored(browser):
        expected = {"secret_hash": browser.secret_hash}
        write = Update(BROWSERS, browser.id, set=values, expect=expected)
    return write, Cookie(value=browser.id + secret, browser=record)


def rotation_without_user(
    random: Random, browser: Browser, now: datetime, user_id: str
) -> tuple[Update | Insert, Cookie]:
    """Returns the write and the cookie of a `rotation` that also removes the user from the users
    that a stored browser remembers, and from the accounts that know it."""
    other_values: dict[str, Any] = {
        "remembered": [each for each in browser.remembered if each != user_id],
        "known": known_browsers.without_user(browser, user_id),
    }
    write, cookie = rotation(random, browser, now)
    if isinstance(write, Update):
        write = structs.replace(write, set={**write.set, **other_values})
    return write, Cookie(
        value=cookie.value, browser=structs.replace(cookie.browser, **other_values)
    )


def form_token(master_key: MasterKey, browser: Browser, subject_id: str) -> str:
    """Returns the token that binds a form to this browser and to the sign-in or logout with the id
    `subject_id`, so that another site can't submit the form (CSRF).

    It does not depend on the cookie's secret, so that a form in a second tab remains valid after
    the first tab has signed in.
    """
    return base64url.encode(master_key.mac("form", f"{browser.id}\n{subject_id}"))


def is_form_token(master_key: MasterKey, browser: Browser, subject_id: str, token: str) -> bool:
    return opaque_tokens.equal(form_token(master_key, browser, subject_id), token)
