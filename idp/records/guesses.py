"""What is kept of wrong passwords and codes, beside counters that end by themselves."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec import Struct

from storage import Collection, Record


class BrowserTries(Struct, kw_only=True):
    """Tries of one known browser since the last success, until they are forgotten."""

    agent_id: str
    tries: int
    ends_at: datetime


class GuessStreak(Record):
    """Wrong passwords and codes of one user in a row; the id is the user's. A success ends it.

    `unknown` and `known` are passwords from browsers that the account does not know, and from
    those that it knows (`Browser.known`); `browsers` are the latter one by one. `codes` are codes
    of the authenticator app. With `stays_open` the password is never closed, as nobody could let
    the user in. `told_at` is when the owner was told that it is closed.
    """

    unknown: int = 0
    known: int = 0
    browsers: list[BrowserTries] = []
    codes: int = 0
    stays_open: bool = False
    told_at: datetime | None = None


class UntrustedProxy(Record):
    """An address that sent `X-Forwarded-For` and is not in `trusted_proxies`; it is the id."""

    seen_at: datetime
    expires_at: datetime


GUESS_STREAKS: Final = Collection("guess_streaks", GuessStreak)
UNTRUSTED_PROXIES: Final = Collection("untrusted_proxies", UntrustedProxy, expires=True)
