"""Changes that signed-in users make to their own second factors."""

from __future__ import annotations

from idp import changes
from idp.foundation.errors import FailedPrecondition
from idp.identity.factors import last_factor, second_factors
from idp.identity.sessions.lifetime import LiveSession
from idp.mail.templates import security as security_messages
from idp.service import Service
from storage import Stale


async def remove_totp(service: Service, live_session: LiveSession, new_password: str = "") -> None:
    """Removes the user's authenticator app (TOTP, RFC 6238). Every other session of the user ends,
    and the user gets a mail. If the app is the last factor, `new_password` replaces a password
    that is too short to be used alone.

    Raises FailedPrecondition if it is the last factor and the policy requires one;
    PasswordTooShort, PasswordNotAccepted, HashingBusy; Stale if there is no app, or the user was
    changed concurrently.
    """
    user = live_session.subject.user
    if user.totp is None:
        raise Stale("users", user.id)
    if await second_factors.is_needed(service, user, second_factors.TOTP):
        raise FailedPrecondition("a second factor is required", error_code="factor.last")
    further_values = await last_factor.password_change_for(
        service, live_session.subject, second_factors.TOTP, new_password
    )
    change = await second_factors.remove_totp(
        service, live_session.subject, user.id, further_values
    )
    session_writes = await live_session.keep_valid_writes(service, change.subject)
    messages = security_messages.password_changed(service, user) if further_values else []
    await changes.store(service, *change.writes, *session_writes, *messages)


async def new_codes(service: Service, live_session: LiveSession) -> list[str]:
    """Replaces the user's recovery codes and returns the new ones, to be displayed once. Raises
    FailedPrecondition if the user has no second factor; Stale."""
    user = live_session.subject.user
    if not await second_factors.of_user(service, user):
        raise FailedPrecondition("there is no second factor", error_code="factor.none")
    renewed = await second_factors.renew_codes(service, user)
    await changes.store(service, *renewed.writes)
    return renewed.codes
