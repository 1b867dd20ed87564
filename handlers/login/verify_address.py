"""/ui/verify-email: verification of a new account's e-mail address, without a sign-in."""

from __future__ import annotations

from typing import Final

from handlers.http import browser
from handlers.pages.base import ForeignForm, PageHandler
from idp import changes
from idp.foundation import logs
from idp.foundation.errors import NotFound
from idp.foundation.i18n import message
from idp.identity.factors.mail_codes import MailCodeRefused
from idp.identity.users import email_verification
from idp.identity.users.email_verification import AddressHeld
from idp.oauth.sign_in.next_step import SignInPage

_log = logs.logger(__name__)
_REFUSED: Final = message(
    "Ask the administrator who created your account for a new code. This one is wrong,"
    " already used or expired.",
    context="verify-email",
)
_ADDRESS_IN_USE: Final = message(
    "Another account already uses this email. Contact the administrator who created your account.",
    context="verify-email",
)


class VerifyAddressHandler(PageHandler):
    """Verifies a new account's e-mail address, on the page that the message links to.

    The link fills in the code, but only submitting the form uses it, because mail scanners open
    links too. The code itself authenticates the form.
    """

    async def get(self) -> None:
        self._ask(self.query_params().if_once("code") or "")

    async def post(self) -> None:
        # There may be no cookie that a form token could be bound to, so the headers alone decide.
        if browser.may_lack_cookie(self.service.config, self.request):
            raise ForeignForm("the form may have been sent by another site")
        code = self._own_form().get("code") or ""
        try:
            user_id = self.requested_id("user") or ""
            await changes.run(
                self.service, email_verification.verify_email, user_id, code, checked_codes=set()
            )
        except (MailCodeRefused, NotFound, AddressHeld) as error:
            _log.info("verification refused", cause=error.error_code, address=self.address())
            text = _ADDRESS_IN_USE if isinstance(error, AddressHeld) else _REFUSED
            self._ask("", status=400, problems=[{"field": "code", "text": text}])
        else:
            self.page("email-verified")

    def _ask(self, code: str, *, status: int = 200, **values: object) -> None:
        self.page(
            SignInPage.VERIFY_EMAIL.value,
            status=status,
            email=None,
            entered=code,
            mail_url=None,
            resendable=False,
            wait_seconds=0,
            register_url=None,
            login_url=None,
            **values,
        )


ROUTES = [(email_verification.PAGE, VerifyAddressHandler)]
