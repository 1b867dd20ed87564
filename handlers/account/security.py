"""/ui/account/security: the person's sign-in methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from handlers.account import authenticator, passkeys, password, recovery
from handlers.account.base import AccountHandler
from handlers.account.factor import Factor
from handlers.account.sections import SECTIONS

FACTORS: Final[Mapping[str, Factor]] = {
    "password": password.FACTOR,
    "passkeys": passkeys.FACTOR,
    "authenticator": authenticator.FACTOR,
    "recovery": recovery.FACTOR,
}


class SecurityHandler(AccountHandler):
    """Shows each sign-in method with what the person has set up."""

    section = "security"

    async def show(self, *ids: str) -> None:
        factors = [
            {
                "title": each.title,
                "text": await each.state(self.service, self.person.subject),
                "url": each.path,
            }
            for each in FACTORS.values()
        ]
        self.page("account/security", factors=factors)


ROUTES = [(SECTIONS["security"].path, SecurityHandler)]
