"""/ui/login/passkey-enrol: registration of a passkey during a sign-in."""

from __future__ import annotations

from typing import Final

from handlers.login.factor_enrolment import EnrolmentHandler
from handlers.login.flow import ADDRESSES, LOGIN
from handlers.login.passkey import FIELD, as_json
from idp.foundation import logs
from idp.foundation.errors import InvalidArgument
from idp.foundation.i18n import Message, message
from idp.identity.factors import webauthn
from idp.identity.factors.passkeys import MAX_NAME
from idp.oauth.params import Params
from idp.oauth.sign_in import passkeys as sign_in_passkeys
from idp.oauth.sign_in import second_factors
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.next_step import ShowPage, SignInPage
from idp.oauth.sign_in.pending import PendingSignIn

_log = logs.logger(__name__)
_DEFAULT_NAME: Final = message("My passkey", context="passkey")
NAME_PROBLEM: Final = message("Give the passkey a name of 1 to 100 characters.", context="passkey")
_REFUSED: Final = message(
    "This passkey can't be added: your device's response isn't valid, or the passkey is"
    " already in use. Try again.",
    context="passkey",
)


class PasskeyEnrolHandler(EnrolmentHandler):
    """Registers a passkey: asks for its name, and lets the browser create it."""

    page_of_step = SignInPage.PASSKEY_ENROL

    async def ask(
        self,
        flow: PendingSignIn,
        step: ShowPage,
        progress: AuthenticationProgress,
        *,
        status: int = 200,
        **values: object,
    ) -> None:
        options = await sign_in_passkeys.creation_options(self.service, flow, progress)
        if options is None:
            await second_factors.choose(self.service, flow, None)
            self.redirect_303(self.url_of(LOGIN, flow))
            return
        page_values: dict[str, object] = {
            "login_name": progress.subject.user.user_name,
            "device_name": self.bundle().text(_DEFAULT_NAME),
            "maximum": MAX_NAME,
            "options": as_json(options),
            "is_optional": not flow.request.is_for_own_page,
        }
        self.step(SignInPage.PASSKEY_ENROL, flow, status=status, **(page_values | values))

    async def proceed(
        self, flow: PendingSignIn, form: Params, step: ShowPage, progress: AuthenticationProgress
    ) -> None:
        if form.get("decision") == "other":
            await second_factors.choose(self.service, flow, None)
            self.redirect_303(self.url_of(LOGIN, flow))
            return
        name, response = form.get("deviceName") or "", form.get(FIELD) or ""
        problem = await self._add(flow, progress, name, response)
        if problem is None:
            self.redirect_303(self.url_of(LOGIN, flow))
        else:
            field, text = problem
            problems = [{"field": field, "text": text}]
            await self.ask(flow, step, progress, status=400, device_name=name, problems=problems)

    async def _add(
        self, flow: PendingSignIn, progress: AuthenticationProgress, name: str, response: str
    ) -> tuple[str | None, Message] | None:
        """Adds the passkey, or returns the field and the text of a problem."""
        try:
            cookie = await sign_in_passkeys.add(self.service, flow, progress, name, response)
        except InvalidArgument:
            return "deviceName", NAME_PROBLEM
        except webauthn.WebAuthnRefused as error:
            await self.follow_if_repeated(flow)
            _log.info("passkey not added", cause=str(error), address=self.address())
            return None, _REFUSED
        self.set_browser_cookie(cookie)
        return None


ROUTES = [(ADDRESSES[SignInPage.PASSKEY_ENROL], PasskeyEnrolHandler)]
