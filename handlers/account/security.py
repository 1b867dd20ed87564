"""/ui/account/security: the user's authentication methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from handlers.account import authenticator, linked, passkeys, password, recovery
from handlers.account.base import AccountHandler
from handlers.account.factor import Factor
from handlers.account.sections import SECTIONS
from idp.management.users import own_links

FACTORS: Final[Mapping[str, Factor]] = {
    "password": password.FACTOR,
    "passkeys": passkeys.FACTOR,
    "authenticator": authenticator.FACTOR,
    "recovery": recovery.FACTOR,
}


class SecurityHandler(AccountHandler):
    """Shows each authentication method with what the user has set up."""

    section = "security"

    async def show(self, *ids: str) -> None:
        factors = list(FACTORS.values())
        # An identity is linked during a sign-in: without one there is nothing to set up here.
        if await own_links.find_all(self.service, self.person.user):
            factors.append(linked.FACTOR)
        cards = [
            {
                "label": factor.title,
                "icon": factor.icon,
                "state": await factor.state(self.service, self.person.subject),
                "url": factor.path,
            }
            for factor in factors
        ]
        self.page("account/security", cards=cards)


ROUTES = [(SECTIONS["security"].path, SecurityHandler)]
