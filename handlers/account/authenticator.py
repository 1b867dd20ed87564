"""/ui/account/authenticator: the person's authenticator app."""

from __future__ import annotations

from typing import Final

from handlers.account import last_factor
from handlers.account.base import RECENT_SECONDS, AccountHandler
from handlers.account.factor import NOT_SET_UP, Factor, FactorState
from handlers.account.sections import ACCOUNT
from handlers.forms import cells
from handlers.forms.cells import action_link
from handlers.pages import signed_in_page
from idp.foundation.errors import FailedPrecondition
from idp.foundation.i18n import message
from idp.identity.factors import own_factors, second_factors
from idp.identity.factors.last_factor import PasswordNotAccepted, PasswordTooShort
from idp.identity.users.subjects import Subject
from idp.oauth.params import Params
from idp.oauth.sign_in import first_party_areas
from idp.service import Service

APP: Final = f"{ACCOUNT}/authenticator"
NEW: Final = f"{APP}/new"
REMOVE: Final = f"{APP}/remove"

_TITLE: Final = message("Authenticator app", context="factor")
_ABOUT: Final = message(
    "An app on your phone that shows a code. You enter the code after your password.",
    context="factor",
)
_SET_UP_AGAIN: Final = message("Set it up on another device", context="factor")
_SET_UP: Final = message("Set up an authenticator app", context="factor")
_REMOVE: Final = message("Remove the authenticator app", context="factor")
_REMOVE_INTRO: Final = message(
    "We'll no longer ask for its codes, and you'll be signed out everywhere else.",
    context="factor",
)
_LAST_FACTOR_TEXT: Final = message(
    "Your organization requires a second factor, and this is your only one. Set up another first.",
    context="factor",
)


class AppHandler(AccountHandler):
    """Shows whether an authenticator app is set up, with links to set one up or remove it."""

    section = "security"

    async def show(self, *ids: str) -> None:
        app, properties, actions = self.person.user.totp, [], [action_link(_SET_UP, NEW)]
        if app is not None:
            added = cells.instant(app.created_at.isoformat())
            properties = [cells.labelled_cell(message("Added", context="factor"), added)]
            if app.name:
                name = message("Device", context="factor")
                properties = [cells.labelled_cell(name, cells.text(app.name)), *properties]
            actions = [
                action_link(_SET_UP_AGAIN, NEW),
                action_link(_REMOVE, REMOVE, is_dangerous=True),
            ]
        part = {"title": None, "properties": properties, "actions": actions}
        self.page("account/show", title_text=_TITLE, intro=_ABOUT, page_parts=[part])


class NewAppHandler(AccountHandler):
    """Redirects to the sign-in page that sets up an authenticator app, which returns to the
    account."""

    section = "security"

    async def show(self, *ids: str) -> None:
        await signed_in_page.sign_in(
            self,
            first_party_areas.ACCOUNT,
            self.person.browser,
            APP,
            max_age=RECENT_SECONDS,
            user_id=self.person.user.id,
            adding=second_factors.TOTP,
        )


class RemoveAppHandler(AccountHandler):
    """Removes the authenticator app, after a confirmation."""

    section = "security"
    is_sensitive = True

    async def show(self, *ids: str) -> None:
        if self.person.user.totp is None:
            self.redirect_303(APP)
        else:
            await self._ask(self.person.user.totp.name)

    async def submit(self, form: Params, *ids: str) -> None:
        try:
            await own_factors.remove_totp(
                self.service, self.person.live_session, form.get("newPassword") or ""
            )
        except (PasswordTooShort, PasswordNotAccepted) as error:
            await self._ask("", status=400, problems=last_factor.problems(error))
        except FailedPrecondition:
            await self._ask("", status=400, problems=[{"field": None, "text": _LAST_FACTOR_TEXT}])
        else:
            self.redirect_with_notice("removed", APP)

    async def _ask(self, name: str, *, status: int = 200, **values: object) -> None:
        self.page(
            "account/form",
            status=status,
            title_text=_REMOVE,
            about=name or None,
            intro=_REMOVE_INTRO,
            fields=await last_factor.inputs(self.service, self.person.user, second_factors.TOTP),
            button=message("Remove", context="console"),
            other_buttons=(),
            is_dangerous=True,
            hidden=self.form_inputs(),
            **values,
        )


async def _state(service: Service, subject: Subject) -> FactorState:
    app = subject.user.totp
    if app is None:
        return NOT_SET_UP
    return FactorState(None, message("Set up %(when)s", context="factor"), app.created_at)


FACTOR: Final = Factor(_TITLE, "smartphone", APP, _state)

ROUTES = [(APP, AppHandler), (NEW, NewAppHandler), (REMOVE, RemoveAppHandler)]
