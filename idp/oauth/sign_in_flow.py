"""A sign-in from the authorization request to its answer, one step at a time.

A flow is a stored `AuthRequest` that belongs to one browser. Each step is one unit of writes;
whatever happens between two steps, opening the flow's address again goes on from there.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct, structs

from idp.identity import agents, opening, password_change, sessions, sign_in, users
from idp.identity.agents import Cookie
from idp.identity.password_change import Change
from idp.identity.sessions import LiveSession
from idp.identity.subjects import Subject, is_active
from idp.oauth import (
    answering,
    consents,
    device_answers,
    interaction,
    own_areas,
    refusals,
    responses,
)
from idp.oauth.authorize import Refused
from idp.oauth.checks.authorize import PERSON
from idp.oauth.errors import AccessDenied, OAuthError, ServerError
from idp.oauth.interaction import Answer, Ask, Fail, Page, Step
from idp.oauth.responses import Reply
from idp.records import (
    AGENTS,
    APPLICATIONS,
    AUTH_REQUESTS,
    INSTANCE_ID,
    INSTANCES,
    Agent,
    Application,
    AuthRequest,
    Session,
)
from idp.service import Service
from storage import Insert, Stale, Update, Write
from storage.settling import commit_settled

_NOTHING_PROVEN: Final = {
    "proven_user_id": None,
    "proven_stamp": None,
    "proven_secret_hash": None,
}


class Flow(Struct, frozen=True):
    """A sign-in that waits in this browser, with everything its steps look at."""

    request: AuthRequest
    client: Application
    agent: Agent
    sessions: list[Session]
    live: list[LiveSession]


class Begun(Struct, frozen=True):
    """A stored flow; `cookie` is set when the browser was not known yet."""

    flow_id: str
    cookie: Cookie | None


async def answer_at_once(
    service: Service, client: Application, request: AuthRequest, agent: Agent | None
) -> Reply | None:
    """The answer to the client when no person is needed; None when one is.

    Raises Refused where `prompt` forbids what would be needed.
    """
    live = await sessions.find_live(service, agent)
    step = await _decide(service, client, request, live)
    if isinstance(step, Fail):
        step.error.check = PERSON
        raise Refused(answering.return_to(request), step.error)
    if isinstance(step, Ask):
        return None
    reply = await answering.answer(service, client, request, step.live, stored=False)
    return reply or failure(service, request, ServerError("the client is not active"))


async def _decide(
    service: Service, client: Application, request: AuthRequest, live: list[LiveSession]
) -> Step:
    """The next step; whoever is signed in must have let the client in, too: a device each time."""
    step = interaction.decide(service.config, request, live, service.clock.now())
    if isinstance(step, Answer) and request.device_id is not None:
        return Ask(Page.DEVICE_CONFIRM, live=step.live)
    if isinstance(step, Answer):
        return await consents.settle(service, client, request, step.live)
    return step


async def begin(
    service: Service, request: AuthRequest, agent: Agent | None, *also: Write
) -> Begun:
    """Store the request for this browser, which is made known if it is not; in one unit with
    what else there is to write. Raises Stale, of that."""
    cookie = agents.new(service.random, service.clock.now()) if agent is None else None
    known = cookie.agent if cookie else agent
    request = structs.replace(request, agent_id=known.id if known else None)
    writes: list[Write] = [Insert(AUTH_REQUESTS, request), *also]
    if cookie is not None:
        writes.append(Insert(AGENTS, cookie.agent))
    await service.store.commit(*writes)
    return Begun(flow_id=request.id, cookie=cookie)


async def begin_unbound(service: Service, request: AuthRequest) -> Begun:
    """Store a request that came by a POST without a cookie; its first page binds it."""
    await service.store.commit(Insert(AUTH_REQUESTS, request))
    return Begun(flow_id=request.id, cookie=None)


async def bind(service: Service, flow_id: str, agent: Agent | None) -> Begun | None:
    """Give an unbound flow to this browser; None when there is no such flow to bind."""
    request = await service.store.get(AUTH_REQUESTS, flow_id)
    if request is None or request.agent_id is not None:
        return None
    cookie = agents.new(service.random, service.clock.now()) if agent is None else None
    known = cookie.agent if cookie else agent
    changes = {"agent_id": known.id if known else None}
    writes: list[Write] = [Update(AUTH_REQUESTS, flow_id, set=changes, expect={"agent_id": None})]
    if cookie is not None:
        writes.append(Insert(AGENTS, cookie.agent))
    try:
        await service.store.commit(*writes)
    except Stale:
        return None
    return Begun(flow_id=flow_id, cookie=cookie)


async def find(service: Service, flow_id: str, agent: Agent | None) -> Flow | None:
    """The flow, if it is this browser's and still waits."""
    request = await service.store.get(AUTH_REQUESTS, flow_id)
    if request is None or agent is None or request.agent_id != agent.id:
        return None
    client = await _client_of(service, request)
    if client is None or client.state != "active" or request.completed_at is not None:
        return None
    found = await sessions.find_open(service, agent)
    live = await sessions.live_among(service, found)
    live = interaction.admitted(service.config, request, live)
    return Flow(request=request, client=client, agent=agent, sessions=found, live=live)


