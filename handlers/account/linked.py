"""/ui/account/linked: the identities at other providers that the person has linked; they can be
removed."""

from __future__ import annotations

from typing import Final

from handlers.account.base import AccountHandler
from handlers.account.factor import Factor, FactorState
from handlers.account.sections import ACCOUNT
from handlers.pages import icons
from idp.foundation.errors import FailedPrecondition
from idp.foundation.i18n import message
from idp.identity.users.subjects import Subject
from idp.management.users import own_links
from idp.management.users.own_links import OwnLink
from idp.oauth.params import Params
from idp.service import Service

LINKED: Final = f"{ACCOUNT}/linked"

_TITLE: Final = message("Linked identity providers", context="account")
_REMOVE_INTRO: Final = message(
    "You can no longer sign in with it, and you'll be signed out wherever you used it.",
    context="account",
)
_LAST_LINK_TEXT: Final = message(
    "This is your only way to sign in. Set a password or add a passkey first.", context="account"
)


class LinkedHandler(AccountHandler):
    """Lists the linked identities, each with a link that removes it."""

    section = "security"

    async def show(self, *ids: str) -> None:
        links = await own_links.find_all(self.service, self.person.user)
        self.page("account/linked", linked=[_template_values(own_link) for own_link in links])


class UnlinkHandler(AccountHandler):
    """Removes a link, after a confirmation."""

    section = "security"
    is_sensitive = True

    async def show(self, *ids: str) -> None:
        self._ask(await own_links.find(self.service, self.person.user, *ids))

    async def submit(self, form: Params, *ids: str) -> None:
        own_link = await own_links.find(self.service, self.person.user, *ids)
        try:
            await own_links.remove(self.service, self.person.subject, own_link.link.id)
        except FailedPrecondition:
            self._ask(own_link, status=400, problems=[{"field": None, "text": _LAST_LINK_TEXT}])
        else:
            self.redirect_with_notice("removed", LINKED)

    def _ask(self, own_link: OwnLink, *, status: int = 200, **values: object) -> None:
        self.page(
            "account/form",
            status=status,
            title_text=message("Remove the identity provider", context="account"),
            about=own_link.connection.name,
            intro=_REMOVE_INTRO,
            fields=(),
            other_buttons=(),
            button=message("Remove", context="console"),
            is_dangerous=True,
            hidden=self.form_inputs(),
            **values,
        )


def _template_values(own_link: OwnLink) -> dict[str, object]:
    return {
        "provider": own_link.connection.name,
        "icon": icons.of_connection(own_link.connection),
        "identity": own_link.link.user_name,
        "linked_at": own_link.link.created_at,
        "remove_url": f"{LINKED}/{own_link.link.id}/remove",
    }


async def _state(service: Service, subject: Subject) -> FactorState:
    links = await own_links.find_all(service, subject.user)
    return FactorState(message("Linked: %(n)s", context="account", n=len(links)))


FACTOR: Final = Factor(_TITLE, "building-2", LINKED, _state)

ROUTES = [(LINKED, LinkedHandler), (f"{LINKED}/([^/]+)/remove", UnlinkHandler)]
