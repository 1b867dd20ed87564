"""The redirect that sends the browser back to the application with a response."""

from __future__ import annotations

from handlers.pages.base import PageHandler
from idp.oauth.endpoints.authorization_response import Reply


class ReplyingHandler(PageHandler):
    """A page that may end with an authorization response to the application."""

    def reply(self, reply: Reply) -> None:
        """Redirects, or answers with a self-submitting page (OAuth 2.0 Form Post Response Mode
        2)."""
        if reply.form is None:
            self.see(reply.address)
            return
        self.allow_forms_to(reply.address)
        self.page("form-post", action=reply.address, hidden=reply.form)
