"""The base of the sign-in pages: the flow, its browser, and the redirect to the next step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from handlers.http.base import ResponseSent
from handlers.pages import redirect_reply
from handlers.pages.base import ForeignForm, PageHandler
from idp.foundation import uris
from idp.foundation.i18n import Message, message
from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from idp.oauth import request_limits
from idp.oauth.endpoints.authorization_response import AuthorizationResponse
from idp.oauth.params import Params
from idp.oauth.sign_in import endings, page_branding, responses, restart_link
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import flow_request as sign_in_request
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.endings import Ending
from idp.oauth.sign_in.flow_request import FlowRecords, FlowRequest
from idp.oauth.sign_in.next_step import ShowPage, SignInPage
from idp.oauth.sign_in.pending import PendingSignIn
from idp.records import Browser
from storage import Stale

LOGIN = "/ui/login"
ADDRESSES = {
    SignInPage.LOGIN_NAME: "/ui/login/name",
    SignInPage.PASSWORD: "/ui/login/password",
    SignInPage.ACCOUNTS: "/ui/login/accounts",
    SignInPage.CHANGE_PASSWORD: "/ui/login/change-password",
    SignInPage.FACTOR: "/ui/login/factor",
    SignInPage.TOTP: "/ui/login/totp",
    SignInPage.RECOVERY_CODE: "/ui/login/recovery-code",
    SignInPage.FACTOR_OFFER: "/ui/login/factor-offer",
    SignInPage.TOTP_ENROL: "/ui/login/totp-enrol",
    SignInPage.RECOVERY_CODES: "/ui/login/recovery-codes",
    SignInPage.ORGANIZATION: "/ui/login/organization",
    SignInPage.REGISTER: "/ui/login/register",
    SignInPage.VERIFY_EMAIL: "/ui/login/verify-email",
    SignInPage.USER_NAME: "/ui/login/user-name",
    SignInPage.RESET: "/ui/login/reset",
    SignInPage.RESET_CODE: "/ui/login/reset-code",
    SignInPage.PASSKEY: "/ui/login/passkey",
    SignInPage.PASSKEY_ENROL: "/ui/login/passkey-enrol",
    SignInPage.CONSENT: "/ui/login/consent",
    SignInPage.DEVICE_CONFIRM: "/ui/device/confirm",
    SignInPage.NOT_ALLOWED: "/ui/login/not-allowed",
    SignInPage.IDP_ACCOUNT: "/ui/login/idp-account",
    SignInPage.IDP_LINK: "/ui/login/idp-link",
}

SENTENCES: Final = {
    Ending.UNKNOWN: message(
        "This sign-in can't be found here. Nothing is lost: start again.", context="expired"
    ),
    Ending.OTHER_BROWSER: message(
        "This sign-in was opened in another browser. Continue there, or start again here.",
        context="expired",
    ),
    Ending.NO_COOKIE: message(
        "This browser didn't send the cookie of this sign-in. Nothing is lost: start again.",
        context="expired",
    ),
    Ending.REPLACED: message(
        "You've signed in or out in another window since you opened this page. "
        "Nothing is lost: start again.",
        context="expired",
    ),
    Ending.FINISHED: message(
        "This sign-in is already finished. If you didn't get where you expected, start again.",
        context="expired",
    ),
    Ending.EXPIRED: message(
        "This sign-in took too long. Nothing is lost: start again.", context="expired"
    ),
    Ending.NOT_ACTIVE: message(
        "The application that you came from can't be used right now.", context="expired"
    ),
    Ending.FOREIGN_FORM: message(
        "The form that was sent didn't come from this sign-in. Nothing is lost: start again.",
        context="expired",
    ),
}


class FlowHandler(PageHandler, ABC):
    """A page of a sign-in (flow). If its address or form is outdated, the browser is redirected to
    the sign-in's current step, or gets a page with a link to start again."""

    async def get(self) -> None:
        flow = await self._find_flow(await self._read())
        try:
            self._require_restart_link(flow)
            await self._store_language(flow)
            await self.show(flow)
        except Stale:  # another tab has continued the flow: this tab follows
            self.redirect_303(self.url_of(LOGIN, flow))

    def _require_restart_link(self, flow: PendingSignIn) -> None:
        """Raises ResponseSent if the address has no restart link
        (`idp.oauth.sign_in.restart_link`), after a redirect to the address with one."""
        if restart_link.PARAMETER not in self.query_params():
            self.redirect_instead(self._own_url(self.flow_query(flow)))

    def _own_url(self, replaced_pairs: list[tuple[str, str]]) -> str:
        """Returns the address of the request, with `replaced_pairs` in place of its own parameters
        of the same names."""
        names = {"client_id", *(name for name, _ in replaced_pairs)}
        other_pairs = [pair for pair in self.query_params().pairs() if pair[0] not in names]
        return uris.with_parameters(self.request.path, [*replaced_pairs, *other_pairs])

    async def _store_language(self, flow: PendingSignIn) -> None:
        """Stores a newly chosen language. Raises ResponseSent if there is one, after a redirect to
        the page in that language."""
        language = self.offered_language(self.query_params().get("lang"))
        if language is None or language == flow.request.language:
            return
        await sign_in_flow.choose_language(self.service, flow, language)
        self.remember_language()
        self.redirect_instead(self.url_of(self.request.path, flow))

    async def post(self) -> None:
        records = await self._read()
        browser = records.browser if records else await self.find_browser()
        if browser is None and await self.repeat_cookie():
            self._redirect_to_current_step()
            return
        form = self._own_flow_form(browser)
        if form is None:
            await self._refuse_form(records)
            return
        flow = await self._find_flow(records)
        # Such a form stores the flow before any user has authenticated.
        if sign_in_pending.has_no_user(flow):
            request_limits.admit_first_form(self.service, self.origin_of(flow))
        try:
            if form.get("decision") == "cancel":
                redirect_reply.send(self, await responses.cancel(self.service, flow))
            else:
                await self.submit(flow, form)
        except Stale:  # another tab or the same form has continued the flow: this one follows
            await self._follow(flow)

    async def follow_if_repeated(self, flow: PendingSignIn) -> None:
        """Raises ResponseSent if the flow has got to another step since it was read, after a
        redirect to that. So a form that was sent twice at once is not refused because the first
        one has used its code."""
        if await sign_in_pending.has_advanced(self.service, flow):
            await self._follow(flow)
            raise ResponseSent

    async def _follow(self, flow: PendingSignIn) -> None:
        await self.repeat_cookie()
        self.redirect_303(self.url_of(LOGIN, flow))

    def _redirect_to_current_step(self) -> None:
        names = ("flow", restart_link.PARAMETER)
        pairs = [pair for pair in self.query_params().pairs() if pair[0] in names]
        self.redirect_303(uris.with_parameters(LOGIN, pairs))

    async def _refuse_form(self, records: FlowRecords | None) -> None:
        """Answers a form that was not made for this browser and this flow."""
        browser, request = (records.browser, records.request) if records else (None, None)
        is_own = browser is not None and request is not None and request.agent_id == browser.id
        await self.answer_expired(
            Ending.FOREIGN_FORM if is_own else await self._ending(records), status=403
        )

    async def _ending(self, records: FlowRecords | None) -> Ending:
        return await endings.find(self.service, records, self.browser_cookie)

    @abstractmethod
    async def show(self, flow: PendingSignIn) -> None:
        """Sends the page for a GET."""

    @abstractmethod
    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        """Processes this page's submitted form."""

    def _own_flow_form(self, browser: Browser | None) -> Params | None:
        """Returns the form if it was made for this browser and this flow, else None."""
        reference = self.requested_pending_id("flow")
        flow_id = sign_in_pending.id_of(self.service, reference) if reference else None
        try:
            return self.page_form(flow_id or "", browser) if browser else None
        except ForeignForm as error:
            self.log_exception(type(error), error, None)
            return None

    async def _read(self) -> FlowRecords | None:
        """Reads the records that the address and the cookie name; None if the address names no
        flow."""
        reference, start = self.requested_pending_id("flow"), self.restart()
        if reference is None:
            return None
        client_and_org = (start.client_id, start.org_id) if start else (None, None)
        arrival = FlowRequest(reference, self.browser_cookie, *client_and_org)
        records = await sign_in_request.read(self.service, arrival)
        return records._replace(browser=self.with_names(records.browser))

    async def _find_flow(self, records: FlowRecords | None) -> PendingSignIn:
        """Returns the flow that the page's address names. Raises ResponseSent if there is none."""
        reference = self.requested_pending_id("flow")
        if records is None or reference is None:
            await self.answer_expired(Ending.UNKNOWN)
            raise ResponseSent
        flow = await sign_in_pending.flow_of(self.service, records, reference)
        if flow is None:
            await self._bind_or_end(reference, records)
            raise ResponseSent
        self.language, self.ui_locales = flow.request.language, flow.request.ui_locales
        self.show_client(flow.client)
        await self.show_organization(flow.request.brand_org_id or flow.client.org_id)
        # The response to the last form redirects to the application.
        self.let_forms_leave()
        return flow

    async def _bind_or_end(self, reference: str, records: FlowRecords) -> None:
        # A flow that was begun without the browser's cookie is bound to it here.
        begun_flow = await sign_in_pending.bind(self.service, reference, records.browser)
        if begun_flow is not None:
            self.set_browser_cookie(begun_flow.cookie)
            self.redirect_303(self._own_url([("flow", begun_flow.address)]))
            return
        answer = await self._repeated_answer(records)
        if answer is not None:
            redirect_reply.send(self, answer)
        else:
            await self.answer_expired(await self._ending(records))

    async def _repeated_answer(self, records: FlowRecords) -> AuthorizationResponse | None:
        # A form, and where each form leads; what the back button opens is not left at once.
        if self.request.method != "POST" and self.request.path != LOGIN:
            return None
        return await sign_in_pending.find_answer(self.service, records)

    async def answer_expired(self, ending: Ending, status: int = 410) -> None:
        """Answers that the sign-in can't continue here, with a link to start again."""
        start = await self.show_start()
        start_values = {"application_url": start.path} if start and start.path else {}
        self.show_expired(
            status=status,
            sentence=self.sentence_of(ending, status),
            has_cookie=self.has_cookie,
            **start_values,
        )

    def sentence_of(self, ending: Ending, status: int) -> Message:
        """Returns the text that states why the sign-in can't continue here."""
        return SENTENCES[ending]

    def set_retry_after(self, refusal: Throttled) -> int:
        """Sets the header Retry-After for a throttled attempt, and returns its seconds."""
        self.set_header("Retry-After", str(refusal.retry_after_seconds))
        return refusal.retry_after_seconds

    def origin_of(self, flow: PendingSignIn) -> AttemptOrigin:
        """Returns the origin of an authentication attempt in this flow, for rate limits."""
        org_id = page_branding.sign_in_org_id(self.service, flow.request, flow.client)
        return self.origin(flow.browser, flow.client.id, org_id)

    async def current_step(self, flow: PendingSignIn) -> ShowPage:
        """Returns the step that the sign-in asks for now. If there is no further step, sends the
        response to the client and raises ResponseSent."""
        step = await sign_in_flow.advance(self.service, flow)
        if isinstance(step, ShowPage):
            return step
        redirect_reply.send(self, step)
        raise ResponseSent

    def url_of(self, path: str, flow: PendingSignIn) -> str:
        """Returns the address of the page at `path`, with the parameters of this flow."""
        return uris.with_parameters(path, self.flow_query(flow))

    def flow_query(self, flow: PendingSignIn) -> list[tuple[str, str]]:
        """Returns the parameters that every address of this flow has: the flow's own, and a
        restart link, which is used when the flow has expired."""
        start = restart_link.of_flow(self.service, flow, self.bundle().tag)
        return [("flow", flow.address), (restart_link.PARAMETER, start)]

    def mail_query(self, flow: PendingSignIn) -> list[tuple[str, str]]:
        """Returns the parameters of a link to this flow in a message. They have the flow's id,
        because the flow is stored together with the message."""
        parameters = dict(self.flow_query(flow)) | {"flow": flow.request.id}
        return list(parameters.items())

    def step(
        self, name: SignInPage, flow: PendingSignIn, *, status: int = 200, **values: object
    ) -> None:
        """Sends the page of a step of the sign-in, with the form's hidden inputs and a button to
        cancel."""
        defaults = {
            "hidden": self.form_token(flow.request.id, flow.browser),
            "query": self.flow_query(flow),
            "cancellable": True,
        }
        self.page(name.value, status=status, **(defaults | values))
