"""Signing in by passkey: the options for the browser, and the verification of its response."""

from __future__ import annotations

from typing import Any

from idp.identity.factors import challenges, passkey_changes, passkeys, webauthn
from idp.identity.guesses import counter_resets
from idp.identity.sessions.browsers import Cookie
from idp.oauth.sign_in import authentication_progress
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress, FactorEnrolment
from idp.oauth.sign_in.pending import PendingSignIn
from idp.policies import page_settings
from idp.records import PASSKEYS, USED_VALUES
from idp.service import Service
from storage import Conflict, Stale


def _challenge_context(flow: PendingSignIn) -> str:
    # A challenge is valid in one flow of one browser only.
    return f"{flow.request.id}\n{flow.browser.id}"


async def options(
    service: Service, flow: PendingSignIn, progress: AuthenticationProgress | None = None
) -> dict[str, Any] | None:
    """Returns the WebAuthn request options for the browser (WebAuthn 5.5).

    They ask for a passkey of the user of `progress`, or without that for any. None if passkeys are
    not available, or the organization allows no sign-in by passkey alone.
    """
    party = webauthn.relying_party(service.config)
    if party is None:
        return None
    challenge = challenges.new(service, "get", _challenge_context(flow))
    if progress is not None:
        registered = await passkeys.of_user(service, progress.subject.user.id)
        return passkeys.request_options(party, challenge, registered)
    if not await _allows_passkey_alone(service, flow.client.org_id):
        return None
    return passkeys.request_options(party, challenge)


async def enter(
    service: Service,
    flow: PendingSignIn,
    text: str,
    progress: AuthenticationProgress | None = None,
) -> Cookie:
    """Verifies `text`, the browser's WebAuthn response, and continues the sign-in with its user.

    That has to be the user of `progress`, if given. Returns the browser's new cookie. Raises
    `WebAuthnRefused`; `Stale` when something else happened at the same moment.
    """
    party = webauthn.relying_party(service.config)
    if party is None:
        raise webauthn.WebAuthnRefused("there are no passkeys here")
    user_id = progress.subject.user.id if progress else None
    verified = await passkeys.authenticate(service, party, text, _challenge_context(flow), user_id)
    # The user is known only now, and may be of another organization than the client.
    if progress is None and not await _allows_passkey_alone(service, verified.subject.user.org_id):
        raise webauthn.WebAuthnRefused(
            "the user's organization wants no sign-in without a password"
        )
    progress = (progress or AuthenticationProgress(verified.subject)).with_methods(*verified.amr)
    try:
        cookie = await sign_in_flow.continue_with(service, flow, progress, *verified.writes)
    except Conflict:
        # The same response was sent twice.
        raise Stale(USED_VALUES.name, flow.request.id) from None
    await counter_resets.forget(service, progress.subject)
    return cookie


async def creation_options(
    service: Service, flow: PendingSignIn, progress: AuthenticationProgress
) -> dict[str, Any] | None:
    """Returns the WebAuthn creation options for the browser (WebAuthn 5.4).

    None if passkeys are not available at the address of this installation.
    """
    party, user = webauthn.relying_party(service.config), progress.subject.user
    if party is None:
        return None
    registered = await passkeys.of_user(service, user.id)
    challenge = challenges.new(service, "create", _challenge_context(flow))
    return passkeys.creation_options(service, party, user, registered, challenge)


async def add(
    service: Service, flow: PendingSignIn, progress: AuthenticationProgress, name: str, text: str
) -> Cookie:
    """Adds the passkey in `text`, the browser's WebAuthn response, and continues the sign-in.

    `name` is the user's name for the passkey. With the first second factor the user gets recovery
    codes. Returns the browser's new cookie. Raises `InvalidArgument` for the name;
    `WebAuthnRefused`, also for a passkey that is registered already; `Stale` when something else
    happened at the same moment.
    """
    party = webauthn.relying_party(service.config)
    if party is None:
        raise webauthn.WebAuthnRefused("there are no passkeys here")
    passkey, change = await passkey_changes.add(
        service, party, progress.subject, name, text, _challenge_context(flow)
    )
    user, codes = change.subject.user, change.codes
    sealed_setup = (
        authentication_progress.seal_enrolment(service, FactorEnrolment(user.id, codes=codes))
        if codes
        else None
    )
    progress = progress.with_user(user).with_methods(*passkeys.amr_of(passkey))
    changes = {"adding": None, "sealed_setup": sealed_setup}
    try:
        return await sign_in_flow.continue_with(service, flow, progress, *change.writes, **changes)
    except Conflict as error:
        if error.collection == PASSKEYS.name:
            raise webauthn.WebAuthnRefused("the passkey is registered already") from None
        raise Stale(USED_VALUES.name, flow.request.id) from None


async def _allows_passkey_alone(service: Service, org_id: str) -> bool:
    return (await page_settings.find(service, org_id)).login.allow_passwordless
