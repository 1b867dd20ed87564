"""/ui/account/password: a signed-in person changes their own password."""

from __future__ import annotations

from typing import Final

from handlers.login.change_password import policy_of, problems_of
from handlers.login.flow import LOGIN
from handlers.page import PageHandler
from idp import logs
from idp.i18n import message
from idp.identity import own_password, sessions, sign_in
from idp.identity.sessions import LiveSession
from idp.identity.throttle import Throttled
from idp.oauth.interaction import Page
from idp.oauth.params import Params
from idp.records import Agent
from storage import Stale

OWN_PASSWORD: Final = "/ui/account/password"  # noqa: S105 - an address
CHANGED: Final = LOGIN + "?done=password"

_log = logs.logger(__name__)
_WRONG = message("That is not your current password.", context="change-password")


class OwnPasswordHandler(PageHandler):
    """Asks for the present password and a new one. Who is not signed in is sent to the start,
    and of several people each has a link there."""

    async def get(self) -> None:
        agent = await self.find_agent()
        live = await self._find_live(agent)
        if agent is None or live is None:
            self.see(LOGIN)
        else:
            await self._ask(agent, live)

    async def post(self) -> None:
        agent = await self.find_agent()
        live = await self._find_live(agent)
        if agent is None or live is None:
            self.see(LOGIN)
            return
        form = self.page_form(live.session.id, agent)
        if form.get("decision") == "cancel":
            self.see(LOGIN)
            return
        try:
            await self._submit(agent, live, form)
        except Stale:  # another change or a logout at the same moment
            self.see(self.request.uri or OWN_PASSWORD)

    async def _find_live(self, agent: Agent | None) -> LiveSession | None:
        """The session that the address names, or the only one."""
        live = await sessions.find_live(self.service, agent)
        wanted = self.query_params().get("session")
        if wanted is not None:
            live = [one for one in live if one.session.id == wanted]
        return live[0] if len(live) == 1 else None

    async def _submit(self, agent: Agent, live: LiveSession, form: Params) -> None:
        current, new = form.get("currentPassword") or "", form.get("newPassword") or ""
        try:
            subject = await own_password.prove(self.service, live, current, self.address())
        except Throttled as error:
            self.set_header("Retry-After", str(error.retry_after_seconds))
            await self._ask(agent, live, status=429, retry_seconds=error.retry_after_seconds)
            return
        except sign_in.Refused as error:
            _log.info("password change refused", cause=str(error), address=self.address())
            wrong = {"field": "currentPassword", "text": _WRONG}
            problems = [wrong, *await problems_of(self.service, live.subject, new)]
            await self._ask(agent, live, status=400, problems=problems)
            return
        problems = await problems_of(self.service, subject, new)
        if problems:
            await self._ask(agent, live, status=400, problems=problems)
            return
        self.keep_cookie(await own_password.replace(self.service, agent, live, subject, new))
        self.see(CHANGED)

    async def _ask(
        self, agent: Agent, live: LiveSession, *, status: int = 200, **values: object
    ) -> None:
        org_id = live.subject.user.org_id
        await self.show_organization(org_id)
        self.page(
            Page.CHANGE_PASSWORD.value,
            status=status,
            login_name=live.subject.user.user_name,
            current_required=True,
            policy=await policy_of(self.service, org_id),
            hidden=self.form_token(live.session.id, agent),
            cancellable=True,
            **values,
        )


class WellKnownHandler(PageHandler):
    """The address that password managers know (W3C, A Well-Known URL for Changing Passwords)."""

    async def get(self) -> None:
        self.see(OWN_PASSWORD)


ROUTES = [
    ("/\\.well-known/change-password", WellKnownHandler),
    (OWN_PASSWORD, OwnPasswordHandler),
]
