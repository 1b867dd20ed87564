"""/ui/login/idp and /idps/{id}/callback: the redirect to another identity provider, and its
response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from handlers.http import browser
from handlers.http.base import ResponseSent
from handlers.login import connection_test
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from handlers.pages import icons
from handlers.pages.base import PageHandler
from idp.foundation import logs, uris
from idp.foundation.i18n import message
from idp.limits import requester
from idp.oauth.params import Params
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in import restart_link, upstream_departure, upstream_return
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import PendingSignIn
from idp.oauth.sign_in.restart_link import Continuation
from idp.oauth.sign_in.upstream_departure import MAX_BUTTONS, DepartureRequest
from idp.records.connections import ProviderConnection
from idp.upstream import attempts, paths
from idp.upstream.attempts import Attempt
from idp.upstream.oidc.answers import UpstreamAnswer
from idp.upstream.refused import UpstreamRefused
from storage import Stale

PROVIDER_REDIRECT: Final = "/ui/login/idp"
_NAME_CHARACTERS: Final = 80
# The parameters by which the page of the login name displays that a sign-in at a provider failed.
_CONNECTION: Final = "idp"
_OUTCOME: Final = "outcome"
_REQUEST: Final = "request"
_EXPIRED_TEXT: Final = message(
    "This sign-in was started in another browser or has expired. Start again.", context="providers"
)


class ProviderButtons(NamedTuple):
    """The template values of the connections that a page offers: the address of the form, the
    first connections, each with its id, name and icon, and the further ones without the icon,
    whose bytes every browser would load; whether they come before the page's own form."""

    url: str
    first: Sequence[tuple[str, str, str]]
    further: Sequence[tuple[str, str]]
    is_above: bool = False


async def buttons(handler: FlowHandler, flow: PendingSignIn) -> ProviderButtons | None:
    """Returns the connections that a page of the sign-in offers, or None if there is none."""
    offered = await upstream_departure.offered(handler.service, flow)
    if not offered:
        return None
    return ProviderButtons(
        handler.url_of(PROVIDER_REDIRECT, flow),
        [
            (each.id, displayed_name(each), icons.of_connection(each))
            for each in offered[:MAX_BUTTONS]
        ],
        [(each.id, displayed_name(each)) for each in offered[MAX_BUTTONS:]],
    )


async def first_page_buttons(handler: FlowHandler, flow: PendingSignIn) -> ProviderButtons | None:
    """Returns the connections that the first page offers, above its form if the login policy says
    so; None if there is none."""
    offered = await buttons(handler, flow)
    if offered is None:
        return None
    is_above = await upstream_departure.are_offered_first(handler.service, flow)
    return offered._replace(is_above=is_above)


def displayed_name(connection: ProviderConnection) -> str:
    """Returns the name of a connection as pages display it: at most 80 characters."""
    return connection.name[:_NAME_CHARACTERS]


async def redirect_to_provider(
    handler: FlowHandler, flow: PendingSignIn, connection_id: str, login_name: str | None = None
) -> None:
    """Redirects the browser to the provider of a connection, or back to the first page if that is
    not possible."""
    config = handler.service.config
    name = browser.cookie_name(config, attempts.COOKIE)
    requester.current().wait_elsewhere()
    try:
        departure = await upstream_departure.leave(
            handler.service,
            flow,
            connection_id,
            DepartureRequest(
                origin=handler.origin_of(flow),
                cookie=handler.get_cookie(name),
                start=restart_link.of_flow(handler.service, flow, handler.bundle().tag),
                languages=handler.bundle().tag,
                login_name=login_name,
            ),
        )
    except UpstreamRefused as error:
        await upstream_return.refuse(handler.service, flow, error)
        handler.redirect_303(
            _failure_url(handler, handler.flow_query(flow), connection_id, "failed")
        )
        return
    lifetime_seconds = int(attempts.LIFETIME.total_seconds())
    handler.add_header(
        "Set-Cookie",
        browser.cookie_header(config, name, departure.cookie, max_age=lifetime_seconds),
    )
    handler.redirect_303(departure.url)


def _failure_url(
    handler: PageHandler, query: Sequence[tuple[str, str]], connection_id: str, outcome: str
) -> str:
    """Returns the address of the first page, which then displays that a sign-in at the provider
    failed."""
    outcome_pairs = [
        (_CONNECTION, connection_id),
        (_OUTCOME, outcome),
        (_REQUEST, handler.request_id),
    ]
    return uris.with_parameters(ADDRESSES[SignInPage.LOGIN_NAME], [*query, *outcome_pairs])


