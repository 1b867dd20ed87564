"""Counts wrong passwords and codes in a row, for an organization's lockout policy.

An attempt is counted before it is compared, so concurrent attempts can't exceed the policy's
limit. A count belongs to the account and its present security stamp.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, Literal

from idp.identity.guesses import throttle
from idp.policies import effective
from idp.records import POLICIES, LockoutRules, Policy, User
from idp.service import Service
from storage import COUNTERS, Key

_WINDOW: Final = timedelta(days=365)

GuessKind = Literal["passwords", "codes"]


def policy_keys(user: User | None) -> list[Key]:
    """Returns the keys of two records: the lockout policies of the user's organization and of the
    installation.

    Without a user both are the installation's, so that as much is read.
    """
    org_id = user.org_id if user else None
    ids = (effective.policy_id(each, "lockout") for each in (org_id, None))
    return [(POLICIES, policy_id) for policy_id in ids]


def rules_of(service: Service, policies: Sequence[Policy | None]) -> LockoutRules:
    """Returns the lockout rules that apply: of the first policy that exists, else the built-in
    ones.

    `policies` are the records of `policy_keys`, in their order, each None if it is not stored.
    """
    stored = policies[0] or policies[1]
    rules = stored.rules if stored else effective.built_in(service.config, "lockout")
    return rules if isinstance(rules, LockoutRules) else LockoutRules()


async def claim(
    service: Service, user: User | None, account: str, rules: LockoutRules, kind: GuessKind
) -> int | None:
    """Counts an attempt at a password or code (`kind`) before it is compared, and returns its
    number in a row; None if the policy `rules` counts none.

    `account` names what is counted (`throttle.account_of`). A login name without a user is counted
    in the same way, so that it takes the same time.
    """
    if not max_failures(rules, kind):
        return None
    counter = await service.store.increment(_key(service, user, account), window=_WINDOW)
    return counter.n


def exceeds_limit(rules: LockoutRules, kind: GuessKind, ordinal: int | None) -> bool:
    """Returns whether the attempt with the number `ordinal` (from `claim`) exceeds the policy's
    limit, so that its password or code must not be compared.

    False for None: then the policy counts none.
    """
    return ordinal is not None and ordinal > max_failures(rules, kind)


async def take_back(service: Service, user: User | None, account: str) -> None:
    """Subtracts one attempt from the count, because it was not compared; earlier ones remain
    counted.

    `user` and `account` are those that were passed to `claim`. Errors of the store are ignored.
    """
    await throttle.uncount(service, _key(service, user, account))


async def succeeded(service: Service, user: User, account: str, ordinal: int | None) -> None:
    """Deletes the count after a right password or code, because only failures in a row are
    counted.

    `ordinal` is the attempt's number from `claim`; None does nothing. Errors of the store are
    ignored.
    """
    if ordinal is not None:
        await throttle.delete(service, keys(service, user, account))


def keys(service: Service, user: User | None, account: str) -> list[Key]:
    """Returns the keys of an account's counters for the lockout policy: a list of one. `account`
    names what is counted (`throttle.account_of`)."""
    return [(COUNTERS, _key(service, user, account))]


def max_failures(rules: LockoutRules, kind: GuessKind) -> int:
    """Returns how many failures with passwords or codes the policy allows; 0 means that it counts
    none."""
    return rules.max_password_attempts if kind == "passwords" else rules.max_otp_attempts


def _key(service: Service, user: User | None, account: str) -> str:
    stamp = user.stamp if user else ""
    return f"lockout:{service.master_key.mac('lockout', f'{account} {stamp}').hex()[:32]}"
