"""Is this a code of the user's second factor? Tries are counted as those of passwords are."""

from __future__ import annotations

from idp.errors import IdpError
from idp.identity import factor_letters, factors, lockout, recovery_codes, throttle, totp
from idp.records import USERS, User
from idp.service import Service
from storage import Update, Value, Write


class CodeRefused(IdpError):
    """The code does not count."""

    slug = "code.wrong"


async def by_app(service: Service, user: User, typed: str, address: str) -> list[Write]:
    """The write by which a code of the user's app counts, and never again: of two units that hold
    it, one is Stale. Raises CodeRefused, Throttled."""
    secret, known = factors.secret_of(service, user), user.totp
    await throttle.admit(service, _account(user), address)
    step = None
    if secret is not None and known is not None:
        step = totp.step_of(secret, typed, service.clock.now(), after=known.last_step)
    if step is None or known is None:
        raise await _refused(service, user, address)
    await _accepted(service, user, address)
    expected: dict[str, Value] = {"stamp": user.stamp, "state": "active"}
    expected["totp.last_step"] = known.last_step
    return [Update(USERS, user.id, set={"totp.last_step": step}, expect=expected)]


async def by_recovery_code(service: Service, user: User, typed: str, address: str) -> list[Write]:
    """The writes that use a recovery code up, and tell its owner by mail: of two units that hold
    them, one is Stale. Raises CodeRefused, Throttled."""
    await throttle.admit(service, _account(user), address)
    used = await recovery_codes.using(service, user, typed)
    if used is None:
        raise await _refused(service, user, address)
    await _accepted(service, user, address)
    return [*used, *factor_letters.told(service, user, "recovery_code_used")]


async def of_new_app(service: Service, user: User, secret: str, typed: str, address: str) -> int:
    """The time step of the first code of an app that is being set up. Raises CodeRefused,
    Throttled."""
    account = f"new-{_account(user)}"
    await throttle.admit(service, account, address)
    step = totp.step_of(secret, typed, service.clock.now())
    if step is None:
        await throttle.failed(service, account, address)
        raise CodeRefused("the code is not one of the new app")
    await throttle.succeeded(service, account, address)
    return step


def _account(user: User) -> str:
    return f"factor:{user.id}"


async def _refused(service: Service, user: User, address: str) -> CodeRefused:
    """Count a wrong code."""
    await throttle.failed(service, _account(user), address)
    await lockout.failed(service, user, _account(user), "codes")
    return CodeRefused("the code is wrong, or was used")


async def _accepted(service: Service, user: User, address: str) -> None:
    await throttle.succeeded(service, _account(user), address)
    await lockout.succeeded(service, user, _account(user))
