"""What the pages of a sign-in share: which flow it is, whose browser, and what comes next."""

from __future__ import annotations

from handlers.page import PageHandler
from idp.oauth import responses, sign_in_flow
from idp.oauth.interaction import Ask, Page
from idp.oauth.params import Params
from idp.oauth.sign_in_flow import Flow
from idp.records import APPLICATIONS, Agent
from storage import Stale

LOGIN = "/ui/login"
ADDRESSES = {
    Page.LOGIN_NAME: "/ui/login/name",
    Page.PASSWORD: "/ui/login/password",
    Page.ACCOUNTS: "/ui/login/accounts",
    Page.CHANGE_PASSWORD: "/ui/login/change-password",
}


class FlowHandler(PageHandler):
    """A page of a flow. A stale address or form leads to the flow's current step, or says how
    to start again; it never ends in nothing."""

    async def get(self) -> None:
        flow = await self._find_flow()
        if flow is None:
            return
        chosen = self.query_params().get("lang")
        if chosen is not None and chosen != flow.request.language:
            await sign_in_flow.choose_language(self.service, flow, chosen[:35])
            self.see(self.at(self.request.path, flow))
            return
        try:
            await self.show(flow)
        except Stale:
            await self.expired()

    async def post(self) -> None:
        agent = await self.find_agent()
        form = self._form_of(agent)
        if agent is None or form is None:
            await self.expired(status=403)
            return
        flow = await self._find_flow()
        if flow is None:
            return
        try:
            if form.get("decision") == "cancel":
                self.see(await sign_in_flow.cancel(self.service, flow))
            else:
                await self.submit(flow, form)
        except Stale:  # another tab went on: this one follows
            self.see(self.at(LOGIN, flow))

    async def show(self, flow: Flow) -> None:
        """Answer a GET of this page."""
        raise NotImplementedError

    async def submit(self, flow: Flow, form: Params) -> None:
        """Answer this page's form."""
        raise NotImplementedError

    def _form_of(self, agent: Agent | None) -> Params | None:
        """The form, if it was made for this browser and this flow."""
        if agent is None:
            return None
        return self.page_form(self.query_params().get("flow") or "", agent)

    async def _find_flow(self) -> Flow | None:
        """The flow of the address; the answer is given already when there is none."""
        flow_id = self.query_params().get("flow") or ""
        agent = await self.find_agent()
        flow = await sign_in_flow.find(self.service, flow_id, agent)
        if flow is None:
            await self._bind_or_expire(flow_id, agent)
            return None
        self.language, self.ui_locales = flow.request.language, flow.request.ui_locales
        self.show_client(flow.client)
        self.allow_forms_to(flow.request.redirect_uri)
        return flow

    async def _bind_or_expire(self, flow_id: str, agent: Agent | None) -> None:
        begun = await sign_in_flow.bind(self.service, flow_id, agent) if flow_id else None
        if begun is None:
            await self.expired()
            return
        self.keep_cookie(begun.cookie)
        self.see(self.request.uri or LOGIN)

    async def expired(self, status: int = 410) -> None:
        """Say that the sign-in is gone, and where it begins anew."""
        client_id = self.query_params().get("client_id") or ""
        if 0 < len(client_id) <= 200:
            client = await self.service.store.get(APPLICATIONS, client_id)
            self.show_client(client if client and client.state == "active" else None)
        self.page("expired", status=status, start_url=None)

    async def current_step(self, flow: Flow) -> Ask | None:
        """What is asked for now; None when the browser was sent on to the client."""
        step = await sign_in_flow.advance(self.service, flow)
        if isinstance(step, Ask):
            return step
        self.see(step)
        return None

    def at(self, path: str, flow: Flow) -> str:
        """The address of a page of this flow."""
        return responses.append(path, self.flow_query(flow))

    def flow_query(self, flow: Flow) -> list[tuple[str, str]]:
        return [("flow", flow.request.id), ("client_id", flow.client.id)]

    def step(self, name: Page, flow: Flow, *, status: int = 200, **values: object) -> None:
        """The page of a step, with its form's hidden inputs and a way to cancel."""
        self.page(
            name.value,
            status=status,
            hidden=self.form_token(flow.request.id, flow.agent),
            query=self.flow_query(flow),
            cancellable=True,
            **values,
        )
