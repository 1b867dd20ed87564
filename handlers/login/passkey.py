"""/ui/login/passkey: sign-in with a passkey, which the page of the login name offers as well."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from idp.foundation import logs
from idp.foundation.i18n import Message, message
from idp.identity.factors import second_factors, webauthn
from idp.oauth.params import Params
from idp.oauth.sign_in import passkeys as sign_in_passkeys
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.next_step import ShowPage, SignInPage
from idp.oauth.sign_in.pending import PendingSignIn

FIELD: Final = "passkey"

_PASSWORD: Final = message("Use your password", context="passkey")
_OTHER_METHOD: Final = message("Use another method", context="factor")
_log = logs.logger(__name__)
_REFUSED: Final = message(
    "That passkey can't be used here. Try again or use your password.", context="passkey"
)
_REFUSED_AS_FACTOR: Final = message(
    "That passkey can't be used here. Try again with another one.", context="passkey"
)


class PasskeyHandler(FlowHandler):
    """Asks for a passkey: of any user at the start of a sign-in, or of the authenticated user as a
    second factor."""

    async def show(self, flow: PendingSignIn) -> None:
        await self._ask(flow, await self._find_step(flow))

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        step = await self._find_step(flow)
        problem = await enter(self, flow, form.get(FIELD) or "", step.progress)
        if problem is None:
            self.redirect_303(self.url_of(LOGIN, flow))
        else:
            problems = [{"field": None, "text": problem}]
            await self._ask(flow, step, status=400, problems=problems)

    async def _find_step(self, flow: PendingSignIn) -> ShowPage:
        """Returns the step, in which a passkey can be used. Raises ResponseSent if it cannot."""
        step = await self.current_step(flow)
        if step.progress is None:
            is_accepted = step.live_session is None
        else:
            is_due = step.page in (SignInPage.PASSKEY, SignInPage.FACTOR)
            is_accepted = is_due and second_factors.PASSKEY in step.factors
        if not is_accepted:
            self.redirect_instead(self.url_of(LOGIN, flow))
        return step

    async def _ask(
        self, flow: PendingSignIn, step: ShowPage, *, status: int = 200, **values: object
    ) -> None:
        progress = step.progress
        options = await sign_in_passkeys.options(self.service, flow, progress)
        if options is None:
            self.redirect_instead(self.url_of(LOGIN, flow))
        other_page = (
            SignInPage.PASSWORD if step.page is SignInPage.PASSWORD else SignInPage.LOGIN_NAME
        )
        self.step(
            SignInPage.PASSKEY,
            flow,
            status=status,
            login_name=progress.subject.user.user_name if progress else None,
            options=as_json(options),
            other_label=_OTHER_METHOD if progress else _PASSWORD,
            other_url=self.url_of(ADDRESSES[SignInPage.FACTOR if progress else other_page], flow),
            **values,
        )


async def offered(handler: FlowHandler, flow: PendingSignIn) -> str | None:
    """Returns the options for a WebAuthn request as JSON; None if passkeys cannot be used to sign
    in."""
    options = await sign_in_passkeys.options(handler.service, flow)
    return as_json(options) if options else None


async def enter(
    handler: FlowHandler,
    flow: PendingSignIn,
    response: str,
    progress: AuthenticationProgress | None = None,
) -> Message | None:
    """Continues the sign-in with the browser's WebAuthn response, and returns None, or the text of
    its refusal. `progress` is set if the passkey is a second factor.

    Raises Stale for a concurrent change of the flow.
    """
    try:
        cookie = await sign_in_passkeys.enter(handler.service, flow, response, progress)
    except webauthn.WebAuthnRefused as error:
        await handler.follow_if_repeated(flow)
        _log.info("passkey refused", cause=str(error), address=handler.address())
        return _REFUSED_AS_FACTOR if progress else _REFUSED
    handler.set_browser_cookie(cookie)
    return None


def as_json(options: Any) -> str:
    """Returns WebAuthn options as JSON, for the page's script."""
    return msgspec.json.encode(options).decode()


ROUTES = [(ADDRESSES[SignInPage.PASSKEY], PasskeyHandler)]
