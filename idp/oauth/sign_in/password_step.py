"""The step of a sign-in at which the user enters the password.

Where nothing else is due it ends the sign-in: one unit opens the session and answers the request.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, NamedTuple

from msgspec import structs

from idp.cached_reads import CachedReads
from idp.identity.factors import second_factors
from idp.identity.sessions import clients as session_clients
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions import password_check
from idp.identity.sessions.browsers import Cookie
from idp.identity.sessions.lifetime import LiveSession
from idp.identity.users import lookup as user_lookup
from idp.identity.users import password_change
from idp.limits.origin import AttemptOrigin
from idp.oauth.endpoints import authorization_result
from idp.oauth.endpoints.authorization_response import AuthorizationResponse
from idp.oauth.endpoints.authorization_result import AuthorizationResult
from idp.oauth.sign_in import admission, authentication_progress, next_step, page_branding
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.flow import Opening
from idp.oauth.sign_in.next_step import Continue, Step
from idp.oauth.sign_in.pending import PendingSignIn
from idp.policies import page_settings
from idp.records import APPLICATIONS, Application, AuthRequest, User
from idp.service import Service
from storage import Write


class Entered(NamedTuple):
    """The browser's new cookie, and the response to the client if the sign-in is complete."""

    cookie: Cookie
    response: AuthorizationResponse | None = None


async def enter(
    service: Service,
    flow: PendingSignIn,
    login_name: str,
    password: str,
    origin: AttemptOrigin,
    cached_reads: CachedReads,
) -> Entered:
    """Checks the password, then signs the user in or continues with what is required first.

    `cached_reads` may have the look-ups of the login name. Raises `SignInRefused`, `Throttled` and
    `HashingBusy`; `Stale` when something else changed the flow at the same moment.
    """
    org_id = page_branding.sign_in_org_id(service, flow.request, flow.client)
    service.hasher.check_capacity()
    user = await user_lookup.find_by_login_name(cached_reads.service, login_name, org_id)
    prefetched = CachedReads(service)
    checked = await password_check.check_found(
        *(service, user, login_name, password, origin),
        concurrent_read=partial(_read_next, prefetched.service, flow),
    )
    progress = AuthenticationProgress(checked.subject, session_lifetime.PASSWORD)
    changes = {"login_name": login_name, "reset_id": None}
    entered = await _answered(service, prefetched, flow, progress, changes)
    if entered is None:
        entered = Entered(
            await sign_in_flow.continue_with(prefetched.service, flow, progress, **changes)
        )
    # After the unit: a failed one must not reset the counter of failed attempts.
    service.background_tasks.start(password_check.succeeded(service, checked))
    return entered


async def _read_next(service: Service, flow: PendingSignIn, user: User) -> None:
    """Reads the records that decide how the sign-in continues, together with the user."""
    is_own = flow.request.is_for_own_page
    await asyncio.gather(
        second_factors.of_user(service, user),
        password_change.is_due(service, user),
        *([] if is_own else admission.reads(service, flow.client, user)),
    )


async def _answered(
    service: Service,
    prefetched: CachedReads,
    flow: PendingSignIn,
    progress: AuthenticationProgress,
    changes: dict[str, Any],
) -> Entered | None:
    """Signs the user in and answers the request. Returns None, and stores nothing, if a page is
    due before, or the client may not get the response any more."""
    request = structs.replace(flow.request, **changes)
    # A response by form_post is a separate page, which may be loaded again.
    if request.is_for_own_page or request.response_mode == "form_post":
        return None
    reader = prefetched.service
    if await authentication_progress.next_action(reader, request, progress) is not None:
        return None
    opened = sign_in_flow.opening(service, flow, progress, changes)
    request = structs.replace(request, **opened.changes)
    # As it is after the comparison of the password, which may take long.
    client = await reader.store.get(APPLICATIONS, flow.client.id)
    if client is None or not sign_in_pending.may_be_answered(client, request):
        return None
    step = await _step_after(reader, flow, client, request, opened)
    if not isinstance(step, Continue):
        return None
    result = await authorization_result.prepare(
        reader, client, request, step.live_session, step.decision
    )
    if result is None:
        return None
    return await _store(service, flow, client, opened, result)


async def _step_after(
    service: Service,
    flow: PendingSignIn,
    client: Application,
    request: AuthRequest,
    opened: Opening,
) -> Step:
    """Returns the step of `request` that is next once the session is open."""
    subject = opened.progress.subject
    login = (await page_settings.find(service, subject.organization.id)).login
    others = [each for each in flow.all_live_sessions if each.subject.user.id != subject.user.id]
    live_sessions = [LiveSession(opened.created.session, subject, login), *others]
    admitted = next_step.admitted(service.config, request, live_sessions)
    browser = opened.created.cookie.browser
    return await sign_in_flow.decide(service, client, request, admitted, browser)


async def _store(
    service: Service,
    flow: PendingSignIn,
    client: Application,
    opened: Opening,
    result: AuthorizationResult,
) -> Entered:
    session, remembered = opened.created.session, list[Write]()
    if opened.created.is_renewed:
        # Before the unit: a concurrent logout must find every client that gets tokens.
        await session_clients.remember(service, session, client)
    else:
        remembered = session_clients.of_new_session(session, client)
    completion = partial(sign_in_pending.completion_writes, service, flow, changes=opened.changes)
    cookie = await sign_in_flow.store_opening(
        service, flow, opened, *remembered, *result.writes(completion)
    )
    return Entered(cookie, result.response)
