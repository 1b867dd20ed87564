"""/ui/login/factor, /totp and /recovery-code: the second factor of a sign-in."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final, Literal

from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from idp.foundation.i18n import Message, message
from idp.identity import authentication_context
from idp.identity.factors import recovery_codes, second_factors
from idp.identity.factors.code_checks import FactorCodeRefused
from idp.identity.guesses.throttle import Throttled
from idp.oauth.params import Params
from idp.oauth.sign_in import second_factors as sign_in_second_factors
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.next_step import Ask, SignInPage
from idp.oauth.sign_in.pending import Flow

_Fits = Callable[[Ask, AuthenticationProgress], bool]

_ASKING: Final = (SignInPage.FACTOR, SignInPage.TOTP, SignInPage.PASSKEY)
_CHOICES: Final = {
    second_factors.TOTP: (
        SignInPage.TOTP,
        message("Use your authenticator app", context="factor"),
    ),
    second_factors.PASSKEY: (SignInPage.PASSKEY, message("Use a passkey", context="factor")),
}
_RECOVERY: Final = message("Use a recovery code", context="factor")
_NONE: Final = message("No second factor is available. Ask an administrator.", context="factor")
WRONG: Final = message(
    "That code isn't right. Codes change every 30 seconds - check your phone's clock.",
    context="factor",
)
_WRONG_RECOVERY: Final = message("That recovery code was used or isn't valid.", context="factor")


async def _asked(
    handler: FlowHandler, flow: Flow, fits: _Fits | None = None
) -> tuple[Ask, AuthenticationProgress]:
    """Returns the step and the progress. Raises ResponseSent if another step is due, or one in
    which the page cannot be used."""
    step = await handler.current_step(flow)
    if (
        step.page not in _ASKING
        or step.progress is None
        or (fits and not fits(step, step.progress))
    ):
        handler.redirect_instead(handler.at(LOGIN, flow))
    return step, step.progress


class FactorHandler(FlowHandler):
    """Lists the second factors that the sign-in accepts, as links to their pages."""

    async def show(self, flow: Flow) -> None:
        step, progress = await _asked(self, flow)
        choices = await self._choices(flow, step, progress)
        self.step(
            SignInPage.FACTOR,
            flow,
            login_name=progress.subject.user.user_name,
            choices=choices,
            notice=None if choices else _NONE,
        )

    async def submit(self, flow: Flow, form: Params) -> None:
        self.redirect_303(self.at(LOGIN, flow))

    async def _choices(
        self, flow: Flow, step: Ask, progress: AuthenticationProgress
    ) -> list[tuple[Message, str]]:
        choices = [_CHOICES[kind] for kind in sorted(step.factors, reverse=True)]
        if _may_recover(progress) and await recovery_codes.unused_count(
            self.service, progress.subject.user
        ):
            choices.append((SignInPage.RECOVERY_CODE, _RECOVERY))
        return [(label, self.at(ADDRESSES[page], flow)) for page, label in choices]


def _may_recover(progress: AuthenticationProgress) -> bool:
    # A recovery code replaces a second factor that is still missing.
    return not authentication_context.meets(
        authentication_context.reached(progress.amr), authentication_context.TWO_FACTORS
    )


class CodeHandler(FlowHandler):
    """Asks for a code of the authenticator app. A subclass for another kind of code replaces
    `kind`, the page `name`, and `wrong`, the text for a refused code."""

    kind: ClassVar[Literal["totp", "recovery-code"]] = "totp"
    name: ClassVar[SignInPage] = SignInPage.TOTP
    wrong: ClassVar[Message] = WRONG

    async def show(self, flow: Flow) -> None:
        _, progress = await _asked(self, flow, self.fits)
        self._ask(flow, progress)

    async def submit(self, flow: Flow, form: Params) -> None:
        _, progress = await _asked(self, flow, self.fits)
        code = form.get("code") or ""
        try:
            cookie = await sign_in_second_factors.enter_code(
                self.service, flow, progress, self.kind, code, self.origin_of(flow)
            )
        except Throttled as error:
            self._ask(flow, progress, status=429, retry_seconds=self.wait(error))
        except FactorCodeRefused:
            problems = [{"field": "code", "text": self.wrong}]
            self._ask(flow, progress, status=400, problems=problems)
        else:
            self.set_browser_cookie(cookie)
            self.redirect_303(self.at(LOGIN, flow))

    def fits(self, step: Ask, progress: AuthenticationProgress) -> bool:
        """Returns whether the user may enter this kind of code in the current step of the
        sign-in."""
        return second_factors.TOTP in step.factors

    def _ask(
        self, flow: Flow, progress: AuthenticationProgress, *, status: int = 200, **values: object
    ) -> None:
        self.step(
            self.name,
            flow,
            status=status,
            login_name=progress.subject.user.user_name,
            back_url=self.at(ADDRESSES[SignInPage.LOGIN_NAME], flow),
            other_url=self.at(ADDRESSES[SignInPage.FACTOR], flow),
            **values,
        )


class RecoveryCodeHandler(CodeHandler):
    """Asks for one of the user's recovery codes."""

    kind = "recovery-code"
    name = SignInPage.RECOVERY_CODE
    wrong = _WRONG_RECOVERY

    def fits(self, step: Ask, progress: AuthenticationProgress) -> bool:
        return _may_recover(progress)


ROUTES = [
    (ADDRESSES[SignInPage.FACTOR], FactorHandler),
    (ADDRESSES[SignInPage.TOTP], CodeHandler),
    (ADDRESSES[SignInPage.RECOVERY_CODE], RecoveryCodeHandler),
]
