"""The form fields of a person: profile, postal address and contacts."""

from __future__ import annotations

from functools import partial
from typing import Final

from handlers.forms.fields import FormField
from idp.foundation.i18n import Message, message

_GENDERS: Final = (
    ("GENDER_UNSPECIFIED", message("not stated", context="users")),
    ("GENDER_FEMALE", message("female", context="users")),
    ("GENDER_MALE", message("male", context="users")),
    ("GENDER_DIVERSE", message("non-binary", context="users")),
)
MORE: Final = message("More about the user", context="users")
CONTACTS: Final = {
    "email": message("Email", context="users"),
    "phone": message("Phone number", context="users"),
}
ADDRESS: Final = message("Postal address", context="users")


def profile(prefix: str, source_prefix: str = "") -> tuple[FormField, ...]:
    """Returns the form fields of a profile. `prefix` is the prefix of their paths in a request,
    and `source_prefix` that in the answer with the stored values; it is empty for a new user."""
    text = partial(_text, prefix, source_prefix)
    return (
        text("givenName", message("Given name", context="users"), required=True),
        text("familyName", message("Family name", context="users"), required=True),
        text("displayName", message("Display name", context="users")),
        text("nickName", message("Nickname", context="users"), group=MORE),
        text("middleName", message("Middle name", context="users"), group=MORE),
        FormField(
            path=f"{prefix}preferredLanguage",
            source=f"{source_prefix}preferredLanguage",
            label=message("Language", context="page"),
            hint=message("For example, en or pt-BR.", context="users"),
            direction="ltr",
            group=MORE,
            is_sent_empty=bool(source_prefix),
        ),
        FormField(
            path=f"{prefix}gender",
            source=f"{source_prefix}gender",
            label=message("Gender", context="users"),
            kind="choice",
            options=_GENDERS,
            default="GENDER_UNSPECIFIED",
            group=MORE,
        ),
        text(
            "birthdate",
            message("Date of birth", context="users"),
            group=MORE,
            hint=message("For example, 1990-01-31, or only the year.", context="users"),
        ),
        text("zoneinfo", message("Time zone", context="users"), group=MORE),
        text("website", message("Website", context="users"), group=MORE),
        text("profile", message("Profile page", context="users"), group=MORE),
        text("picture", message("Picture (URL)", context="users"), group=MORE),
    )


def address(prefix: str) -> tuple[FormField, ...]:
    """Returns the form fields of a postal address; `prefix` is the prefix of their paths in a
    request."""
    return (
        _text(prefix, "", "streetAddress", message("Street", context="users"), group=ADDRESS),
        _text(prefix, "", "postalCode", message("Postal code", context="users"), group=ADDRESS),
        _text(prefix, "", "locality", message("City", context="users"), group=ADDRESS),
        _text(prefix, "", "region", message("Region", context="users"), group=ADDRESS),
        _text(prefix, "", "country", message("Country", context="users"), group=ADDRESS),
    )


def _text(
    prefix: str,
    source_prefix: str,
    name: str,
    label: Message,
    *,
    required: bool = False,
    group: Message | None = None,
    hint: Message | None = None,
) -> FormField:
    return FormField(
        path=prefix + name,
        source=source_prefix + name if source_prefix else "",
        label=label,
        hint=hint,
        group=group,
        is_required=required,
        is_sent_empty=bool(source_prefix) and not required,
    )


HOW_VERIFIED: Final = (
    ("sendCode", message("Send a code", context="users")),
    ("returnCode", message("Show me the code so that I can pass it on", context="users")),
    ("isVerified", message("Mark as verified", context="users")),
)


def contact(
    kind: str, prefix: str, *, is_required: bool, group: Message | None = None, source: str = ""
) -> tuple[FormField, ...]:
    """Returns the form fields of a contact (`kind` is `email` or `phone`) and of how it is
    verified. `prefix` is the prefix of their paths in a request, and `source` the path of the
    stored contact in an answer."""
    return (
        FormField(
            path=f"{prefix}{kind}",
            source=source,
            label=CONTACTS[kind],
            kind="email" if kind == "email" else "tel",
            direction="ltr",
            is_required=is_required,
            group=group,
        ),
        FormField(
            path=f"{prefix}how",
            label=message("How to verify it", context="users"),
            kind="choice",
            options=HOW_VERIFIED,
            default="sendCode",
            related_paths=tuple(f"{prefix}{name}" for name, _ in HOW_VERIFIED),
            group=group,
        ),
    )


def with_verification(contact: dict[str, object]) -> dict[str, object]:
    """Returns a request's contact with `method`, the form's choice of verification, replaced by
    the member that the API has for it, such as `sendCode`."""
    method = str(contact.get("how", ""))
    verification: dict[str, object] = (
        {method: True if method == "isVerified" else {}} if method else {}
    )
    return {name: value for name, value in contact.items() if name != "how"} | verification