async def _client_of(service: Service, request: AuthRequest) -> Application | None:
    """The application that asked, or would ask; for a page of the service, one that stands for
    it."""
    client = await service.store.get(APPLICATIONS, request.client_id)
    if client is not None or not request.is_for_own_page:
        return client
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    return own_areas.application(request, instance) if instance else None


async def is_finished(service: Service, flow_id: str, agent: Agent | None) -> bool:
    """Whether this browser's flow has been answered already."""
    request = await service.store.get(AUTH_REQUESTS, flow_id)
    if request is None or agent is None or request.agent_id != agent.id:
        return False
    return request.completed_at is not None


async def advance(service: Service, flow: Flow) -> Reply | Ask:
    """The answer to the client, or the page that is needed.

    Raises Stale when another tab answered at the same moment.
    """
    step = await _decide(service, flow.client, flow.request, flow.live)
    if isinstance(step, Ask):
        return step
    if isinstance(step, Fail):
        step.error.check = PERSON
        await refusals.keep_flow(service, flow.request, step.error)
        return await _end(service, flow.request, step.error)
    return await _answer(service, flow, step)


async def _answer(service: Service, flow: Flow, step: Answer) -> Reply:
    if flow.request.is_for_own_page:
        return await _answer_own_page(service, flow, step)
    reply = await answering.answer(service, flow.client, flow.request, step.live, stored=True)
    if reply is None:
        return await _end(service, flow.request, ServerError("the client is not active"))
    return reply


async def _answer_own_page(service: Service, flow: Flow, step: Answer) -> Reply:
    """Go there; where several people are signed in, the address says whom the person chose."""
    await _note(service, flow.request, completed_at=service.clock.now())
    chosen = [("session", step.live.session.id)] if len(flow.live) > 1 else []
    return Reply(responses.append(flow.request.redirect_uri, chosen))


async def cancel(service: Service, flow: Flow) -> Reply:
    """End the flow on the person's word; what tells the client."""
    return await _end(service, flow.request, AccessDenied("the user cancelled the sign-in"))


async def deny(service: Service, flow: Flow) -> Reply:
    """The same for who does not let the client in."""
    return await _end(service, flow.request, AccessDenied("the user denied the request"))


async def _end(service: Service, request: AuthRequest, error: OAuthError) -> Reply:
    if request.device_id is not None:
        return await device_answers.deny(service, request)
    await _note(service, request, completed_at=service.clock.now())
    if request.is_for_own_page:
        return Reply(service.config.issuer)
    return failure(service, request, error)


