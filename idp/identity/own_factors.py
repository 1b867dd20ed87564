"""A signed-in person's own second factors: the app taken away, and new recovery codes."""

from __future__ import annotations

from idp.errors import FailedPrecondition
from idp.identity import factors
from idp.identity.sessions import LiveSession
from idp.service import Service
from storage import Stale
from storage.settling import commit_settled


async def remove_totp(service: Service, live: LiveSession) -> None:
    """Take the authenticator app away: every session ends but this one, and the person is told by
    mail.

    Raises FailedPrecondition: it is the last factor, and one is demanded; Stale: there is none, or
    something else happened at once.
    """
    user = live.subject.user
    if user.totp is None:
        raise Stale("users", user.id)
    if await factors.is_needed(service, user, factors.TOTP):
        raise FailedPrecondition("a second factor is demanded", slug="factor.last")
    change = await factors.remove_totp(service, live.subject, user.id)
    stays = live.staying(service, change.subject)
    await commit_settled(service.store, *change.writes, *stays)


async def new_codes(service: Service, live: LiveSession) -> list[str]:
    """Recovery codes in place of those before, to be shown once. Raises FailedPrecondition: there
    is no factor that they could stand in for; Stale."""
    user = live.subject.user
    if not await factors.of_user(service, user):
        raise FailedPrecondition("there is no second factor", slug="factor.none")
    made = await factors.renew_codes(service, user)
    await commit_settled(service.store, *made.writes)
    return made.codes
