"""Records of wrong passwords and codes, and of proxies that are not trusted."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from storage import Collection, Record


class BrowserAttempts(Struct, kw_only=True):
    """Wrong passwords from one known browser since its last success, counted until `ends_at`."""

    agent_id: str
    tries: int
    ends_at: datetime


class AccountTries(Struct, kw_only=True):
    """How many of the attempts with a login name were at one account."""

    account: str
    tries: int


class Backoff(Struct, kw_only=True):
    """The attempts at one secret since its last success, counted until `ends_at`; the delays
    between them grow.

    `name` says which secret. Before `delayed_until` no further attempt is admitted. `accounts`
    are those at which attempts with a login name were made: one name may find several users, each
    in another organization.
    """

    name: str
    tries: int
    ends_at: datetime
    delayed_until: datetime | None = None
    accounts: list[AccountTries] = []


class FailureStreak(Record):
    """Wrong passwords and codes of one user in a row, until a success; the id is the user's.

    `unknown` and `known` are numbers of wrong passwords from browsers that the account does not
    know, and from those that it knows (`Browser.known`); `browsers` counts the latter for each
    browser. `codes` is the number of wrong codes of the authenticator app, and `mail_codes` of
    codes for a new password from browsers that the account does not know. With `stays_open`
    unknown browsers are slowed down at the limit instead of refused, because the user has no other
    way to sign in or is the last owner; they are refused later (`AccountLimits.max_slow`).
    `told_at` is when the user got the mail about the closed password.

    `backoffs` limit the rate for each kind of codes. `lockout_passwords` and `lockout_codes` count
    for the lockout policy while the user has the security stamp `lockout_stamp`. `revision` is
    another one after each change of a count; None in records of version 0.1.
    """

    unknown: int = 0
    known: int = 0
    browsers: list[BrowserAttempts] = []
    codes: int = 0
    mail_codes: int = 0
    stays_open: bool = False
    told_at: datetime | None = None
    backoffs: list[Backoff] = []
    lockout_stamp: str | None = None
    lockout_passwords: int = 0
    lockout_codes: int = 0
    revision: str | None = None


class LoginNameBackoff(Record):
    """The attempts at the password of one login name, whether or not a user has it; the id is the
    name of its `backoff`, a MAC of the login name. Or those at user codes of devices from one
    network or browser: then the id is `device:` and the network or browser."""

    backoff: Backoff
    expires_at: datetime
    revision: str | None = None


class UntrustedProxy(Record):
    """An address that sent `X-Forwarded-For` and is not in `trusted_proxies`; the id is the
    address."""

    seen_at: datetime
    expires_at: datetime


_SOON: Final = timedelta(hours=1)
# Streaks have no expiration, because the failures are counted until a success.
FAILURE_STREAKS: Final = Collection("guess_streaks", FailureStreak)
LOGIN_NAME_BACKOFFS: Final = Collection(
    "login_name_backoffs", LoginNameBackoff, expires=True, retention=_SOON
)
UNTRUSTED_PROXIES: Final = Collection("untrusted_proxies", UntrustedProxy, expires=True)
