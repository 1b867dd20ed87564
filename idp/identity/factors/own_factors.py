"""A signed-in person's own second factors: the app taken away, and new recovery codes."""

from __future__ import annotations

from idp.foundation.errors import FailedPrecondition
from idp.identity.factors import last_factor, second_factors
from idp.identity.sessions.lifetime import LiveSession
from idp.mail.templates import security as security_messages
from idp.service import Service
from storage import Stale
from storage.settling import commit_settled


async def remove_totp(service: Service, live: LiveSession, new_password: str = "") -> None:
    """Removes the authenticator app: every session ends but this one, and the person gets a mail.
    With the last factor, `new_password` replaces a password that is too short to stand alone.

    Raises FailedPrecondition: it is the last factor, and one is demanded; PasswordTooShort,
    PasswordNotAccepted, HashingBusy; Stale: there is none, or another change was made meanwhile.
    """
    user = live.subject.user
    if user.totp is None:
        raise Stale("users", user.id)
    if await second_factors.is_needed(service, user, second_factors.TOTP):
        raise FailedPrecondition("a second factor is demanded", slug="factor.last")
    also = await last_factor.password_change_for(
        service, live.subject, second_factors.TOTP, new_password
    )
    change = await second_factors.remove_totp(service, live.subject, user.id, also)
    stays = await live.staying(service, change.subject)
    messages = security_messages.password_changed(service, user) if also else []
    await commit_settled(service.store, *change.writes, *stays, *messages)


async def new_codes(service: Service, live: LiveSession) -> list[str]:
    """Recovery codes in place of those before, to be shown once. Raises FailedPrecondition: there
    is no factor that they could stand in for; Stale."""
    user = live.subject.user
    if not await second_factors.of_user(service, user):
        raise FailedPrecondition("there is no second factor", slug="factor.none")
    made = await second_factors.renew_codes(service, user)
    await commit_settled(service.store, *made.writes)
    return made.codes
