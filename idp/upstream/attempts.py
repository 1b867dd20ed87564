"""Attempts: sign-ins that continue at another provider.

An attempt is stored in a cookie of the browser alone, encrypted. So leaving writes nothing to the
store, any process can continue the sign-in, and no other browser can.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from idp.foundation import opaque_tokens
from idp.foundation.opaque_tokens import Confidential
from idp.keys.master_key import WrongKey
from idp.records import USED_VALUES, UsedValue
from idp.service import Service
from storage import Insert

COOKIE: Final = "attempt"
MAX_ATTEMPTS: Final = 3
# The head of a redirect to a provider fits into 4,096 octets, as much as nginx reads by default.
MAX_CHARACTERS: Final = 3000
LIFETIME: Final = timedelta(minutes=10)
_EXTRA_LIFETIME: Final = timedelta(
    minutes=5
)  # the mark of a used attempt outlives it; clocks may differ
_PURPOSE: Final = "upstream attempt"


class Attempt(Confidential, frozen=True):
    """A sign-in that waits for the answer of a connection's provider.

    `state`, `nonce` and `verifier` are those of its request. `stamp` is that of the connection
    then: it changes with whom the connection trusts. `flow` and `start` are the parameters of
    the sign-in's pages, and `browser_id` is the browser's. `begun_at` and `ends_at` are in seconds
    since 1970. If the sign-in requires it, the person must have signed in at the provider
    `max_age` seconds before the answer at most, or with 0 not before the attempt. With `test_id`
    it belongs to the test of a connection (`idp.records.connection_tests`), which has no pages and
    binds no browser but the one with the cookie.
    """

    state: str
    nonce: str
    verifier: str
    connection_id: str
    stamp: str
    flow: str
    start: str
    browser_id: str
    begun_at: int
    ends_at: int
    max_age: int | None = None
    test_id: str = ""


def cookie_with(service: Service, cookie: str | None, attempt: Attempt) -> str | None:
    """Returns the value of the cookie with one more attempt; the oldest are dropped if it would
    be too long. None if it is too long for this attempt alone."""
    others = [each for each in read(service, cookie) if each.state != attempt.state]
    remaining = [*others, attempt][-MAX_ATTEMPTS:]
    while remaining:
        value = _sealed(service, remaining)
        if len(value) <= MAX_CHARACTERS:
            return value
        remaining = remaining[1:]
    return None


def cookie_without(service: Service, cookie: str | None, attempt: Attempt) -> str:
    """Returns the value of the cookie without an attempt; an empty text if none remains."""
    others = [each for each in read(service, cookie) if each.state != attempt.state]
    return _sealed(service, others) if others else ""


def read(service: Service, cookie: str | None) -> list[Attempt]:
    """Returns the attempts in the browser's cookie that have not expired, the oldest first."""
    if not cookie or len(cookie) > MAX_CHARACTERS:
        return []
    try:
        decrypted = service.master_key.open(cookie, _PURPOSE)
        attempts = msgspec.json.decode(decrypted, type=list[Attempt])
    except (WrongKey, msgspec.MsgspecError):  # the latter: another release wrote it
        return []
    now = service.clock.now().timestamp()
    return [each for each in attempts if now < each.ends_at]


def find(service: Service, cookie: str | None, state: str) -> Attempt | None:
    """Returns the attempt whose request had this `state`; None if the browser has none."""
    matching = [
        each for each in read(service, cookie) if state and opaque_tokens.equal(each.state, state)
    ]
    return matching[0] if matching else None


def mark_used(attempt: Attempt) -> Insert:
    """Returns the write that marks an attempt as used; it fails with Conflict the second time."""
    record_id = hashlib.sha256(f"{_PURPOSE}\n{attempt.state}".encode()).hexdigest()
    ends_at = datetime.fromtimestamp(attempt.ends_at, UTC) + _EXTRA_LIFETIME
    return Insert(USED_VALUES, UsedValue(id=record_id, expires_at=ends_at))


def _sealed(service: Service, attempts: Sequence[Attempt]) -> str:
    return service.master_key.seal(msgspec.json.encode(list(attempts)), _PURPOSE)
