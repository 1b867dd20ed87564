"""/ui/login/passkey: a person's device signs them in; so it does on the page of login names."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from idp import logs
from idp.i18n import Message, message
from idp.identity import webauthn
from idp.oauth import passkey_flow
from idp.oauth.interaction import Page
from idp.oauth.params import Params
from idp.oauth.sign_in_flow import Flow

PASSKEY: Final = "/ui/login/passkey"
FIELD: Final = "passkey"

_log = logs.logger(__name__)
_REFUSED: Final = message(
    "That passkey can't be used here. Try again or use your password.", context="passkey"
)


class PasskeyHandler(FlowHandler):
    """Asks for a passkey, of whoever is there."""

    async def show(self, flow: Flow) -> None:
        await self._ask(flow)

    async def submit(self, flow: Flow, form: Params) -> None:
        problem = await refusal(self, flow, form.get(FIELD) or "")
        if problem is not None:
            await self._ask(flow, status=400, problems=[{"field": None, "text": problem}])

    async def _ask(self, flow: Flow, *, status: int = 200, **values: object) -> None:
        options = await passkey_flow.options(self.service, flow)
        if options is None:
            self.see(self.at(LOGIN, flow))
            return
        self.step(
            Page.PASSKEY,
            flow,
            status=status,
            login_name=None,
            options=as_json(options),
            other_url=self.at(ADDRESSES[Page.LOGIN_NAME], flow),
            **values,
        )


async def offered(handler: FlowHandler, flow: Flow) -> str | None:
    """What a browser is asked for, as JSON; None where nobody signs in by passkey."""
    options = await passkey_flow.options(handler.service, flow)
    return as_json(options) if options else None


async def refusal(handler: FlowHandler, flow: Flow, answer: str) -> Message | None:
    """Why a browser's answer signs nobody in; None when it did, and the answer is given.

    Raises Stale when something else happened at once.
    """
    try:
        cookie = await passkey_flow.enter(handler.service, flow, answer)
    except webauthn.Refused as error:
        _log.info("passkey refused", cause=str(error), address=handler.address())
        return _REFUSED
    handler.keep_cookie(cookie)
    handler.see(handler.at(LOGIN, flow))
    return None


def as_json(options: Any) -> str:
    """Options as the script of the page reads them."""
    return msgspec.json.encode(options).decode()


ROUTES = [(ADDRESSES[Page.PASSKEY], PasskeyHandler)]
