"""Sending the browser back to the application with its answer."""

from __future__ import annotations

from handlers.pages.base import PageHandler
from idp.oauth.endpoints.authorization_response import Reply


class ReplyingHandler(PageHandler):
    """A page from which a person may get back to the application."""

    def reply(self, reply: Reply) -> None:
        """Redirect, or answer with a page that posts itself (Form Post Response Mode, 2)."""
        if reply.form is None:
            self.see(reply.address)
            return
        self.allow_forms_to(reply.address)
        self.page("form-post", action=reply.address, hidden=reply.form)
