"""/ui/account/profile: the person's profile, and the values of it that they may change."""

from __future__ import annotations

from typing import Any, Final

from msgspec import structs

from handlers.account import texts
from handlers.account.base import AccountHandler
from handlers.account.form import FormHandler
from handlers.account.sections import ACCOUNT, SECTIONS
from handlers.forms import cells, user_fields
from handlers.forms.cells import Cell, action_link, cell, labelled_cell
from handlers.forms.run_operation import Document
from idp import changes
from idp.foundation.i18n import message
from idp.management.users import change as user_change
from idp.management.users.change import HumanChange
from idp.records import Email, Phone, User
from idp.schema import reading

EDIT: Final = f"{ACCOUNT}/profile/edit"
_CHANGE: Final = message("Change", context="users")
_VERIFY: Final = message("Verify", context="users")
_REMOVE: Final = message("Remove", context="console")
_VERIFIED: Final = message("verified", context="account")
_UNVERIFIED: Final = message("not verified", context="account")

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
        user, is_locked = self.person.user, self.person.live_session.login.lock_profile
        parts: list[dict[str, object]] = [
            {
                "title": None,
                "properties": _properties(user),
                "actions": [action_link(_CHANGE, EDIT)],
            },
            _contact("email", user.email.address if user.email else None, user.email),
            _contact("phone", user.phone.number if user.phone else None, user.phone),
        ]
        if is_locked:
            parts = [{**part, "actions": _verification_actions(part)} for part in parts]
        self.page(
            "account/show",
            title_text=SECTIONS[self.section].label,
            intro=texts.LOCKED if is_locked else None,
            page_parts=parts,
        )


def _properties(user: User) -> list[Cell]:
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
    properties = [
        labelled_cell(field.label, cells.text(value))
        for field in FIELDS
        if (value := values.get(field.path.removeprefix(_PATH)))
    ]
    return [
        labelled_cell(message("Username", context="users"), cells.text(user.user_name)),
        *properties,
    ]


def _contact(kind: str, value: str | None, contact: Email | Phone | None) -> dict[str, object]:
    """Returns a contact with its state and actions."""
    path = f"{ACCOUNT}/{kind}"
    actions = [action_link(_CHANGE, path)]
    properties = [labelled_cell(user_fields.CONTACTS[kind], cells.text(value))]
    if contact is not None:
        state = _VERIFIED if contact.is_verified else _UNVERIFIED
        chip = {"label": state, "tone": "good" if contact.is_verified else "danger"}
        properties.append(labelled_cell(message("State", context="console"), cell(chip, "chip")))
        actions += [action_link(_VERIFY, f"{path}/verify")] if not contact.is_verified else []
    if contact is not None and kind == "phone":
        actions.append(action_link(_REMOVE, f"{path}/remove", is_dangerous=True))
    return {"title": user_fields.CONTACTS[kind], "properties": properties, "actions": actions}


def _verification_actions(part: dict[str, Any]) -> list[dict[str, object]]:
    # Verification changes no value, so a locked profile allows it.
    return [action for action in part["actions"] if action["label"] == _VERIFY]


class EditHandler(FormHandler):
    """Changes the values of the profile."""

    is_profile_change = True
    section = "profile"
    title = message("Change your profile", context="account")
    fields = FIELDS

    async def act(self, document: Document, if_match: int | None) -> None:
        request = reading.read(HumanChange, document)
        user_id = self.person.user.id
        await changes.run(self.service, user_change.change, self.call(if_match), user_id, request)


ROUTES = [(SECTIONS["profile"].path, ProfileHandler), (EDIT, EditHandler)]
