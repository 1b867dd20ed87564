"""/ui/device: the person enters the code that a device shows, and allows or refuses the device."""

from __future__ import annotations

from typing import Final

from handlers.http import browser
from handlers.login.accounts import show_signed_in
from handlers.login.consent import ConsentHandler
from handlers.login.flow import ADDRESSES, LOGIN
from handlers.pages import first_cookie, redirect_reply
from handlers.pages.base import ForeignForm, PageHandler
from idp.foundation import uris
from idp.foundation.i18n import message
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions.lifetime import LiveSession
from idp.limits.throttled import Throttled
from idp.oauth.grants.device_authorization import PAGE
from idp.oauth.sign_in import device as sign_in_device
from idp.oauth.sign_in import device_decision as sign_in_device_decision
from idp.oauth.sign_in.device import CodeExpired, WrongCode
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import PendingSignIn

_EMPTY: Final = message("Enter the code that the device shows.", context="device")
_WRONG: Final = message(
    "Check the code on your device. No device is waiting for this code, or it"
    " was already entered in another browser.",
    context="device",
)
_EXPIRED: Final = message(
    "That code has expired. Request a new one on the device.", context="device"
)
_ALLOWED: Final = message("The device is signed in. You can close this page.", context="device")
_DENIED: Final = message("The device is not signed in. You can close this page.", context="device")


class UserCodeHandler(PageHandler):
    """Asks for the user code that a device displays (RFC 8628 3.3). The device's link fills it in;
    it is used only when the form is submitted.

    The browser may have no cookie, if it blocks them. The decision is made at the end of the
    sign-in, in the browser in which the code was entered.
    """

    async def get(self) -> None:
        await self.show_organization(None)
        await first_cookie.give(self)
        self._ask(self.query_params().if_once("user_code") or "")

    async def post(self) -> None:
        # There may be no cookie that a form token could be bound to, so the headers alone decide.
        if browser.may_lack_cookie(self.service.config, self.request):
            raise ForeignForm("the form may have been sent by another site")
        await self.show_organization(None)
        user_code = (self._own_form().get("userCode") or "").strip()
        if not user_code:
            self._ask("", status=400, problems=[{"field": "userCode", "text": _EMPTY}])
            return
        try:
            await self._enter(user_code)
        except Throttled as error:
            self.set_header("Retry-After", str(error.retry_after_seconds))
            self._ask(user_code, status=429, retry_seconds=error.retry_after_seconds)
        except WrongCode:
            self._ask(user_code, status=400, problems=[{"field": "userCode", "text": _WRONG}])
        except CodeExpired:
            self.show_expired(sentence=_EXPIRED, application_url=PAGE)

    async def _enter(self, user_code: str) -> None:
        browser_record = await self.find_browser()
        begun_flow = await sign_in_device.enter(
            self.service, user_code, self.origin(browser_record)
        )
        self.set_browser_cookie(begun_flow.cookie)
        self.redirect_303(uris.with_parameters(LOGIN, [("flow", begun_flow.address)]))

    def _ask(self, user_code: str, *, status: int = 200, **values: object) -> None:
        self.page("device", status=status, entered=user_code, **values)


class DeviceConfirmHandler(ConsentHandler):
    """Always asks for consent to what the device requests; no consent is stored."""

    page_of_step = SignInPage.DEVICE_CONFIRM

    async def allow(self, flow: PendingSignIn, live_session: LiveSession) -> None:
        redirect_reply.send(
            self,
            await sign_in_device_decision.allow(
                self.service, flow.client, flow.request, live_session
            ),
        )


class DeviceDoneHandler(PageHandler):
    """Displays whether the device was allowed. The device itself gets the decision by polling."""

    async def get(self) -> None:
        browser_record = await self.find_browser()
        decision = await sign_in_device_decision.find(
            self.service, self.requested_id("flow") or "", browser_record
        )
        if decision is None:
            self.redirect_303(LOGIN)
            return
        await self.show_client_of(decision.client_id)
        live_sessions = await session_lifetime.find_live(self.service, browser_record)
        notice = _ALLOWED if decision.is_allowed else _DENIED
        await show_signed_in(self, live_sessions, notice)


ROUTES = [
    (PAGE, UserCodeHandler),
    (ADDRESSES[SignInPage.DEVICE_CONFIRM], DeviceConfirmHandler),
    (sign_in_device_decision.DONE, DeviceDoneHandler),
]
