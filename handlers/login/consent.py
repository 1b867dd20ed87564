"""/ui/login/consent: whether an application of others may have what it asks for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from handlers.login.accounts import account_of
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from idp.i18n import Message, message
from idp.identity.sessions import LiveSession
from idp.oauth import consents, sign_in_flow
from idp.oauth.interaction import Page
from idp.oauth.params import Params
from idp.oauth.sign_in_flow import Flow

_IN_WORDS: Final = {
    "openid": message("to recognize you", context="consent"),
    "profile": message("your name and the rest of your profile", context="consent"),
    "email": message("your email address", context="consent"),
    "phone": message("your phone number", context="consent"),
    "address": message("your postal address", context="consent"),
    "offline_access": message("all this also while you are not using it", context="consent"),
}


class ConsentHandler(FlowHandler):
    """Two buttons: the application is let in, or it is told that it is not."""

    asks: ClassVar[Page] = Page.CONSENT

    async def show(self, flow: Flow) -> None:
        live = await self._whose(flow)
        if live is not None:
            self._ask(flow, live)

    async def submit(self, flow: Flow, form: Params) -> None:
        live = await self._whose(flow)
        if live is None:
            return
        decision = form.get("decision")
        if form.get("account") != live.session.id:  # the page asked somebody else
            self.see(self.at(LOGIN, flow))
        elif decision == "allow":
            await self.allow(flow, live)
        elif decision == "deny":
            self.reply(await sign_in_flow.deny(self.service, flow))
        else:
            self._ask(flow, live, status=400)

    async def allow(self, flow: Flow, live: LiveSession) -> None:
        """What becomes of the person's yes."""
        await consents.allow(self.service, flow.client, flow.request, live)
        self.see(self.at(LOGIN, flow))

    async def _whose(self, flow: Flow) -> LiveSession | None:
        """Whose consent is asked for; None when another step is due (and answered)."""
        step = await self.current_step(flow)
        if step is not None and step.live is None:
            self.see(self.at(LOGIN, flow))
        return step.live if step else None

    def _ask(self, flow: Flow, live: LiveSession, *, status: int = 200) -> None:
        token = self.form_token(flow.request.id, flow.agent)
        self.step(
            self.asks,
            flow,
            status=status,
            hidden=[*token, ("account", live.session.id)],
            cancellable=False,
            account=account_of(live),
            wishes=list(in_words(flow.request.scopes)),
            back_url=self.at(ADDRESSES[Page.LOGIN_NAME], flow),
        )


def in_words(scopes: Iterable[str]) -> Iterable[Message | str]:
    """What each scope lets an application have; one without words stands for itself."""
    return (_IN_WORDS.get(scope, scope) for scope in scopes)


ROUTES = [(ADDRESSES[Page.CONSENT], ConsentHandler)]
