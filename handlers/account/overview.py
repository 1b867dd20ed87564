"""/ui/account: links to the parts of the user's account, each with a summary."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from handlers.account import passkeys
from handlers.account.base import AccountHandler
from handlers.account.factor import FactorState
from handlers.account.sections import ACCOUNT, SECTIONS
from idp.foundation.i18n import Message, message
from idp.identity.sessions import own_sessions
from idp.identity.users.subjects import Subject
from idp.oauth.sign_in import authorized_applications
from idp.service import Service

_TEXTS: Final[Mapping[str, Message]] = {
    "profile": message("Your name and contact details", context="account"),
    "language": message("For these pages and our emails", context="account"),
    "data": message("Download your data", context="account"),
}


class AccountOverviewHandler(AccountHandler):
    """Shows a link to each part of the account pages."""

    async def show(self, *ids: str) -> None:
        names = [name for name in SECTIONS if name != self.section]
        states = await asyncio.gather(*map(self._state, names))
        cards = [
            {
                "label": SECTIONS[name].label,
                "icon": SECTIONS[name].icon,
                "state": state,
                "url": SECTIONS[name].path,
            }
            for name, state in zip(names, states, strict=True)
        ]
        self.page("account/overview", cards=cards)

    async def _state(self, name: str) -> FactorState:
        if name in _STATES:
            return await _STATES[name](self.service, self.person.subject)
        return FactorState(_TEXTS[name])


async def _sessions(service: Service, subject: Subject) -> FactorState:
    sessions = await own_sessions.find_all(service, subject)
    text = message(
        "Signed in on %(n)s device",
        plural="Signed in on %(n)s devices",
        context="account",
        n=len(sessions),
    )
    return FactorState(text)


async def _applications(service: Service, subject: Subject) -> FactorState:
    applications = await authorized_applications.find_all(service, subject)
    if not applications:
        return FactorState(
            message("No application has access to your account.", context="account")
        )
    text = message(
        "%(n)s application has access to your account",
        plural="%(n)s applications have access to your account",
        context="account",
        n=len(applications),
    )
    return FactorState(text)


_STATES: Final[Mapping[str, Callable[[Service, Subject], Awaitable[FactorState]]]] = {
    "security": passkeys.FACTOR.state,
    "sessions": _sessions,
    "applications": _applications,
}

ROUTES = [(ACCOUNT, AccountOverviewHandler)]
