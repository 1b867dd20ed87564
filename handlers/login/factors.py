"""/ui/login/factor, /totp and /recovery-code: the second factor of a sign-in."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final, Literal, NamedTuple

from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from handlers.pages.page_settings import support_url
from idp.foundation.i18n import Message, message
from idp.identity import authentication_context
from idp.identity.factors import passkeys, recovery_codes, second_factors, totp
from idp.identity.factors.code_checks import FactorCodeRefused
from idp.limits.throttled import Throttled
from idp.oauth.params import Params
from idp.oauth.sign_in import second_factors as sign_in_second_factors
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.next_step import ShowPage, SignInPage
from idp.oauth.sign_in.pending import PendingSignIn
from idp.records import User

_StepCheck = Callable[[ShowPage, AuthenticationProgress], bool]

_FACTOR_PAGES: Final = (SignInPage.FACTOR, SignInPage.TOTP, SignInPage.PASSKEY)
ICONS: Final = {second_factors.TOTP: "smartphone", second_factors.PASSKEY: "fingerprint-pattern"}


class _Choice(NamedTuple):
    """A way to authenticate the user: its page, icon, and texts."""

    page: SignInPage
    icon: str
    label: Message
    hint: Message


_CHOICES: Final = {
    second_factors.TOTP: _Choice(
        SignInPage.TOTP,
        ICONS[second_factors.TOTP],
        message("Authenticator app", context="factor"),
        message("Enter a code from your app.", context="factor"),
    ),
    second_factors.PASSKEY: _Choice(
        SignInPage.PASSKEY,
        ICONS[second_factors.PASSKEY],
        message("Passkey", context="factor"),
        message("Use your fingerprint, face or screen lock.", context="factor"),
    ),
}
_RECOVERY: Final = _Choice(
    SignInPage.RECOVERY_CODE,
    "key-round",
    message("Recovery code", context="factor"),
    message("Enter a code that you saved.", context="factor"),
)
_NO_FACTOR: Final = message(
    "No second factor is available. Contact an administrator.", context="factor"
)
WRONG_CODE: Final = message(
    "Check the code and your phone's clock. Codes change every 30 seconds.", context="factor"
)
_WRONG_RECOVERY: Final = message(
    "Enter another recovery code. This one was used or isn't valid.", context="factor"
)


async def _step_and_progress(
    handler: FlowHandler, flow: PendingSignIn, is_accepted: _StepCheck | None = None
) -> tuple[ShowPage, AuthenticationProgress]:
    """Returns the current step and the user's progress. Raises ResponseSent if another step is
    due, or one in which the page cannot be used."""
    step = await handler.current_step(flow)
    if (
        step.page not in _FACTOR_PAGES
        or step.progress is None
        or (is_accepted and not is_accepted(step, step.progress))
    ):
        handler.redirect_instead(handler.url_of(LOGIN, flow))
    return step, step.progress


class FactorHandler(FlowHandler):
    """Lists the second factors that the sign-in accepts, as links to their pages."""

    async def show(self, flow: PendingSignIn) -> None:
        step, progress = await _step_and_progress(self, flow)
        choices = await self._choices(flow, step, progress)
        self.step(
            SignInPage.FACTOR,
            flow,
            login_name=progress.subject.user.user_name,
            choices=choices,
            support_url=support_url(self.page_settings.privacy) if self.page_settings else None,
            notice=None if choices else _NO_FACTOR,
        )

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        self.redirect_303(self.url_of(LOGIN, flow))

    async def _choices(
        self, flow: PendingSignIn, step: ShowPage, progress: AuthenticationProgress
    ) -> list[dict[str, object]]:
        user = progress.subject.user
        kinds = await self._by_last_use(user, sorted(step.factors, reverse=True))
        choices = [_CHOICES[kind] for kind in kinds]
        if _may_recover(progress) and await recovery_codes.unused_count(self.service, user):
            choices.append(_RECOVERY)
        return [
            choice._asdict() | {"url": self.url_of(ADDRESSES[choice.page], flow)}
            for choice in choices
        ]

    async def _by_last_use(self, user: User, kinds: list[str]) -> list[str]:
        """Returns the kinds of second factors, the one that was used last first."""
        if len(kinds) < 2:
            return kinds
        passkey_uses = [
            passkey.last_used_at for passkey in await passkeys.of_user(self.service, user.id)
        ]
        last_uses = {
            second_factors.PASSKEY: max(
                (instant.timestamp() for instant in passkey_uses if instant), default=0
            ),
            second_factors.TOTP: user.totp.last_step * totp.STEP_SECONDS if user.totp else 0,
        }
        return sorted(kinds, key=lambda kind: -last_uses.get(kind, 0))


def _may_recover(progress: AuthenticationProgress) -> bool:
    # A recovery code replaces a second factor that is still missing.
    return not authentication_context.meets(
        authentication_context.acr_of(progress.amr), authentication_context.TWO_FACTORS
    )


class CodeHandler(FlowHandler):
    """Asks for a code of the authenticator app. A subclass for another kind of code replaces
    `kind`, the page `page_of_step`, and `wrong_text`, the text for a refused code."""

    kind: ClassVar[Literal["totp", "recovery-code"]] = "totp"
    page_of_step: ClassVar[SignInPage] = SignInPage.TOTP
    wrong_text: ClassVar[Message] = WRONG_CODE

    async def show(self, flow: PendingSignIn) -> None:
        _, progress = await _step_and_progress(self, flow, self.is_accepted)
        self._ask(flow, progress)

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        _, progress = await _step_and_progress(self, flow, self.is_accepted)
        code = form.get("code") or ""
        try:
            cookie = await sign_in_second_factors.enter_code(
                self.service, flow, progress, self.kind, code, self.origin_of(flow)
            )
        except Throttled as error:
            self._ask(flow, progress, status=429, retry_seconds=self.set_retry_after(error))
        except FactorCodeRefused:
            await self.follow_if_repeated(flow)
            problems = [{"field": "code", "text": self.wrong_text}]
            self._ask(flow, progress, status=400, problems=problems)
        else:
            self.set_browser_cookie(cookie)
            self.redirect_303(self.url_of(LOGIN, flow))

    def is_accepted(self, step: ShowPage, progress: AuthenticationProgress) -> bool:
        """Returns whether the user may enter this kind of code in the current step of the
        sign-in."""
        return second_factors.TOTP in step.factors

    def _ask(
        self,
        flow: PendingSignIn,
        progress: AuthenticationProgress,
        *,
        status: int = 200,
        **values: object,
    ) -> None:
        self.step(
            self.page_of_step,
            flow,
            status=status,
            login_name=progress.subject.user.user_name,
            back_url=self.url_of(ADDRESSES[SignInPage.LOGIN_NAME], flow),
            other_url=self.url_of(ADDRESSES[SignInPage.FACTOR], flow),
            **values,
        )


class RecoveryCodeHandler(CodeHandler):
    """Asks for one of the user's recovery codes."""

    kind = "recovery-code"
    page_of_step = SignInPage.RECOVERY_CODE
    wrong_text = _WRONG_RECOVERY

    def is_accepted(self, step: ShowPage, progress: AuthenticationProgress) -> bool:
        return _may_recover(progress)


ROUTES = [
    (ADDRESSES[SignInPage.FACTOR], FactorHandler),
    (ADDRESSES[SignInPage.TOTP], CodeHandler),
    (ADDRESSES[SignInPage.RECOVERY_CODE], RecoveryCodeHandler),
]
