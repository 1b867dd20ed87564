"""The form fields of a person: profile, postal address and contacts."""

from __future__ import annotations

from typing import Final

from handlers.forms.fields import FormField
from idp.foundation.i18n import Message, message

_GENDERS: Final = (
    ("GENDER_UNSPECIFIED", message("not told", context="users")),
    ("GENDER_FEMALE", message("female", context="users")),
    ("GENDER_MALE", message("male", context="users")),
    ("GENDER_DIVERSE", message("diverse", context="users")),
)
MORE: Final = message("More about the person", context="users")
CONTACTS: Final = {
    "email": message("E-mail address", context="users"),
    "phone": message("Phone number", context="users"),
}
ADDRESS: Final = message("Postal address", context="users")


def profile(at: str, known_at: str = "") -> tuple[FormField, ...]:
    """Returns the form fields of a profile. `at` is the prefix of their paths in a request, and
    `known_at` that in the answer with the stored values; it is empty for a new user."""
    return (
        _text(at, known_at, "givenName", message("First name", context="users"), required=True),
        _text(at, known_at, "familyName", message("Last name", context="users"), required=True),
        _text(at, known_at, "displayName", message("Name as it is shown", context="users")),
        _text(at, known_at, "nickName", message("Nickname", context="users"), group=MORE),
        _text(at, known_at, "middleName", message("Middle name", context="users"), group=MORE),
        FormField(
            path=f"{at}preferredLanguage",
            source=f"{known_at}preferredLanguage",
            label=message("Language", context="page"),
            hint=message("Such as en or pt-BR.", context="users"),
            direction="ltr",
            group=MORE,
            is_sent_empty=bool(known_at),
        ),
        FormField(
            path=f"{at}gender",
            source=f"{known_at}gender",
            label=message("Gender", context="users"),
            kind="choice",
            options=_GENDERS,
            default="GENDER_UNSPECIFIED",
            group=MORE,
        ),
        _text(
            at,
            known_at,
            "birthdate",
            message("Date of birth", context="users"),
            group=MORE,
            hint=message("Such as 1990-01-31, or the year alone.", context="users"),
        ),
        _text(at, known_at, "zoneinfo", message("Time zone", context="users"), group=MORE),
        _text(at, known_at, "website", message("Website", context="users"), group=MORE),
        _text(at, known_at, "profile", message("Profile page", context="users"), group=MORE),
        _text(at, known_at, "picture", message("Picture (address)", context="users"), group=MORE),
    )


def address(at: str) -> tuple[FormField, ...]:
    """Returns the form fields of a postal address; `at` is the prefix of their paths in a
    request."""
    return (
        _text(at, "", "streetAddress", message("Street", context="users"), group=ADDRESS),
        _text(at, "", "postalCode", message("Postal code", context="users"), group=ADDRESS),
        _text(at, "", "locality", message("Town", context="users"), group=ADDRESS),
        _text(at, "", "region", message("Region", context="users"), group=ADDRESS),
        _text(at, "", "country", message("Country", context="users"), group=ADDRESS),
    )


def _text(
    at: str,
    known_at: str,
    name: str,
    label: Message,
    *,
    required: bool = False,
    group: Message | None = None,
    hint: Message | None = None,
) -> FormField:
    return FormField(
        path=at + name,
        source=known_at + name if known_at else "",
        label=label,
        hint=hint,
        group=group,
        is_required=required,
        is_sent_empty=bool(known_at) and not required,
    )


HOW_VERIFIED: Final = (
    ("sendCode", message("Send a code there", context="users")),
    ("returnCode", message("Show me the code, and I pass it on", context="users")),
    ("isVerified", message("I know that it is theirs", context="users")),
)


def contact(
    kind: str, at: str, *, is_required: bool, group: Message | None = None, source: str = ""
) -> tuple[FormField, ...]:
    """Returns the form fields of a contact (`kind` is `email` or `phone`) and of how it is
    verified. `at` is the prefix of their paths in a request, and `source` the path of the stored
    contact in an answer."""
    return (
        FormField(
            path=f"{at}{kind}",
            source=source,
            label=CONTACTS[kind],
            kind="email" if kind == "email" else "tel",
            direction="ltr",
            is_required=is_required,
            group=group,
        ),
        FormField(
            path=f"{at}how",
            label=message("How it is confirmed", context="users"),
            kind="choice",
            options=HOW_VERIFIED,
            default="sendCode",
            means=tuple(f"{at}{name}" for name, _ in HOW_VERIFIED),
            group=group,
        ),
    )


def with_verification(contact: dict[str, object]) -> dict[str, object]:
    """Returns a request's contact with `how`, the form's choice of verification, replaced by the
    member that the API has for it, such as `sendCode`."""
    how = str(contact.get("how", ""))
    verification: dict[str, object] = {how: True if how == "isVerified" else {}} if how else {}
    return {name: value for name, value in contact.items() if name != "how"} | verification
