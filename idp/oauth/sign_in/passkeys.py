"""A sign-in by passkey: what the browser is asked for, and what its answer opens."""

from __future__ import annotations

from typing import Any

from idp.identity.factors import challenges, passkey_changes, passkeys, webauthn
from idp.identity.guesses import resets as guess_resets
from idp.identity.sessions.browsers import Cookie
from idp.oauth.sign_in import factor_enrolment
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.factor_enrolment import Setup
from idp.oauth.sign_in.pending import Flow
from idp.policies import page_settings
from idp.records import PASSKEYS, REPLAY
from idp.service import Service
from storage import Conflict, Stale


def _bound_to(flow: Flow) -> str:
    return f"{flow.request.id}\n{flow.agent.id}"


async def options(
    service: Service, flow: Flow, proven: AuthenticationProgress | None = None
) -> dict[str, Any] | None:
    """What a browser is asked for: any passkey, or one of who has proven something already. None
    where nobody signs in by passkey."""
    party = webauthn.relying_party(service.config)
    if party is None:
        return None
    challenge = challenges.new(service, "get", _bound_to(flow))
    if proven is not None:
        known = await passkeys.of_user(service, proven.subject.user.id)
        return passkeys.request_options(party, challenge, known)
    if not await _may_stand_alone(service, flow.client.org_id):
        return None
    return passkeys.request_options(party, challenge)


async def enter(
    service: Service, flow: Flow, text: str, proven: AuthenticationProgress | None = None
) -> Cookie | None:
    """Go on with who the browser's answer proves to be there, who has to be the one that has
    `proven` something already; the browser's new cookie, if they are signed in.

    Raises webauthn.Refused; Stale when something else happened at once.
    """
    party = webauthn.relying_party(service.config)
    if party is None:
        raise webauthn.WebAuthnRefused("there are no passkeys here")
    user_id = proven.subject.user.id if proven else None
    proof = await passkeys.prove(service, party, text, _bound_to(flow), user_id)
    if proven is None and not await _may_stand_alone(service, proof.subject.user.org_id):
        raise webauthn.WebAuthnRefused(
            "the user's organization wants no sign-in without a password"
        )
    whole = (proven or AuthenticationProgress(proof.subject)).by(*proof.amr)
    try:
        cookie = await sign_in_flow.prove(service, flow, whole, *proof.writes)
    except Conflict:
        raise Stale(REPLAY.name, flow.request.id) from None  # the same answer, sent twice
    await guess_resets.forget(service, whole.subject.user)
    return cookie


async def creation_options(
    service: Service, flow: Flow, proven: AuthenticationProgress
) -> dict[str, Any] | None:
    """What a browser is asked to make; None where there are no passkeys."""
    party, user = webauthn.relying_party(service.config), proven.subject.user
    if party is None:
        return None
    known = await passkeys.of_user(service, user.id)
    challenge = challenges.new(service, "create", _bound_to(flow))
    return passkeys.creation_options(service, party, user, known, challenge)


async def add(
    service: Service, flow: Flow, proven: AuthenticationProgress, name: str, text: str
) -> Cookie | None:
    """Let the key in a browser's answer be the person's, and go on; the browser's new cookie. With
    the first factor there are recovery codes to be kept.

    Raises InvalidArgument (the name); webauthn.Refused, also for a key that is somebody's already;
    Stale when something else happened at once.
    """
    party = webauthn.relying_party(service.config)
    if party is None:
        raise webauthn.WebAuthnRefused("there are no passkeys here")
    passkey, change = await passkey_changes.add(
        service, party, proven.subject, name, text, _bound_to(flow)
    )
    user, codes = change.subject.user, change.codes
    kept = factor_enrolment.seal(service, Setup(user.id, codes=codes)) if codes else None
    proven = proven.now_as(user).by(*passkeys.amr_of(passkey))
    noted = {"adding": None, "sealed_setup": kept}
    try:
        return await sign_in_flow.prove(service, flow, proven, *change.writes, **noted)
    except Conflict as error:
        if error.collection == PASSKEYS.name:
            raise webauthn.WebAuthnRefused("the passkey is somebody's already") from None
        raise Stale(REPLAY.name, flow.request.id) from None


async def _may_stand_alone(service: Service, org_id: str) -> bool:
    return (await page_settings.look(service, org_id)).login.allow_passwordless
