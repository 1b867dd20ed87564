"""/ui/login/factor-offer, /totp-enrol and /recovery-codes: setting up a second factor."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, urlsplit

from handlers.login.factors import ICONS, WRONG_CODE
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from idp.foundation import logs
from idp.foundation.i18n import Message, message
from idp.identity.factors import second_factors, totp
from idp.identity.factors.code_checks import FactorCodeRefused
from idp.limits.throttled import Throttled
from idp.oauth.params import Params
from idp.oauth.sign_in import second_factors as sign_in_second_factors
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.next_step import ShowPage, SignInPage
from idp.oauth.sign_in.pending import PendingSignIn
from idp.schema import field_rules
from idp.schema.field_rules import Text

MAX_NAME: Final = 100
_log = logs.logger(__name__)
_NAME: Final = Text(max=MAX_NAME)
_KINDS: Final = {
    second_factors.TOTP: message("Set up an authenticator app", context="factor"),
    second_factors.PASSKEY: message("Set up a passkey", context="factor"),
}
_BAD_NAME: Final = message(
    "Enter a name of at most 100 characters, on one line.", context="factor"
)


class EnrolmentHandler(FlowHandler):
    """A sign-in page that sets up a second factor. Subclasses set `page_of_step`, the step of the
    sign-in in which the page is displayed, and implement `ask` and `proceed`; in any other step
    the browser is redirected to the page of that step."""

    page_of_step: SignInPage

    async def show(self, flow: PendingSignIn) -> None:
        await self.ask(flow, *await self._step_and_progress(flow))

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        await self.proceed(flow, form, *await self._step_and_progress(flow))

    async def ask(
        self,
        flow: PendingSignIn,
        step: ShowPage,
        progress: AuthenticationProgress,
        *,
        status: int = 200,
        **values: object,
    ) -> None:
        """Displays the page. `step` is the sign-in's current step with the factors that it
        accepts, `progress` is how far the user has authenticated, and `values` are further
        template values."""
        raise NotImplementedError

    async def proceed(
        self, flow: PendingSignIn, form: Params, step: ShowPage, progress: AuthenticationProgress
    ) -> None:
        """Processes the submitted form and continues the sign-in; `step` and `progress` are as for
        `ask`. Raises Stale after a concurrent change of the sign-in."""
        raise NotImplementedError

    async def _step_and_progress(
        self, flow: PendingSignIn
    ) -> tuple[ShowPage, AuthenticationProgress]:
        """Returns the current step and the user's progress. Raises ResponseSent if another step is
        due."""
        step = await self.current_step(flow)
        if step.page is not self.page_of_step or step.progress is None:
            self.redirect_instead(self.url_of(LOGIN, flow))
        return step, step.progress


class OfferHandler(EnrolmentHandler):
    """Asks the user to set up a second factor, which can be skipped unless a policy requires
    one."""

    page_of_step = SignInPage.FACTOR_OFFER

    async def ask(
        self,
        flow: PendingSignIn,
        step: ShowPage,
        progress: AuthenticationProgress,
        *,
        status: int = 200,
        **values: object,
    ) -> None:
        kinds = [
            {"name": kind, "icon": ICONS[kind], "label": _KINDS[kind]}
            for kind in sorted(step.factors, reverse=True)
        ]
        self.step(
            SignInPage.FACTOR_OFFER,
            flow,
            status=status,
            login_name=progress.subject.user.user_name,
            kinds=kinds,
            is_optional=step.is_optional,
        )

    async def proceed(
        self, flow: PendingSignIn, form: Params, step: ShowPage, progress: AuthenticationProgress
    ) -> None:
        kind = form.get("factor")
        if kind in step.factors:
            await sign_in_second_factors.choose(self.service, flow, kind)
        elif form.get("decision") == "skip" and step.is_optional:
            self.set_browser_cookie(
                await sign_in_second_factors.decline(self.service, flow, progress)
            )
        self.redirect_303(self.url_of(LOGIN, flow))


class TotpEnrolHandler(EnrolmentHandler):
    """Sets up an authenticator app: displays its secret, and asks for its first code."""

    page_of_step = SignInPage.TOTP_ENROL

    async def ask(
        self,
        flow: PendingSignIn,
        step: ShowPage,
        progress: AuthenticationProgress,
        *,
        status: int = 200,
        **values: object,
    ) -> None:
        user = progress.subject.user
        secret = await sign_in_second_factors.new_secret(self.service, flow, progress)
        host = urlsplit(self.service.config.issuer).netloc
        uri = totp.uri(secret, host, user.user_name)
        page_values: dict[str, object] = {
            "login_name": user.user_name,
            "picture": qr_code(uri),
            "app_url": uri,
            # In groups of four, which are easier to type.
            "secret": " ".join(secret[start : start + 4] for start in range(0, len(secret), 4)),
            "device_name": "",
            "is_optional": not flow.request.is_for_own_page,
        }
        self.step(SignInPage.TOTP_ENROL, flow, status=status, **(page_values | values))

    async def proceed(
        self, flow: PendingSignIn, form: Params, step: ShowPage, progress: AuthenticationProgress
    ) -> None:
        if form.get("decision") == "other":
            await sign_in_second_factors.choose(self.service, flow, None)
            self.redirect_303(self.url_of(LOGIN, flow))
            return
        code, name = form.get("code") or "", (form.get("deviceName") or "").strip()
        problem = _problem_of(name)
        if problem is not None:
            problems = [{"field": "deviceName", "text": problem}]
            await self.ask(flow, step, progress, status=400, device_name=name, problems=problems)
            return
        await self._confirm(flow, step, progress, code, name)

    async def _confirm(
        self,
        flow: PendingSignIn,
        step: ShowPage,
        progress: AuthenticationProgress,
        code: str,
        name: str,
    ) -> None:
        try:
            cookie = await sign_in_second_factors.confirm_totp(
                self.service, flow, progress, code, name
            )
        except Throttled as error:
            seconds = self.set_retry_after(error)
            await self.ask(
                flow, step, progress, status=429, device_name=name, retry_seconds=seconds
            )
        except FactorCodeRefused as error:
            await self.follow_if_repeated(flow)
            _log.info("authenticator app refused", cause=str(error), address=self.address())
            problems = [{"field": "code", "text": WRONG_CODE}]
            await self.ask(flow, step, progress, status=400, device_name=name, problems=problems)
        else:
            self.set_browser_cookie(cookie)
            self.redirect_303(self.url_of(LOGIN, flow))


class RecoveryCodesHandler(EnrolmentHandler):
    """Displays new recovery codes until the user confirms that they have stored them."""

    page_of_step = SignInPage.RECOVERY_CODES

    async def ask(
        self,
        flow: PendingSignIn,
        step: ShowPage,
        progress: AuthenticationProgress,
        *,
        status: int = 200,
        **values: object,
    ) -> None:
        codes = sign_in_second_factors.codes(self.service, flow, progress)
        self.step(
            SignInPage.RECOVERY_CODES,
            flow,
            status=status,
            cancellable=False,
            codes=codes,
            file_url=as_file(codes),
        )

    async def proceed(
        self, flow: PendingSignIn, form: Params, step: ShowPage, progress: AuthenticationProgress
    ) -> None:
        self.set_browser_cookie(
            await sign_in_second_factors.confirm_codes_noted(self.service, flow, progress)
        )
        self.redirect_303(self.url_of(LOGIN, flow))


def _problem_of(name: str) -> Message | None:
    try:
        _NAME.read(name)
    except field_rules.FieldRefused:
        return _BAD_NAME
    return None


def qr_code(text: str) -> str:
    """Returns the text as a QR code, drawn in SVG."""
    import segno  # imported here, because it takes 10 ms of the start of a process

    code = segno.make(text, error="m", micro=False)
    return str(code.svg_inline(svgclass="qr", lineclass=None, omitsize=True, border=4))


def as_file(codes: list[str]) -> str:
    """Returns the recovery codes as a text file in a data: URL, so that the download needs no
    request."""
    return "data:text/plain;charset=utf-8," + quote("\n".join(codes) + "\n")


ROUTES = [
    (ADDRESSES[SignInPage.FACTOR_OFFER], OfferHandler),
    (ADDRESSES[SignInPage.TOTP_ENROL], TotpEnrolHandler),
    (ADDRESSES[SignInPage.RECOVERY_CODES], RecoveryCodesHandler),
]
