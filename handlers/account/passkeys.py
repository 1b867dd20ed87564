"""/ui/account/passkeys: the person's passkeys can be created, renamed and removed."""

from __future__ import annotations

from typing import Final

from handlers.account import last_factor
from handlers.account.base import RECENT_SECONDS, AccountHandler
from handlers.account.factor import LAST_USED, Factor, FactorState
from handlers.account.sections import ACCOUNT
from handlers.login.passkey_enrol import NAME_PROBLEM
from handlers.pages import signed_in_page
from idp import changes
from idp.foundation.errors import FailedPrecondition, InvalidArgument
from idp.foundation.i18n import message
from idp.identity.factors import passkeys, second_factors, webauthn
from idp.identity.factors.last_factor import PasswordNotAccepted, PasswordTooShort
from idp.identity.users.subjects import Subject
from idp.management.users import own_passkeys
from idp.management.users import passkeys as user_passkeys
from idp.oauth.params import Params
from idp.oauth.sign_in import first_party_areas
from idp.records import Passkey
from idp.service import Service

PASSKEYS: Final = f"{ACCOUNT}/passkeys"
NEW: Final = f"{PASSKEYS}/new"


class PasskeysHandler(AccountHandler):
    """Lists the person's passkeys with links to create, rename and remove them."""

    section = "security"

    async def show(self, *ids: str) -> None:
        stored = await passkeys.of_user(self.service, self.person.user.id)
        relying_party = webauthn.relying_party(self.service.config)
        self.page(
            "account/passkeys",
            passkeys=[_template_values(passkey) for passkey in stored],
            # Browsers support no passkeys at an IP address or by plain http.
            new_url=NEW if relying_party and len(stored) < passkeys.MAX_PASSKEYS else None,
        )


class NewPasskeyHandler(AccountHandler):
    """Redirects to the sign-in page that registers a passkey, which returns to the list of
    passkeys."""

    section = "security"

    async def show(self, *ids: str) -> None:
        user_id = self.person.user.id
        await signed_in_page.sign_in(
            self,
            first_party_areas.ACCOUNT,
            self.person.browser,
            PASSKEYS,
            max_age=RECENT_SECONDS,
            user_id=user_id,
            adding=second_factors.PASSKEY,
        )


class RenamePasskeyHandler(AccountHandler):
    """Changes the name of a passkey."""

    section = "security"

    async def show(self, *ids: str) -> None:
        passkey = await user_passkeys.find(self.service, self.person.user, *ids)
        self._ask(passkey.name)

    async def submit(self, form: Params, *ids: str) -> None:
        (passkey_id,), name = ids, form.get("name") or ""
        try:
            await changes.run(self.service, own_passkeys.rename, self.call(), passkey_id, name)
        except InvalidArgument:
            problems = [{"field": "name", "text": NAME_PROBLEM}]
            self._ask(name, status=400, problems=problems)
        else:
            self.redirect_with_notice("saved", PASSKEYS)

    def _ask(self, name: str, *, status: int = 200, **values: object) -> None:
        self.page(
            "account/passkey-name",
            status=status,
            entered=name,
            maximum=passkeys.MAX_NAME,
            hidden=self.form_inputs(),
            **values,
        )


class RemovePasskeyHandler(AccountHandler):
    """Removes a passkey, after a confirmation."""

    section = "security"
    is_sensitive = True

    async def show(self, *ids: str) -> None:
        passkey = await user_passkeys.find(self.service, self.person.user, *ids)
        await self._ask(passkey)

    async def submit(self, form: Params, *ids: str) -> None:
        passkey = await user_passkeys.find(self.service, self.person.user, *ids)
        try:
            await own_passkeys.remove(
                self.service, self.person.live_session, passkey.id, form.get("newPassword") or ""
            )
        except (PasswordTooShort, PasswordNotAccepted) as error:
            await self._ask(passkey, status=400, problems=last_factor.problems(error))
        except FailedPrecondition:
            await self._ask(
                passkey, status=400, problems=[{"field": None, "text": _LAST_PASSKEY_TEXT}]
            )
        else:
            self.redirect_with_notice("removed", PASSKEYS)

    async def _ask(self, passkey: Passkey, *, status: int = 200, **values: object) -> None:
        self.page(
            "account/form",
            status=status,
            title_text=message("Remove the passkey", context="passkey"),
            about=passkey.name,
            intro=_REMOVE_INTRO,
            fields=await last_factor.inputs(
                self.service, self.person.user, second_factors.PASSKEY
            ),
            other_buttons=(),
            button=message("Remove", context="console"),
            is_dangerous=True,
            hidden=self.form_inputs(),
            **values,
        )


_REMOVE_INTRO: Final = message(
    "You can no longer sign in with it, and you'll be signed out everywhere else. Remove"
    " it from your device, too: this page can't do that.",
    context="passkey",
)
_LAST_PASSKEY_TEXT: Final = message(
    "This passkey is your only way to sign in. Set a password or add another passkey first.",
    context="passkey",
)


def _template_values(passkey: Passkey) -> dict[str, object]:
    return {
        "name": passkey.name,
        "created": passkey.created_at,
        "used": passkey.last_used_at,
        "is_backed_up": passkey.is_backed_up,
        "rename_url": f"{PASSKEYS}/{passkey.id}/rename",
        "remove_url": f"{PASSKEYS}/{passkey.id}/remove",
    }


async def _state(service: Service, subject: Subject) -> FactorState:
    stored = await passkeys.of_user(service, subject.user.id)
    if not stored:
        return FactorState(message("No passkeys", context="passkey"))
    text = message("%(n)s passkey", plural="%(n)s passkeys", context="passkey", n=len(stored))
    used = [passkey.last_used_at for passkey in stored if passkey.last_used_at]
    return FactorState(text, LAST_USED, max(used)) if used else FactorState(text)


FACTOR: Final = Factor(
    message("Passkeys", context="passkey"), "fingerprint-pattern", PASSKEYS, _state
)

ROUTES = [
    (PASSKEYS, PasskeysHandler),
    (NEW, NewPasskeyHandler),
    (f"{PASSKEYS}/([^/]+)/rename", RenamePasskeyHandler),
    (f"{PASSKEYS}/([^/]+)/remove", RemovePasskeyHandler),
]
