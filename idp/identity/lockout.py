"""Locking an account after too many wrong passwords, or codes of a second factor, in a row, where
its organization wants that.

The count belongs to the account under its present stamp and in its present state. A lock changes
the stamp, as one by an administrator does; so whoever is unlocked begins at nothing.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Final, Literal

from idp import changes, events
from idp.errors import FailedPrecondition
from idp.identity import security_letters, user_states
from idp.policies import effective
from idp.records import USERS, User
from idp.service import Service
from storage import COUNTERS
from storage.settling import commit_settled

ACTOR: Final = "lockout"
_KEPT: Final = timedelta(days=365)


async def failed(
    service: Service,
    user: User | None,
    account: str,
    of: Literal["passwords", "codes"] = "passwords",
) -> None:
    """Count a wrong password or code, and lock its user when it was one too many.

    What is nobody's account is counted alike, so that it takes the same time. The last active
    owner of an organization or of the installation is never locked: nobody could let them in.
    """
    rules = await effective.lockout(service, user.org_id if user else None)
    most = {"passwords": rules.max_password_attempts, "codes": rules.max_otp_attempts}[of]
    if not most:
        return
    count = await service.store.increment(_key(service, user, account), window=_KEPT)
    if user is not None and count.n >= most:
        with suppress(FailedPrecondition):
            await changes.repeated(lambda: _lock(service, user))


async def succeeded(service: Service, user: User, account: str) -> None:
    """Forget the wrong ones: only those in a row count."""
    key = _key(service, user, account)
    if await service.store.get(COUNTERS, key) is not None:
        await service.store.reset(key)


def _key(service: Service, user: User | None, account: str) -> str:
    under = f"{user.stamp} {user.state}" if user else ""
    return f"lockout:{service.vault.mac('lockout', f'{account} {under}').hex()[:32]}"


async def _lock(service: Service, tried: User) -> None:
    user = await service.store.get(USERS, tried.id)
    if user is None or user.state != "active" or user.stamp != tried.stamp:
        return
    now, stamp = service.clock.now(), service.random.token(bits=64)
    values = {"state": "locked", "stamp": stamp, "changed_at": now}
    also = await user_states.what_ends(service, user)
    update = events.update(service.random, USERS, user, values, "user.locked", ACTOR, now)
    letters = security_letters.locked(service, user)
    await commit_settled(service.store, *update, *also, *letters)