def failure(service: Service, request: AuthRequest, error: OAuthError) -> Reply:
    """What tells the client of an error."""
    return responses.failure(service.config, answering.return_to(request), error)


async def choose_language(service: Service, flow: Flow, tag: str) -> None:
    """Keep the language that was chosen on a page of this flow."""
    await _note(service, flow.request, language=tag)


async def enter_login_name(service: Service, flow: Flow, login_name: str) -> None:
    """Go on to the password of whoever this is; nobody is told whether it exists."""
    await _note(
        service,
        flow.request,
        login_name=login_name,
        session_id=None,
        **_NOTHING_PROVEN,
    )


async def pick_session(service: Service, flow: Flow, session_id: str) -> bool:
    """Choose one of this browser's live sessions; False when there is no such one."""
    if not any(one.session.id == session_id for one in flow.live):
        return False
    chosen = {"session_id": session_id, "login_name": None}
    await _note(service, flow.request, **chosen, **_NOTHING_PROVEN)
    return True


async def _note(service: Service, request: AuthRequest, **changes: Any) -> None:
    """Raises Stale when the flow was answered, cancelled or has expired."""
    await service.store.commit(
        Update(AUTH_REQUESTS, request.id, set=changes, expect={"completed_at": None})
    )


async def enter_password(
    service: Service, flow: Flow, login_name: str, password: str, address: str
) -> Cookie | None:
    """Sign in, or go on to the choice of a new password; the browser's new cookie.

    Raises sign_in.Refused, Throttled, HashingBusy; Stale when something else happened at once.
    """
    subject = await sign_in.check_password(service, login_name, password, address)
    if await password_change.is_due(service, subject.user):
        await _note(
            service,
            flow.request,
            login_name=login_name,
            proven_user_id=subject.user.id,
            proven_stamp=subject.user.stamp,
            proven_secret_hash=flow.agent.secret_hash,
        )
        return None
    return await open_session(service, flow, subject, [opening.guard(subject)])


async def find_proven(service: Service, flow: Flow) -> Subject | None:
    """Whose password was right in this flow and has to be replaced."""
    request = flow.request
    if request.proven_user_id is None or request.proven_secret_hash != flow.agent.secret_hash:
        return None  # a logout or another sign-in since then has ended the proof
    subject = await users.find_subject(service, request.proven_user_id)
    if subject is None or not is_active(subject):
        return None
    return subject if subject.user.stamp == request.proven_stamp else None


async def forget_proven(service: Service, flow: Flow) -> None:
    """The password that was proven has been replaced since: ask for it again."""
    await _note(service, flow.request, **_NOTHING_PROVEN)


async def choose_password(service: Service, flow: Flow, subject: Subject, password: str) -> Cookie:
    """Replace the proven user's password and sign them in, in one unit.

    Raises HashingBusy; Stale when the password was replaced meanwhile.
    """
    change: Change = await password_change.prepare(
        service, subject, password, actor=subject.user.id
    )
    return await open_session(service, flow, change.subject, change.writes)


async def forget_registration(service: Service, flow: Flow) -> None:
    """The account that waited in this flow is gone: begin again."""
    await _note(service, flow.request, registration_id=None)


async def open_session(
    service: Service, flow: Flow, subject: Subject, before: list[Write]
) -> Cookie:
    """Sign the subject in with the writes that made it possible, in one unit; the new cookie.

    Raises Conflict and Stale, of these writes or because something else happened at once.
    """
    opened = opening.prepare(service, flow.agent, subject, flow.sessions)
    proven = {
        "session_id": opened.session.id,
        "authenticated_session_id": opened.session.id,
        **_NOTHING_PROVEN,
        "login_name": None,
        "registration_id": None,
    }
    step = Update(AUTH_REQUESTS, flow.request.id, set=proven, expect={"completed_at": None})
    await commit_settled(service.store, *before, *opened.writes, step)
    return opened.cookie
