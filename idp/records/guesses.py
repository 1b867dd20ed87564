"""Records of wrong passwords and codes, and of proxies that are not trusted; other counts of
guesses are counters that expire.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec import Struct

from storage import Collection, Record


class BrowserAttempts(Struct, kw_only=True):
    """Wrong passwords from one known browser since its last success, counted until `ends_at`."""

    agent_id: str
    tries: int
    ends_at: datetime


class FailureStreak(Record):
    """Wrong passwords and codes of one user in a row, until a success; the id is the user's.

    `unknown` and `known` are numbers of wrong passwords from browsers that the account does not
    know, and from those that it knows (`Browser.known`); `browsers` counts the latter for each
    browser. `codes` is the number of wrong codes of the authenticator app, and `mail_codes` of
    codes for a new password from browsers that the account does not know. With `stays_open` the
    password is never closed, because the user would have no other way to sign in. `told_at` is
    when the user got the mail about the closed password.
    """

    unknown: int = 0
    known: int = 0
    browsers: list[BrowserAttempts] = []
    codes: int = 0
    mail_codes: int = 0
    stays_open: bool = False
    told_at: datetime | None = None


class UntrustedProxy(Record):
    """An address that sent `X-Forwarded-For` and is not in `trusted_proxies`; the id is the
    address."""

    seen_at: datetime
    expires_at: datetime


# Streaks have no expiration, because the failures are counted until a success.
FAILURE_STREAKS: Final = Collection("guess_streaks", FailureStreak)
UNTRUSTED_PROXIES: Final = Collection("untrusted_proxies", UntrustedProxy, expires=True)
