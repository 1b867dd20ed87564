"""/ui/account/profile: the person's profile, and what of it they may change."""

from __future__ import annotations

from typing import Any, Final

from msgspec import structs

from handlers.account import texts
from handlers.account.base import AccountHandler
from handlers.account.form import FormHandler
from handlers.account.sections import ACCOUNT, SECTIONS
from handlers.forms import cells, user_fields
from handlers.forms.cells import Cell, action_link, cell, fact
from handlers.forms.run_operation import Document
from idp.foundation.i18n import message
from idp.management.users import change as user_change
from idp.management.users.change import HumanChange
from idp.records import Email, Phone, User
from idp.schema import reading

EDIT: Final = f"{ACCOUNT}/profile/edit"
_CHANGE: Final = message("Change", context="users")
_CONFIRM: Final = message("Confirm", context="users")
_REMOVE: Final = message("Remove", context="console")
_CONFIRMED: Final = message("confirmed", context="account")
_UNCONFIRMED: Final = message("not confirmed", context="account")

# The members that a person changes, with the browser's autocomplete names.
_AUTOCOMPLETE: Final = {
    "givenName": "given-name",
    "familyName": "family-name",
    "displayName": "name",
    "nickName": "nickname",
    "gender": "sex",
    "birthdate": "bday",
    "zoneinfo": "off",
    "website": "url",
}
_PATH: Final = "profile."


FIELDS: Final = tuple(
    structs.replace(
        field,
        group=None,
        autocomplete=_AUTOCOMPLETE[field.path.removeprefix(_PATH)],
        is_sent_empty=field.kind != "choice",  # an empty name is refused and not ignored
    )
    for field in user_fields.profile(_PATH, "human.profile.")
    if field.path.removeprefix(_PATH) in _AUTOCOMPLETE
)


class ProfileHandler(AccountHandler):
    """Shows the person's profile and contacts, with links to change them."""

    section = "profile"

    async def show(self, *ids: str) -> None:
        user, is_locked = self.person.user, self.person.live.login.lock_profile
        parts: list[dict[str, object]] = [
            {"title": None, "facts": _facts(user), "actions": [action_link(_CHANGE, EDIT)]},
            _contact("email", user.email.address if user.email else None, user.email),
            _contact("phone", user.phone.number if user.phone else None, user.phone),
        ]
        if is_locked:
            parts = [{**part, "actions": _only_confirming(part)} for part in parts]
        self.page(
            "account/show",
            title_text=SECTIONS[self.section].label,
            intro=texts.LOCKED if is_locked else None,
            parts_of=parts,
        )


def _facts(user: User) -> list[Cell]:
    profile = user.profile
    values = {
        "givenName": profile.given_name,
        "familyName": profile.family_name,
        "displayName": profile.display_name,
        "nickName": profile.nick_name,
        "birthdate": profile.birthdate,
        "zoneinfo": profile.zoneinfo,
        "website": profile.website,
    }
    names = [
        fact(field.label, cells.text(value))
        for field in FIELDS
        if (value := values.get(field.path.removeprefix(_PATH)))
    ]
    return [fact(message("User name", context="users"), cells.text(user.user_name)), *names]


def _contact(kind: str, value: str | None, known: Email | Phone | None) -> dict[str, object]:
    """Returns a contact with its state and actions."""
    path = f"{ACCOUNT}/{kind}"
    ways = [action_link(_CHANGE, path)]
    facts = [fact(user_fields.CONTACTS[kind], cells.text(value))]
    if known is not None:
        state = _CONFIRMED if known.is_verified else _UNCONFIRMED
        chip = {"label": state, "tone": "good" if known.is_verified else "bad"}
        facts.append(fact(message("State", context="console"), cell(chip, "chip")))
        ways += [action_link(_CONFIRM, f"{path}/verify")] if not known.is_verified else []
    if known is not None and kind == "phone":
        ways.append(action_link(_REMOVE, f"{path}/remove", is_dangerous=True))
    return {"title": user_fields.CONTACTS[kind], "facts": facts, "actions": ways}


def _only_confirming(part: dict[str, Any]) -> list[dict[str, object]]:
    # Verification changes no value, so a locked profile allows it.
    return [each for each in part["actions"] if each["label"] == _CONFIRM]


class EditHandler(FormHandler):
    """Changes the values of the profile."""

    is_profile = True
    section = "profile"
    title = message("Change your profile", context="account")
    fields = FIELDS

    async def act(self, document: Document, if_match: int | None) -> None:
        request = reading.read(HumanChange, document)
        user_id = self.person.user.id
        await user_change.change(self.service, self.call(if_match), user_id, request)


ROUTES = [(SECTIONS["profile"].path, ProfileHandler), (EDIT, EditHandler)]
