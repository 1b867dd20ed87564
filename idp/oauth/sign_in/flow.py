"""A sign-in from the authorization request to its response, one step at a time.

Each step of a flow (`idp.oauth.sign_in.pending`) is one unit of writes. After any interruption,
opening the flow's address again continues from the last stored step.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any, Final

from msgspec import Struct, structs

from idp.cached_reads import CachedReads
from idp.foundation import metrics, uris
from idp.identity.guesses import counter_resets
from idp.identity.sessions import browsers, sign_ins
from idp.identity.sessions import creation as session_creation
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions.browsers import Cookie
from idp.identity.sessions.creation import NewSession
from idp.identity.sessions.lifetime import LiveSession
from idp.identity.users import password_change
from idp.identity.users.password_change import PasswordChange
from idp.oauth.endpoints import (
    authorization_result,
    pushed_authorization,
    refusal_records,
)
from idp.oauth.endpoints.authorization import AuthorizeRefused
from idp.oauth.endpoints.authorization_response import AuthorizationResponse
from idp.oauth.errors import ServerError
from idp.oauth.refusals.authorize import PROMPT_POSSIBLE
from idp.oauth.sign_in import (
    admission,
    authentication_progress,
    next_step,
    page_branding,
    responses,
)
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.next_step import (
    Continue,
    Refuse,
    ShowPage,
    SignInPage,
    Step,
    SufficientSession,
)
from idp.oauth.sign_in.pending import PendingSignIn
from idp.records import Application, AuthRequest, Browser
from idp.service import Service
from idp.usage import counts
from storage import Conflict, Stale, Write

_NO_PROGRESS: Final = {
    **authentication_progress.NOTHING,
    "reset_id": None,
    "reset_sent_at": None,
}


async def answer_immediately(
    service: Service, client: Application, request: AuthRequest, browser: Browser | None
) -> AuthorizationResponse | None:
    """Returns the response to a new request if no page is needed, and None otherwise.

    Raises `AuthorizeRefused` where `prompt` forbids the page that would be needed.
    """
    caching_service = CachedReads(service).service
    live_sessions = await session_lifetime.find_live(service, browser)
    step = await decide(caching_service, client, request, live_sessions, browser)
    if isinstance(step, Refuse):
        step.error.check = step.error.check or PROMPT_POSSIBLE
        raise AuthorizeRefused(authorization_result.return_to(request), step.error)
    if isinstance(step, ShowPage):
        return None
    # No flow is stored yet, so there is nothing else to complete.
    use_writes = pushed_authorization.use_writes(service, request)
    response = await authorization_result.respond(
        *(caching_service, client, request, step.live_session, step.decision),
        completion=lambda *_: use_writes,
    )
    return response or responses.failure(service, request, ServerError("the client is not active"))


async def decide(
    service: Service,
    client: Application,
    request: AuthRequest,
    live_sessions: list[LiveSession],
    browser: Browser | None,
    progress: AuthenticationProgress | None = None,
) -> Step:
    """Returns the next step. Consent is asked for once, confirmation of a device each time."""
    if progress is not None:
        action = await authentication_progress.next_action(service, request, progress)
        if action is not None:
            return next_step.step_of(request, progress, action)
    org_id = page_branding.sign_in_org_id(service, request, client)
    remembers = bool(browser and browser.remembered)
    step = await _checked(service, request, live_sessions, org_id, remembers=remembers)
    if isinstance(step, Continue):
        if request.sealed_identity is not None:
            return ShowPage(SignInPage.IDP_LINK, live_session=step.live_session)
        return await admission.decide(service, client, request, step.live_session)
    return step


async def _checked(
    service: Service,
    request: AuthRequest,
    sessions: list[LiveSession],
    org_id: str,
    *,
    remembers: bool,
) -> Step:
    """Returns the next step where the user has not authenticated in this flow yet."""
    config, now = service.config, service.clock.now()
    step = next_step.decide(config, request, sessions, now, remembers=remembers, org_id=org_id)
    if not isinstance(step, SufficientSession):
        return step
    progress = authentication_progress.of_session(step.live_session, now)
    action = await authentication_progress.next_action(service, request, progress)
    return next_step.step_of(request, progress, action) if action else Continue(step.live_session)


async def advance(service: Service, flow: PendingSignIn) -> AuthorizationResponse | ShowPage:
    """Returns the response to the client if the flow can be answered, or the page that the user
    needs next.

    A response completes the flow. Raises `Stale` when another tab answered at the same moment.
    """
    caching_service = CachedReads(service).service
    progress = await find_progress(service, flow)
    step = await decide(
        caching_service, flow.client, flow.request, flow.live_sessions, flow.browser, progress
    )
    if isinstance(step, ShowPage):
        return step
    if isinstance(step, Refuse):
        step.error.check = step.error.check or PROMPT_POSSIBLE
        await refusal_records.store_for_sign_in(service, flow.request, step.error)
        return await responses.fail(service, flow, step.error)
    return await _answer(caching_service, flow, step)


async def _answer(service: Service, flow: PendingSignIn, step: Continue) -> AuthorizationResponse:
    if flow.request.is_for_own_page:
        return await _answer_own_page(service, flow, step)
    completion = partial(sign_in_pending.completion_writes, service, flow)
    try:
        response = await authorization_result.respond(
            service, flow.client, flow.request, step.live_session, step.decision, completion
        )
    except Conflict as error:
        raise sign_in_pending.as_stale(error) from error
    if response is None:
        # The client's organization was deactivated or deleted meanwhile.
        return await responses.end(service, flow, ServerError("the client is not active"))
    return response


async def _answer_own_page(
    service: Service, flow: PendingSignIn, step: Continue
) -> AuthorizationResponse:
    """Returns the redirect to the page; of several signed-in users it names the chosen one."""
    chosen = [("session", step.live_session.session.id)] if len(flow.live_sessions) > 1 else []
    address = uris.with_parameters(flow.request.redirect_uri, chosen)
    return await responses.complete(service, flow, AuthorizationResponse(address))


async def choose_language(service: Service, flow: PendingSignIn, tag: str) -> None:
    """Stores the language with this tag, which the user chose on a page of the flow.

    A flow that is not stored yet gets another `address`, which contains the language.
    """
    if flow.is_stored:
        await update_request(service, flow, language=tag)
    else:
        flow.address = sign_in_pending.in_language(service, flow, tag) or flow.address


async def enter_login_name(service: Service, flow: PendingSignIn, login_name: str) -> None:
    """Stores the login name in the flow, so that the page for the password is next.

    It is not looked up here: no page shows whether the account exists. Raises `Stale`.
    """
    await update_request(
        service,
        flow,
        login_name=login_name,
        session_id=None,
        adding=_factor_begun_for(flow),
        **_NO_PROGRESS,
    )


def _factor_begun_for(flow: PendingSignIn) -> str | None:
    """Returns the second factor that this sign-in was begun to set up, or None. One that a user
    chose during the sign-in is dropped when another user is chosen."""
    return flow.request.adding if flow.request.is_for_own_page else None


async def pick_session(service: Service, flow: PendingSignIn, session_id: str) -> bool:
    """Stores the user's choice of one of this browser's sessions in the flow.

    Returns False when the browser has no session with this id. Raises `Stale`.
    """
    if not any(live_session.session.id == session_id for live_session in flow.live_sessions):
        return False
    chosen = {"session_id": session_id, "login_name": None, "adding": _factor_begun_for(flow)}
    await update_request(service, flow, **chosen, **_NO_PROGRESS)
    return True


async def update_request(service: Service, flow: PendingSignIn, **changes: Any) -> None:
    """Stores changed fields of the flow's request.

    Raises `Stale` when the request was answered or cancelled, or has expired.
    """
    await sign_in_pending.commit(service, flow, sign_in_pending.step(flow, changes))


async def continue_with(
    service: Service,
    flow: PendingSignIn,
    progress: AuthenticationProgress,
    *writes: Write,
    **changes: Any,
) -> Cookie:
    """Stores one more authentication method of a user, in one unit with the writes of that method.

    Signs the user in; or stores the progress where something is still required. Either way the
    browser gets a new secret, so that who knows its earlier cookie can't continue, and its cookie
    is returned. `progress` has all methods that are valid now, also those of `find_progress`;
    `changes` are other fields of the request to store. Raises `Conflict` and `Stale`, of these
    writes or because something else happened at the same moment.
    """
    request = structs.replace(flow.request, **changes)
    if await authentication_progress.next_action(service, request, progress) is None:
        opened = opening(service, flow, progress, changes)
        step = sign_in_pending.step(flow, opened.changes)
        return await store_opening(service, flow, opened, *writes, step)
    rotation, cookie = browsers.rotation(service.random, flow.browser, service.clock.now())
    changes = {**changes, **authentication_progress.stored_fields(cookie.browser, progress)}
    step = sign_in_pending.step(flow, changes)
    await sign_in_pending.commit(service, flow, *writes, rotation, step, is_confirmed=True)
    flow.browser = cookie.browser
    return cookie


async def find_progress(service: Service, flow: PendingSignIn) -> AuthenticationProgress | None:
    """Returns the valid authentication progress of this flow, or None."""
    return await authentication_progress.find(service, flow.request, flow.browser, flow.sessions)


async def forget_progress(service: Service, flow: PendingSignIn) -> None:
    """Removes the stored authentication progress, so that the user has to begin with the login
    name.

    Progress that another request stored after `flow` was read is left unchanged.
    """
    request = flow.request
    expected = {
        "completed_at": None,
        "reset_id": request.reset_id,
        "proven_user_id": request.proven_user_id,
    }
    if not flow.is_stored:
        return
    with suppress(Stale):
        await sign_in_pending.commit(
            service, flow, sign_in_pending.step(flow, _NO_PROGRESS, expected)
        )


async def choose_password(
    service: Service, flow: PendingSignIn, progress: AuthenticationProgress, password: str
) -> Cookie:
    """Stores the user's new password and continues the sign-in, in one unit.

    Returns the browser's new cookie. Raises `HashingBusy`; `Stale` when the password was replaced
    meanwhile.
    """
    subject = progress.subject
    change: PasswordChange = await password_change.prepare(
        service, subject, password, actor=subject.user.id
    )
    is_reset = not progress.amr  # a mailed code is no method of signing in
    progress = progress.with_user(change.subject.user).with_methods(*session_lifetime.PASSWORD)
    cookie = await continue_with(service, flow, progress, *change.writes)
    if is_reset:
        counts.count(service, "reset", subject.user.org_id)
    await counter_resets.forget(service, subject)
    return cookie


class Opening(Struct, frozen=True):
    """A session that is to be opened: what opens it, for the user of `progress`, and the `changes`
    of the request that name it."""

    progress: AuthenticationProgress
    created: NewSession
    changes: dict[str, Any]


def opening(
    service: Service,
    flow: PendingSignIn,
    progress: AuthenticationProgress,
    changes: dict[str, Any],
) -> Opening:
    """Returns the session by which the user of `progress` is signed in, for a unit with the writes
    that made it possible; `changes` are other fields of the request to store."""
    created = session_creation.prepare(
        service,
        flow.browser,
        progress.subject,
        flow.sessions,
        progress.amr,
        progress.auth_time,
        connection_id=progress.connection.id if progress.connection else None,
    )
    was_in_flow = flow.request.authenticated_session_id is not None
    # Only a new authentication satisfies `prompt=login`, not a second factor added to an older
    # session.
    is_in_flow = was_in_flow if progress.auth_time else True
    session_changes = {
        **changes,
        **_NO_PROGRESS,
        "session_id": created.session.id,
        "authenticated_session_id": created.session.id if is_in_flow else None,
        "login_name": None,
        "registration_id": None,
    }
    return Opening(progress, created, session_changes)


async def store_opening(
    service: Service, flow: PendingSignIn, opened: Opening, *writes: Write
) -> Cookie:
    """Signs the user in, in one unit with `writes`, among which is a step of the flow. Returns the
    new cookie."""
    # The unit does not depend on the user's record: the session has a digest of the stamps that
    # were read, and a deactivation at the same moment gives the user another stamp.
    await sign_in_pending.commit(service, flow, *opened.created.writes, *writes, is_confirmed=True)
    await authentication_progress.confirm(service, opened.progress)
    metrics.SIGN_INS.count("completed", "+".join(sorted(opened.progress.amr)))
    progress = opened.progress
    sign_ins.count(service, progress.subject.user, progress.amr, is_new=progress.auth_time is None)
    return opened.created.cookie
