"""/ui/account/sessions: where the person is signed in."""

from __future__ import annotations

from handlers.account.base import AccountHandler
from handlers.account.sections import SECTIONS
from handlers.forms import cells
from idp.identity.sessions import own_sessions
from idp.identity.sessions.own_sessions import OwnSession
from idp.management.users import sessions as user_sessions
from idp.oauth.params import Params


class SessionsHandler(AccountHandler):
    """Lists the live sessions, each with a button that ends it, and one that ends all others."""

    section = "sessions"

    async def show(self, *ids: str) -> None:
        found = await own_sessions.listed(self.service, self.person.subject)
        shown = [self._shown(one) for one in found]
        # The session of this browser comes first.
        shown.sort(key=lambda one: not one["is_this"])
        self.page("account/sessions", sessions=shown, hidden=self.form_inputs())

    async def submit(self, form: Params, *ids: str) -> None:
        if form.get("decision") == "others":
            person = self.person
            await own_sessions.end_others(self.service, person.subject, person.session)
        else:
            wanted, user_id = form.get("session") or "", self.person.user.id
            await user_sessions.end(self.service, self.call(), user_id, wanted)
        self.done("ended")

    def _shown(self, one: OwnSession) -> dict[str, object]:
        session, agent = one.session, one.agent
        return {
            "id": session.id,
            "browser": agent.browser if agent else None,
            "system": agent.system if agent else None,
            "is_this": session.id == self.person.session.id,
            "since": cells.instant(session.auth_time.isoformat())["value"],
            "last": cells.instant(session.last_used_at.isoformat())["value"],
        }


ROUTES = [(SECTIONS["sessions"].path, SessionsHandler)]
