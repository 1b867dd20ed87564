"""The last checks of a sign-in: whether the user may use the application, and their consent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from msgspec import structs

from idp.foundation import logs
from idp.identity.sessions.lifetime import LiveSession
from idp.oauth.endpoints import refusal_records
from idp.oauth.errors import InteractionRequired
from idp.oauth.refusals.check import USER_ALLOWED
from idp.oauth.sign_in import consents
from idp.oauth.sign_in.next_step import Continue, Refuse, ShowPage, SignInPage, Step
from idp.oauth.tokens import allowed_users, audiences
from idp.oauth.tokens.allowed_users import AccessDecision
from idp.records import APPLICATIONS, ORGANIZATIONS, Application, AuthRequest, User
from idp.service import Service
from storage import Key

_log = logs.logger(__name__)


async def decide(
    service: Service, client: Application, request: AuthRequest, live_session: LiveSession
) -> Step:
    """Returns the next step of a sign-in whose user is signed in with the session `live_session`.

    Checks whether the user may use the client, then the consent; a device requires confirmation
    each time. The service's own pages are open to every user.
    """
    if request.is_for_own_page:
        return await consents.decide(service, client, request, live_session)
    # The records that the response needs are read together with those of the decision
    # (`CachedReads`).
    decision, _ = await asyncio.gather(
        allowed_users.find(service, client, live_session.subject),
        audiences.api_applications(service, client),
    )
    # Without `prompt=none` a page offers another account; with it the client gets the error.
    if decision.grounds is None and "none" in request.prompt:
        return Refuse(_refusal(client, live_session, decision))
    if decision.grounds is None:
        return ShowPage(SignInPage.NOT_ALLOWED, live_session=live_session)
    if request.device_id is not None:
        return ShowPage(SignInPage.DEVICE_CONFIRM, live_session=live_session)
    step = await consents.decide(service, client, request, live_session)
    return structs.replace(step, decision=decision) if isinstance(step, Continue) else step


def reads(service: Service, client: Application, user: User) -> list[Awaitable[object]]:
    """Returns reads of the client and of what `decide` reads for this user and most clients, for a
    caller with `CachedReads` to make side by side."""
    use = allowed_users.use_of(client, user)
    keys: list[Key] = [
        (APPLICATIONS, client.id),
        (ORGANIZATIONS, client.org_id),
        *allowed_users.keys(use, client.project_id),
    ]
    return [service.store.get_many(keys), audiences.api_applications(service, client)]


async def store_refusal(
    service: Service, client: Application, request: AuthRequest, live_session: LiveSession
) -> None:
    """Stores, for administrators, the refusal by which this user may not use the client.

    Nothing is stored if the user may use it by now.
    """
    decision = await allowed_users.find(service, client, live_session.subject)
    if decision.grounds is None:
        await refusal_records.store_for_sign_in(
            service, request, _refusal(client, live_session, decision)
        )


def _refusal(
    client: Application, live_session: LiveSession, decision: AccessDecision
) -> InteractionRequired:
    """Returns the error for a user who may not use the client. Logs the rule, as not every refusal
    is stored."""
    details, fix = decision.refusal or ("", "")
    user_id = live_session.subject.user.id
    _log.info("user may not use application", cause=details, client_id=client.id, user_id=user_id)
    error = InteractionRequired("the user may not use the application", details=details, fix=fix)
    error.check = USER_ALLOWED
    return error
