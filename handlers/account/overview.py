"""/ui/account: links to the parts of the person's account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from handlers.account.base import AccountHandler
from handlers.account.sections import ACCOUNT, SECTIONS
from idp.foundation.i18n import Message, message

_TEXTS: Final[Mapping[str, Message]] = {
    "profile": message("Your name, and how we reach you.", context="account"),
    "security": message("Your password, and what else you sign in with.", context="account"),
    "sessions": message("Where you are signed in.", context="account"),
    "applications": message("What applications may have of you.", context="account"),
    "language": message("For these pages, and for what we write to you.", context="account"),
    "data": message("All that is kept of you, to take along.", context="account"),
}


class AccountOverviewHandler(AccountHandler):
    """Shows a link to each part of the account pages."""

    async def show(self, *ids: str) -> None:
        cards = [
            {"label": SECTIONS[name].label, "text": text, "url": SECTIONS[name].path}
            for name, text in _TEXTS.items()
        ]
        self.page("account/overview", cards=cards)


ROUTES = [(ACCOUNT, AccountOverviewHandler)]