async def failure_notice(handler: FlowHandler, flow: PendingSignIn) -> dict[str, Any]:
    """Returns the template values by which the first page displays that a sign-in at a provider
    failed; an empty dict if its address has no such parameters."""
    query = handler.query_params()
    offered = await upstream_departure.offered(handler.service, flow)
    names = {connection.id: displayed_name(connection) for connection in offered}
    name = names.get(query.if_once(_CONNECTION) or "")
    texts = {
        "denied": message("%(name)s did not sign you in.", context="providers", name=name),
        "failed": message(
            "Signing in with %(name)s did not work. Try again, or sign in another way.",
            context="providers",
            name=name,
        ),
        "refused": message(
            "Your account can't be used with %(name)s right now.", context="providers", name=name
        ),
    }
    text = texts.get(query.if_once(_OUTCOME) or "")
    if name is None or text is None:
        return {}
    request_id = query.if_once(_REQUEST) or ""
    is_request_id = logs.is_request_id(request_id)
    return {"notice": text, "failed_request": request_id if is_request_id else None}


class ProviderRedirectHandler(FlowHandler):
    """Redirects the browser to the provider that the person has chosen."""

    async def show(self, flow: PendingSignIn) -> None:
        self.redirect_303(self.url_of(LOGIN, flow))

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        await redirect_to_provider(self, flow, form.get("idp") or "")


class CallbackHandler(PageHandler):
    """Receives the answer of a connection's provider, and continues the sign-in of this browser
    that waits for it."""

    _attempt: Attempt | None = None

    async def get(self, connection_id: str) -> None:
        query = self.query_params()
        cookie = self.get_cookie(self._cookie)
        attempt = attempts.find(self.service, cookie, query.get("state") or "")
        if attempt is None or attempt.connection_id != connection_id:
            await self._expired()
            return
        answer = UpstreamAnswer(
            query.get("code") or "", query.get("error") or "", query.get("iss") or ""
        )
        if attempt.test_id:
            self._clear_attempt(cookie, attempt)
            if not await connection_test.finish(self, attempt, answer):
                await self._expired()
            return
        self._attempt = attempt
        flow = await self._flow(attempt)
        self._clear_attempt(cookie, attempt)
        await self._continue(flow, attempt, answer)

    async def _flow(self, attempt: Attempt) -> PendingSignIn:
        """Returns the sign-in of the attempt. Raises ResponseSent if it belongs to another browser
        or has ended."""
        browser_record = await self.find_browser()
        is_same_browser = browser_record is not None and browser_record.id == attempt.browser_id
        flow = (
            await sign_in_pending.find(self.service, attempt.flow, browser_record)
            if is_same_browser
            else None
        )
        if flow is None:
            await self._expired()
            raise ResponseSent
        return flow

    async def _continue(
        self, flow: PendingSignIn, attempt: Attempt, answer: UpstreamAnswer
    ) -> None:
        requester.current().wait_elsewhere()
        try:
            cookie = await upstream_return.continue_with_answer(
                self.service, flow, attempt, answer
            )
        except UpstreamRefused as error:
            await upstream_return.refuse(self.service, flow, error)
            outcome = _OUTCOMES.get(error.check, "failed")
            query = self._query(flow, attempt)
            self.redirect_303(_failure_url(self, query, attempt.connection_id, outcome))
            return
        except (
            Stale
        ):  # another tab or a repeated answer: the sign-in continues at its current step
            cookie = None
        self.set_browser_cookie(cookie)
        self.redirect_303(uris.with_parameters(LOGIN, self._query(flow, attempt)))

    def _query(self, flow: PendingSignIn, attempt: Attempt) -> list[tuple[str, str]]:
        return [("flow", flow.address), (restart_link.PARAMETER, attempt.start)]

    @property
    def _cookie(self) -> str:
        return browser.cookie_name(self.service.config, attempts.COOKIE)

    def _clear_attempt(self, cookie: str | None, attempt: Attempt) -> None:
        value = attempts.cookie_without(self.service, cookie, attempt)
        lifetime_seconds = int(attempts.LIFETIME.total_seconds()) if value else 0
        header = browser.cookie_header(
            self.service.config, self._cookie, value, max_age=lifetime_seconds
        )
        self.add_header("Set-Cookie", header)

    async def _expired(self) -> None:
        start = await self.show_start()
        again_url = start.path if start and start.path else None
        self.show_expired(sentence=_EXPIRED_TEXT, has_cookie=self.has_cookie, again_url=again_url)

    def restart(self) -> Continuation | None:
        return restart_link.read(self.service, self._attempt.start) if self._attempt else None


_OUTCOMES: Final = {"answer_without_error": "denied", "account_admitted": "refused"}
ROUTES: Final[list[tuple[str, type[PageHandler]]]] = [
    (PROVIDER_REDIRECT, ProviderRedirectHandler),
    (paths.CONNECTION_CALLBACK.format(id="([^/]+)"), CallbackHandler),
]
