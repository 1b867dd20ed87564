"""POST /oauth/v2/device_authorization: codes for a device without a browser."""

from __future__ import annotations

from handlers.http.cors import SharedHandler
from handlers.protocol.error_recording import RefusingHandler
from idp.oauth.grants import device_authorization
from idp.oauth.paths import DEVICE_AUTHORIZATION
from idp.oauth.refusals.check import FORM


class DeviceAuthorizationHandler(RefusingHandler, SharedHandler):
    """The device authorization endpoint (RFC 8628 3.1)."""

    endpoint = "device_authorization"

    async def post(self) -> None:
        with FORM:
            params = self.form_params()
        await self.share_only_for_sender(params)
        authorization = self.request.headers.get("Authorization")
        origin = self.origin()
        self.answer(await device_authorization.begin(self.service, authorization, params, origin))


ROUTES = [(DEVICE_AUTHORIZATION, DeviceAuthorizationHandler)]
