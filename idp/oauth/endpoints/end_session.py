"""Ending sessions at the request of a client or a user (OpenID Connect RP-Initiated Logout 1.0).

With a valid `id_token_hint` the sessions of its user in this browser end immediately. Without one
the user is asked, and then every session of this browser ends. A request without a cookie, as the
server of an application sends it, ends the session that the hint names (its `sid`). An ID token
does not authenticate its sender, so no other session of another browser is ended here. The browser
is sent back only to a registered address of a client that the request names. Other applications of
the sessions are notified by this service (`back_channel`), and through the browser
(`front_channel`) before it leaves.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Final

from msgspec import Struct, structs

from idp.foundation import base64url
from idp.identity.sessions import browsers
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions.browsers import Cookie
from idp.limits.origin import AttemptOrigin
from idp.oauth import request_limits
from idp.oauth.endpoints import (
    authorization_response,
    back_channel,
    front_channel,
    sealed_requests,
)
from idp.oauth.endpoints.authorization import find_client
from idp.oauth.endpoints.authorization_request import MAX_CHARACTERS
from idp.oauth.endpoints.redirect_uri_match import is_registered
from idp.oauth.errors import InvalidRequest, UnusableRequest
from idp.oauth.params import Params
from idp.oauth.refusals import end_session as checks
from idp.oauth.refusals.check import ONCE
from idp.oauth.tokens import id_tokens
from idp.oauth.tokens.id_tokens import Hint
from idp.records import LOGOUT_REQUESTS, SESSIONS, Application, Browser, LogoutRequest, Session
from idp.service import Service
from storage import Insert, Stale, Write

LIFETIME: Final = timedelta(hours=1)
_ATTEMPTS: Final = 3
_PURPOSE: Final = "logout"


class CompletedLogout(Struct, frozen=True):
    """A completed logout: the request to continue with, and the browser's new cookie if it has
    one."""

    request: LogoutRequest
    cookie: Cookie | None = None


async def read(service: Service, params: Params) -> LogoutRequest:
    """Returns the checked logout request, not stored yet.

    Raises `UnusableRequest`, which is displayed on a page and never sent to the client.
    """
    with ONCE:
        _refuse_repeated(params)
    with checks.LOGOUT_HINT:
        hint = await _hint(service, params.get("id_token_hint"))
    with checks.LOGOUT_CLIENT:
        client = await _client(service, params.get("client_id"), hint)
    uri, state = params.get("post_logout_redirect_uri"), params.get("state")
    with checks.LOGOUT_URI:
        if uri is not None:
            _check_uri(client, uri)
    with checks.LOGOUT_STATE:
        if len(state or "") > MAX_CHARACTERS:
            raise UnusableRequest(
                "state_too_long", f"state is longer than {MAX_CHARACTERS} characters"
            )
    return LogoutRequest(
        id=service.random.id(),
        expires_at=service.clock.now() + LIFETIME,
        client_id=client.id if client else None,
        hinted_user_id=hint.sub if hint else None,
        hinted_session_id=hint.sid if hint else None,
        post_logout_redirect_uri=uri,
        state=authorization_response.encode_state(state),
        ui_locales=_storable(params.get("ui_locales")),
    )


def _refuse_repeated(params: Params) -> None:
    try:
        params.refuse_repeated()
    except InvalidRequest as error:
        raise UnusableRequest("parameter_repeated", error.description) from error


async def _hint(service: Service, token: str | None) -> Hint | None:
    try:
        return None if token is None else await id_tokens.read_hint(service, token)
    except InvalidRequest as error:
        raise UnusableRequest(
            "logout_hint_unusable", error.description, details=error.details
        ) from error


async def _client(
    service: Service, client_id: str | None, hint: Hint | None
) -> Application | None:
    """Returns the client that the hint or `client_id` names; both must name the same one."""
    # OpenID Connect RP-Initiated Logout 1.0, section 2: the client_id must be the one that the ID
    # token was issued to.
    if hint is not None and client_id is not None and hint.azp != client_id:
        raise UnusableRequest(
            "logout_client_differs",
            "client_id is not the client that id_token_hint was issued to",
            client_id=hint.azp,
        )
    client_id = hint.azp if hint else client_id
    if client_id is None:
        return None
    return await find_client(service, client_id)


def _check_uri(client: Application | None, uri: str) -> None:
    if client is None:
        raise UnusableRequest(
            "logout_client_missing",
            "post_logout_redirect_uri needs an id_token_hint or a client_id beside it.",
        )
    registered = tuple(client.post_logout_redirect_uris)
    if not is_registered(client, uri, registered):
        raise UnusableRequest(
            "post_logout_redirect_uri_unregistered",
            "The post_logout_redirect_uri is not one that the application registered.",
            client_id=client.id,
            sent=uri,
            registered=registered,
        )


def _storable(text: str | None) -> str | None:
    return text[:MAX_CHARACTERS].replace("\0", "") if text else None


def destination(request: LogoutRequest) -> str | None:
    """Returns the address to which the browser is redirected after the logout, with `state` if it
    was sent.

    None if the request has no post_logout_redirect_uri.
    """
    if request.post_logout_redirect_uri is None:
        return None
    to = authorization_response.ReturnTo(
        redirect_uri=request.post_logout_redirect_uri, state=request.state
    )
    return authorization_response.with_state(to)


async def address(service: Service, request: LogoutRequest, origin: AttemptOrigin) -> str:
    """Returns the text that identifies a logout request in the address of its page.

    This is the sealed request (`idp.oauth.endpoints.sealed_requests`), or the id of the stored one
    if that would be too long. Raises `TooManyRequests` when the network has sent too many requests
    that are stored.
    """
    sealed = sealed_requests.seal(service, request, _PURPOSE)
    if sealed is not None:
        return sealed
    request_limits.admit_long(service, origin)
    await service.store.commit(Insert(LOGOUT_REQUESTS, request))
    return request.id


async def find(service: Service, address: str) -> LogoutRequest | None:
    """Returns the logout request that a text of `address` identifies, or None when it has
    expired."""
    if not sealed_requests.is_sealed(address):
        return await service.store.get(LOGOUT_REQUESTS, address)
    request = sealed_requests.read(service, address, LogoutRequest, _PURPOSE)
    return request if request and service.clock.now() < request.expires_at else None


async def end_hinted(
    service: Service, request: LogoutRequest, browser: Browser | None
) -> CompletedLogout | None:
    """Ends the sessions that the user of the `id_token_hint` has in this browser, and no others;
    without a browser, the one session that the hint names.

    Returns None if the browser has sessions of other users only: then the caller asks the user. If
    there is no session to end, the logout is complete. Sessions of the browser that are younger
    than the hint are ended, too. The browser gets a new secret in the same unit.
    """
    if browser is None:
        await _end_named(service, request)
        return CompletedLogout(request)
    for rotates in (True, False, False):  # another tab may change the secret meanwhile
        with suppress(Stale):
            # Only the first attempt changes the secret: if it fails, `browser` holds one that
            # another tab has replaced.
            return await _end_hinted(service, request, browser, rotates=rotates)
    return None


async def _end_hinted(
    service: Service, request: LogoutRequest, browser: Browser, *, rotates: bool
) -> CompletedLogout | None:
    open_sessions = await session_lifetime.find_open(service, browser)
    sessions_to_end = [
        session for session in open_sessions if session.user_id == request.hinted_user_id
    ]
    if not sessions_to_end:
        return None if open_sessions else CompletedLogout(request)
    writes: list[Write] = []
    cookie = None
    if rotates:
        rotation, cookie = browsers.rotation(service.random, browser, service.clock.now())
        writes.append(rotation)
    next_request = structs.replace(request, id=service.random.id())
    return CompletedLogout(await _end(service, next_request, sessions_to_end, writes), cookie)


async def _end_named(service: Service, request: LogoutRequest) -> None:
    """Ends the session that the `id_token_hint` names, if it is one of the hint's user.

    Only the back channel is used: the sender may be a server, which loads no frames.
    """
    for _ in range(_ATTEMPTS):
        session = await _named_session(service, request)
        if session is None:
            return
        with suppress(Stale):  # it was used, renewed or ended meanwhile: it is read again
            writes = await session_lifetime.end_writes(service, session)
            await service.store.commit(*writes)
            back_channel.send_soon(service, writes)
            return


async def _named_session(service: Service, request: LogoutRequest) -> Session | None:
    """Returns the session of the `id_token_hint` if it has not ended."""
    if request.hinted_session_id is None:
        return None
    session = await service.store.get(SESSIONS, request.hinted_session_id)
    if session is None or session.ended_at is not None:
        return None
    return session if session.user_id == request.hinted_user_id else None


async def end_all(service: Service, request: LogoutRequest, browser: Browser) -> CompletedLogout:
    """Ends every session of this browser and gives it a new secret, in one unit.

    Raises `Stale` after a concurrent sign-in, where a second call ends that session, too; `Stale`
    or `Conflict` if the same form has ended them meanwhile.
    """
    rotation, cookie = browsers.rotation(service.random, browser, service.clock.now())
    sessions_to_end = await session_lifetime.find_open(service, browser)
    next_request = structs.replace(request, id=_id_after(service, cookie))
    return CompletedLogout(await _end(service, next_request, sessions_to_end, [rotation]), cookie)


async def find_ended(service: Service, cookie: Cookie) -> LogoutRequest | None:
    """Returns the request with which the browser continued when `end_all` had given it this
    cookie; None if there was no application to call through the browser."""
    return await service.store.get(LOGOUT_REQUESTS, _id_after(service, cookie))


def _id_after(service: Service, cookie: Cookie) -> str:
    """Returns an id that follows from the cookie: a form that is sent twice leads to one
    request."""
    return base64url.encode(service.master_key.mac("ended logout", cookie.value)[:16])


async def _end(
    service: Service, request: LogoutRequest, sessions_to_end: list[Session], writes: list[Write]
) -> LogoutRequest:
    """Ends the sessions in one unit with `writes`, and notifies their applications.

    `request` has an id that is not stored yet; it is returned as `front_channel` needs it.
    """
    for session in sessions_to_end:
        writes += await session_lifetime.end_writes(service, session)
    request, insertions = await front_channel.with_ended_sessions(
        service, request, [session.id for session in sessions_to_end]
    )
    await service.store.commit(*writes, *insertions)
    # After the unit: an application must not be notified of a logout that was not stored.
    back_channel.send_soon(service, writes)
    return request
