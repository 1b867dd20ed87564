"""POST /oauth/v2/device_authorization: codes for a device without a browser."""

from __future__ import annotations

from handlers.protocol.client_endpoint import ClientHandler
from idp.oauth.grants import device_authorization
from idp.oauth.paths import DEVICE_AUTHORIZATION


class DeviceAuthorizationHandler(ClientHandler):
    """The device authorization endpoint (RFC 8628 3.1)."""

    endpoint = "device_authorization"

    async def post(self) -> None:
        params = await self.client_form()
        authorization = self.request.headers.get("Authorization")
        origin = self.origin()
        self.answer(await device_authorization.begin(self.service, authorization, params, origin))


ROUTES = [(DEVICE_AUTHORIZATION, DeviceAuthorizationHandler)]
