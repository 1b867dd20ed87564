"""The base of the endpoints where a client authenticates."""

from __future__ import annotations

from typing import Any, ClassVar

from handlers.http.cors import SharedHandler
from handlers.protocol.error_recording import RefusingHandler
from idp.oauth.authentication import claimed_client
from idp.oauth.errors import InvalidClient, OAuthError
from idp.oauth.params import Params
from idp.oauth.refusals.check import FORM


class ClientHandler(RefusingHandler, SharedHandler):
    """An endpoint where a client authenticates by the Authorization header or in the form.

    A failed authentication is 401 with a challenge for the header, also where no credential was
    sent; one in the form is 400 without a challenge (RFC 6749 5.2), or 401 at an endpoint whose
    standard requires that (`always_unauthorized`).
    """

    always_unauthorized: ClassVar[bool] = False
    _has_credential_in_form = False

    async def client_form(self) -> Params:
        """Returns the form of the request, and lets scripts of its client alone read the response.

        Raises `InvalidRequest` for a body that is no form.
        """
        with FORM:
            form = self.form_params()
        self._has_credential_in_form = claimed_client.has_credential(form)
        await self.share_only_for_sender(form)
        return form

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        """Sends an error response, whose status depends on where the client's credential was."""
        error = kwargs.get("exc_info", (None, None))[1]
        if isinstance(error, InvalidClient) and self._has_credential_in_form:
            error.status = 401 if self.always_unauthorized else 400
        super().send_error(status_code, **kwargs)

    def challenge_for(self, error: OAuthError) -> str | None:
        return None if self._has_credential_in_form else super().challenge_for(error)
