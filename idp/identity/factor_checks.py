"""Is this a code of the user's second factor? Tries are counted as those of passwords are."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Final

from idp.errors import IdpError
from idp.identity import factor_letters, factors, lockout, recovery_codes, throttle, totp
from idp.identity.throttle import Throttled
from idp.records import USERS, User
from idp.service import Service
from storage import COUNTERS, Update, Value, Write

MOST_A_DAY: Final = 50  # wrong codes of one app; each has three chances in a million
_DAY: Final = timedelta(days=1)


class CodeRefused(IdpError):
    """The code does not count."""

    slug = "code.wrong"


async def by_app(service: Service, user: User, typed: str, address: str) -> list[Write]:
    """The write by which a code of the user's app counts, and never again: of two units that hold
    it, one is Stale. Raises CodeRefused, Throttled."""
    secret, known = factors.secret_of(service, user), user.totp
    account = f"factor:{user.id}"
    await throttle.admit(service, account, address)
    await _admit_today(service, account)
    step = None
    if secret is not None and known is not None:
        step = totp.step_of(secret, typed, service.clock.now(), after=known.last_step)
    if step is None or known is None:
        await service.store.increment(_today(service, account), window=_DAY)
        raise await _refused(service, user, account, address)
    await service.store.reset(_today(service, account))
    await _accepted(service, user, account, address)
    expected: dict[str, Value] = {"stamp": user.stamp, "state": "active"}
    expected["totp.last_step"] = known.last_step
    return [Update(USERS, user.id, set={"totp.last_step": step}, expect=expected)]


async def by_recovery_code(service: Service, user: User, typed: str, address: str) -> list[Write]:
    """The writes that use a recovery code up, and tell its owner by mail: of two units that hold
    them, one is Stale. Raises CodeRefused, Throttled."""
    account = f"recovery:{user.id}"
    await throttle.admit(service, account, address)
    used = await recovery_codes.using(service, user, typed)
    if used is None:
        raise await _refused(service, user, account, address)
    await _accepted(service, user, account, address)
    return [*used, *factor_letters.told(service, user, "recovery_code_used")]


async def of_new_app(service: Service, user: User, secret: str, typed: str, address: str) -> int:
    """The time step of the first code of an app that is being set up. Raises CodeRefused,
    Throttled."""
    account = f"new-factor:{user.id}"
    await throttle.admit(service, account, address)
    step = totp.step_of(secret, typed, service.clock.now())
    if step is None:
        await throttle.failed(service, account, address)
        raise CodeRefused("the code is not one of the new app")
    await throttle.succeeded(service, account, address)
    return step


async def _admit_today(service: Service, account: str) -> None:
    """Six digits are soon guessed by somebody who only has to wait: so there is an end of wrong
    codes in a day, while recovery codes and passkeys still count. Raises Throttled."""
    count = await service.store.get(COUNTERS, _today(service, account))
    if count is not None and count.n >= MOST_A_DAY:
        left = count.expires_at - service.clock.now()
        seconds = max(1, math.ceil(left.total_seconds()))
        raise Throttled("too many wrong codes today", retry_after_seconds=seconds)


def _today(service: Service, account: str) -> str:
    return f"codes:{service.vault.mac('throttle', account).hex()[:32]}"


async def _refused(service: Service, user: User, account: str, address: str) -> CodeRefused:
    """Count a wrong code."""
    await throttle.failed(service, account, address)
    await lockout.failed(service, user, account, "codes")
    return CodeRefused("the code is wrong, or was used")


async def _accepted(service: Service, user: User, account: str, address: str) -> None:
    await throttle.succeeded(service, account, address)
    await lockout.succeeded(service, user, account)
