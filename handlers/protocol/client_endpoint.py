"""The base of the endpoints where a client authenticates."""

from __future__ import annotations

from typing import Any, ClassVar

from handlers.http.cors import SharedHandler
from handlers.protocol.error_recording import RefusingHandler
from idp.oauth.errors import InvalidClient, OAuthError
from idp.oauth.params import Params
from idp.oauth.refusals.check import FORM


class ClientHandler(RefusingHandler, SharedHandler):
    """An endpoint where a client authenticates by the Authorization header or in the form.

    A failed authentication is 401 with a challenge where the header was sent. Without it, it is
    400 without a challenge (RFC 6749 5.2), or 401 at an endpoint whose standard requires that
    (`always_unauthorized`).
    """

    always_unauthorized: ClassVar[bool] = False

    async def client_form(self) -> Params:
        """Returns the form of the request, and lets scripts of its client alone read the response.

        Raises `InvalidRequest` for a body that is no form.
        """
        with FORM:
            form = self.form_params()
        await self.share_only_for_sender(form)
        return form

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        """Sends an error response, whose status depends on how the client authenticated."""
        error = kwargs.get("exc_info", (None, None))[1]
        if isinstance(error, InvalidClient) and not self._has_header():
            error.status = 401 if self.always_unauthorized else 400
        super().send_error(status_code, **kwargs)

    def challenge_for(self, error: OAuthError) -> str | None:
        return super().challenge_for(error) if self._has_header() else None

    def _has_header(self) -> bool:
        return "Authorization" in self.request.headers
