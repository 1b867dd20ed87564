"""/ui/account/sessions: the sessions in which the person is signed in."""

from __future__ import annotations

from handlers.account.base import AccountHandler
from handlers.account.sections import SECTIONS
from idp import changes
from idp.identity.sessions import own_sessions
from idp.identity.sessions.own_sessions import OwnSession
from idp.management.users import sessions as user_sessions
from idp.oauth.params import Params


class SessionsHandler(AccountHandler):
    """Lists the person's valid sessions, each with a button that ends it, and one button that ends
    all others."""

    section = "sessions"

    async def show(self, *ids: str) -> None:
        sessions = await own_sessions.find_all(self.service, self.person.subject)
        rows = [self._template_values(session) for session in sessions]
        # The session of this browser comes first.
        rows.sort(key=lambda row: not row["is_this"])
        self.page("account/sessions", sessions=rows, hidden=self.form_inputs())

    async def submit(self, form: Params, *ids: str) -> None:
        if form.get("decision") == "others":
            person = self.person
            await own_sessions.end_others(self.service, person.subject, person.session)
        else:
            session_id, user_id = form.get("session") or "", self.person.user.id
            await changes.run(self.service, user_sessions.end, self.call(), user_id, session_id)
        self.redirect_with_notice("ended")

    def _template_values(self, own_session: OwnSession) -> dict[str, object]:
        session, browser = own_session.session, own_session.browser
        return {
            "id": session.id,
            "browser": browser.browser if browser else None,
            "system": browser.system if browser else None,
            "is_this": session.id == self.person.session.id,
            "signed_in_at": session.auth_time,
            "last": session.last_used_at,
        }


ROUTES = [(SECTIONS["sessions"].path, SessionsHandler)]
