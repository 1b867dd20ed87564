"""Second factors within a sign-in: a user enters, sets up or postpones one."""

from __future__ import annotations

from typing import Literal

from msgspec import structs

from idp.identity import authentication_context
from idp.identity.factors import code_checks, second_factors, totp
from idp.identity.sessions.browsers import Cookie
from idp.limits.origin import AttemptOrigin
from idp.oauth.sign_in import authentication_progress
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress, FactorEnrolment
from idp.oauth.sign_in.pending import PendingSignIn
from idp.records import AUTH_REQUESTS, USERS
from idp.service import Service
from storage import Stale, Update


async def enter_code(
    service: Service,
    flow: PendingSignIn,
    progress: AuthenticationProgress,
    kind: Literal["totp", "recovery-code"],
    code: str,
    origin: AttemptOrigin,
) -> Cookie:
    """Checks a code of an authenticator app or a recovery code, and continues the sign-in.

    Returns the browser's new cookie. Raises `FactorCodeRefused` and `Throttled`; `Stale` when a
    concurrent request has used the code or changed the sign-in.
    """
    check = code_checks.by_totp if kind == second_factors.TOTP else code_checks.by_recovery_code
    accepted = await check(service, progress.subject.user, code, origin)
    progress = progress.with_methods(authentication_context.AMR_CODE)
    cookie = await sign_in_flow.continue_with(service, flow, progress, *accepted.writes)
    # After the unit: a failed one must not reset the counter of failed attempts.
    await code_checks.succeeded(service, accepted)
    return cookie


async def choose(service: Service, flow: PendingSignIn, kind: str | None) -> None:
    """Stores which kind of second factor the user sets up next; None leads back to the choice of
    the kind.

    Raises `Stale`.
    """
    await sign_in_flow.update_request(service, flow, adding=kind, sealed_setup=None)


async def decline(
    service: Service, flow: PendingSignIn, progress: AuthenticationProgress
) -> Cookie:
    """Continues the sign-in without a second factor; the user is asked again later. Raises
    `Stale`.

    Returns the browser's new cookie.
    """
    user, now = progress.subject.user, service.clock.now()
    changes = {"factor_declined_at": now}
    expected = {"stamp": user.stamp, "state": "active"}
    write = Update(USERS, user.id, set=changes, expect=expected)
    progress = progress.with_user(structs.replace(user, factor_declined_at=now))
    return await sign_in_flow.continue_with(service, flow, progress, write)


async def new_secret(
    service: Service, flow: PendingSignIn, progress: AuthenticationProgress
) -> str:
    """Returns the TOTP secret (RFC 6238) of the authenticator app that the user is setting up.

    It is stored with the sign-in, and is the same one until the app is confirmed. Raises `Stale`.
    """
    user = progress.subject.user
    enrolment = authentication_progress.find_enrolment(service, flow.request, user)
    if enrolment is not None and enrolment.secret is not None:
        return enrolment.secret
    secret = totp.new_secret(service.random)
    sealed_setup = authentication_progress.seal_enrolment(
        service, FactorEnrolment(user.id, secret)
    )
    # Two tabs get the same secret, or one of them fails: the app must not have one that is
    # overwritten.
    expected = {"completed_at": None, "sealed_setup": flow.request.sealed_setup}
    await sign_in_pending.commit(
        service, flow, sign_in_pending.step(flow, {"sealed_setup": sealed_setup}, expected)
    )
    return secret


async def confirm_totp(
    service: Service, flow: PendingSignIn, progress: AuthenticationProgress, code: str, name: str
) -> Cookie:
    """Adds an authenticator app after its first code, and continues the sign-in.

    Returns the browser's new cookie; with the first second factor the user gets recovery codes
    (`codes`) before that. Raises `FactorCodeRefused` and `Throttled`; `Stale` when no app is being
    set up, or a concurrent request has changed the user or the sign-in.
    """
    user = progress.subject.user
    enrolment = authentication_progress.find_enrolment(service, flow.request, user)
    if enrolment is None or enrolment.secret is None:
        raise Stale(AUTH_REQUESTS.name, flow.request.id)
    time_step = await code_checks.of_new_totp(service, user, enrolment.secret, code)
    change = await second_factors.add_totp(
        service, progress.subject, enrolment.secret, name, time_step
    )
    sealed_setup = (
        authentication_progress.seal_enrolment(
            service, FactorEnrolment(user.id, codes=change.codes)
        )
        if change.codes
        else None
    )
    progress = progress.with_user(change.subject.user).with_methods(
        authentication_context.AMR_CODE
    )
    changes = {"adding": None, "sealed_setup": sealed_setup}
    return await sign_in_flow.continue_with(service, flow, progress, *change.writes, **changes)


def codes(service: Service, flow: PendingSignIn, progress: AuthenticationProgress) -> list[str]:
    """Returns the recovery codes that were generated in this sign-in.
    The list is empty once the user has confirmed that they have saved them.
    """
    enrolment = authentication_progress.find_enrolment(
        service, flow.request, progress.subject.user
    )
    return enrolment.codes if enrolment else []


async def confirm_codes_noted(
    service: Service, flow: PendingSignIn, progress: AuthenticationProgress
) -> Cookie:
    """Removes the recovery codes from the sign-in, as the user has saved them, and continues it.

    They are never displayed again. Returns the browser's new cookie. Raises `Stale`.
    """
    return await sign_in_flow.continue_with(service, flow, progress, sealed_setup=None)
