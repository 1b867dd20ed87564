"""Second factors within a sign-in: asked for, set up, or postponed."""

from __future__ import annotations

from typing import Literal

from msgspec import structs

from idp.identity import authentication_context
from idp.identity.factors import code_checks, second_factors, totp
from idp.identity.guesses.origin import TryOrigin
from idp.identity.sessions.browsers import Cookie
from idp.oauth.sign_in import factor_enrolment
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.factor_enrolment import Setup
from idp.oauth.sign_in.pending import Flow
from idp.records import AUTH_REQUESTS, USERS
from idp.service import Service
from storage import Stale, Update


async def enter_code(
    service: Service,
    flow: Flow,
    proven: AuthenticationProgress,
    kind: Literal["totp", "recovery-code"],
    code: str,
    origin: TryOrigin,
) -> Cookie | None:
    """Checks a code and continues with its user. Returns the browser's new cookie, if any.

    Raises `FactorCodeRefused` and `Throttled`; `Stale` when the code was used, or something else
    happened, at the same moment.
    """
    check = code_checks.by_app if kind == second_factors.TOTP else code_checks.by_recovery_code
    accepted = await check(service, proven.subject.user, code, origin)
    whole = proven.by(authentication_context.AMR_CODE)
    cookie = await sign_in_flow.prove(service, flow, whole, *accepted.writes)
    # After the unit: a failed one must not reset the counter of failed attempts.
    await code_checks.succeeded(service, accepted)
    return cookie


async def choose(service: Service, flow: Flow, kind: str | None) -> None:
    """Lets the user set up a factor of this kind; None returns to the choice. Raises `Stale`."""
    await sign_in_flow.note(service, flow, adding=kind, sealed_setup=None)


async def decline(service: Service, flow: Flow, proven: AuthenticationProgress) -> Cookie | None:
    """Continues without a second factor; the user is asked again later. Raises `Stale`."""
    user, now = proven.subject.user, service.clock.now()
    declined = {"factor_declined_at": now}
    expected = {"stamp": user.stamp, "state": "active"}
    write = Update(USERS, user.id, set=declined, expect=expected)
    proven = proven.now_as(structs.replace(user, factor_declined_at=now))
    return await sign_in_flow.prove(service, flow, proven, write)


async def new_secret(service: Service, flow: Flow, proven: AuthenticationProgress) -> str:
    """Returns the secret of the authenticator app that is set up here. Raises `Stale`.

    It is the same one until the app is confirmed.
    """
    user = proven.subject.user
    known = factor_enrolment.find(service, flow.request, user)
    if known is not None and known.secret is not None:
        return known.secret
    secret = totp.new_secret(service.random)
    kept = factor_enrolment.seal(service, Setup(user.id, secret))
    # Two tabs get the same secret, or one of them fails: the app must not have one that is
    # overwritten.
    expected = {"completed_at": None, "sealed_setup": flow.request.sealed_setup}
    await sign_in_pending.commit(
        service, flow, sign_in_pending.step(flow, {"sealed_setup": kept}, expected)
    )
    return secret


async def confirm_app(
    service: Service, flow: Flow, proven: AuthenticationProgress, code: str, name: str
) -> Cookie | None:
    """Adds the authenticator app whose first code this is. Returns the new cookie, if any.

    With the first second factor the user gets recovery codes (`codes`). Raises `FactorCodeRefused`
    and `Throttled`; `Stale` when something else happened at the same moment.
    """
    user = proven.subject.user
    known = factor_enrolment.find(service, flow.request, user)
    if known is None or known.secret is None:
        raise Stale(AUTH_REQUESTS.name, flow.request.id)
    step = await code_checks.of_new_app(service, user, known.secret, code)
    change = await second_factors.add_totp(service, proven.subject, known.secret, name, step)
    kept = (
        factor_enrolment.seal(service, Setup(user.id, codes=change.codes))
        if change.codes
        else None
    )
    proven = proven.now_as(change.subject.user).by(authentication_context.AMR_CODE)
    noted = {"adding": None, "sealed_setup": kept}
    return await sign_in_flow.prove(service, flow, proven, *change.writes, **noted)


def codes(service: Service, flow: Flow, proven: AuthenticationProgress) -> list[str]:
    """Returns the recovery codes that are shown to this user until they confirm that they have
    noted them."""
    known = factor_enrolment.find(service, flow.request, proven.subject.user)
    return known.codes if known else []


async def keep_codes(
    service: Service, flow: Flow, proven: AuthenticationProgress
) -> Cookie | None:
    """Continues after the user has noted the codes, which are never shown again. Raises
    `Stale`."""
    return await sign_in_flow.prove(service, flow, proven, sealed_setup=None)
