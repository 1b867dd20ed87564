"""Sends an authorization response from the browser's page to the client."""

from __future__ import annotations

from handlers.pages.base import PageHandler
from idp.oauth.endpoints.authorization_response import AuthorizationResponse


def send(handler: PageHandler, reply: AuthorizationResponse) -> None:
    """Sends an authorization response to the client: by a redirect, or with a self-submitting form
    (OAuth 2.0 Form Post Response Mode 2)."""
    if reply.form is None:
        handler.redirect_303(reply.address)
        return
    handler.let_forms_leave()
    handler.page("form-post", action=reply.address, hidden=reply.form)
