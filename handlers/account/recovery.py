"""/ui/account/recovery-codes: how many codes are left, and new ones, which are shown once."""

from __future__ import annotations

from typing import Final

from handlers.account.base import AccountHandler
from handlers.account.factor import Factor
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
    "When your second factor is gone, a recovery code gets you in. New codes take the place of all"
    " that you have, and are shown once.",
    context="factor",
)
_NONE: Final = message(
    "Recovery codes stand in for a second factor: set one up first.", context="factor"
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
            codes = await own_factors.new_codes(self.service, self.person.live)
        except FailedPrecondition:
            await self._ask(status=400, problems=[{"field": None, "text": _NONE}])
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
            button=message("Make new codes", context="factor"),
            others=(),
            is_dangerous=False,
            hidden=self.form_inputs(),
            **({"notice": await _state(self.service, self.person.subject)} | values),
        )


async def _state(service: Service, subject: Subject) -> Message:
    left = await recovery_codes.unused_count(service, subject.user)
    if not left:
        return message("You have none.", context="account")
    return message(
        "You have %(n)s code left.", plural="You have %(n)s codes left.", context="factor", n=left
    )


FACTOR: Final = Factor(_TITLE, CODES, _state)

ROUTES = [(CODES, CodesHandler)]
