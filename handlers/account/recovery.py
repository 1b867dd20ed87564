"""/ui/account/recovery-codes: the number of unused codes, and new codes, which are displayed
once."""

from __future__ import annotations

from typing import Final

from handlers.account.base import AccountHandler
from handlers.account.factor import Factor, FactorState
from handlers.account.sections import ACCOUNT
from handlers.login.factor_enrolment import as_file
from idp.foundation.errors import FailedPrecondition
from idp.foundation.i18n import Message, message
from idp.identity.factors import own_factors, recovery_codes
from idp.identity.users.subjects import Subject
from idp.oauth.params import Params
from idp.service import Service

CODES: Final = f"{ACCOUNT}/recovery-codes"

_TITLE: Final = message("Recovery codes", context="factor")
_ABOUT: Final = message(
    "If you lose your second factor, sign in with a recovery code. New codes "
    "replace all your existing codes. We show them only once.",
    context="factor",
)
_NO_FACTOR_TEXT: Final = message(
    "Set up a second factor first. Recovery codes let you sign in if you lose it.",
    context="factor",
)


class CodesHandler(AccountHandler):
    """Generates new recovery codes after a confirmation. They are displayed only in the response
    to the form."""

    section = "security"
    is_sensitive = True

    async def show(self, *ids: str) -> None:
        await self._ask()

    async def submit(self, form: Params, *ids: str) -> None:
        try:
            codes = await own_factors.new_codes(self.service, self.person.live_session)
        except FailedPrecondition:
            await self._ask(status=400, problems=[{"field": None, "text": _NO_FACTOR_TEXT}])
            return
        # Without a redirect, because only digests of the codes are stored.
        self.page("account/recovery-codes", codes=codes, file_url=as_file(codes))

    async def _ask(self, *, status: int = 200, **values: object) -> None:
        self.page(
            "account/form",
            status=status,
            title_text=_TITLE,
            about=None,
            intro=_ABOUT,
            fields=(),
            button=message("Generate new codes", context="factor"),
            other_buttons=(),
            is_dangerous=False,
            hidden=self.form_inputs(),
            **({"notice": await _unused_codes(self.service, self.person.subject)} | values),
        )


async def _unused_codes(service: Service, subject: Subject) -> Message:
    unused_codes = await recovery_codes.unused_count(service, subject.user)
    if not unused_codes:
        return message("No recovery codes", context="factor")
    return message("%(n)s code left", plural="%(n)s codes left", context="factor", n=unused_codes)


async def _state(service: Service, subject: Subject) -> FactorState:
    return FactorState(await _unused_codes(service, subject))


FACTOR: Final = Factor(_TITLE, "key-round", CODES, _state)

ROUTES = [(CODES, CodesHandler)]
