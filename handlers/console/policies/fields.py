"""Declarative forms of the policies: the title and the fields of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from handlers.forms.fields import FormField, Kind
from idp.foundation import i18n
from idp.foundation.i18n import Message, message
from idp.management.policies.forms import (
    MULTI_FACTORS,
    NO_PASSWORDLESS,
    PASSWORDLESS,
    SECOND_FACTORS,
)

PATH: Final = "/policies"  # relative to the console
OF_ALL: Final = f"{PATH}/installation"
SECTION: Final = "policies"
INHERITED: Final = message("inherited", context="policies")
OWN: Final = message("its own", context="policies")
BUILT_IN: Final = message("built in", context="policies")


class ConsolePolicy(Struct, frozen=True):
    """A kind of policy: its path in the API, its title, the fields of its form, and the option
    with an example value that the command line `idp policy set`, displayed on its page,
    contains."""

    path: str
    title: Message
    fields: tuple[FormField, ...]
    option: str

    @property
    def page(self) -> str:
        return self.path.replace("/", "-")


def _field(
    name: str, label: Message, kind: Kind = "text", hint: Message | None = None
) -> FormField:
    return FormField(
        path=name,
        source=f"policy.{name}",
        label=label,
        hint=hint,
        kind=kind,
        direction="ltr",
        default=False if kind == "switch" else None,
    )


def _list(name: str, label: Message, options: Mapping[str, Message]) -> FormField:
    known = {**SECOND_FACTORS, **MULTI_FACTORS}
    offered = [(value, options[known[value]]) for value in _LISTED[name]]
    return FormField(
        path=name,
        source=f"policy.{name}",
        label=label,
        kind="choices",
        options=offered,
        is_sent_empty=True,
    )


_SECOND_FACTORS: Final = message("What counts beside a password", context="policies")
_MULTI_FACTORS: Final = message("What counts as two factors by itself", context="policies")
_FACTORS: Final = {
    "otp": message("Authenticator apps", context="policies"),
    "u2f": message("Passkeys", context="policies"),
}
_LISTED: Final = {"secondFactors": SECOND_FACTORS, "multiFactors": MULTI_FACTORS}
_PASSWORDLESS: Final = (
    (PASSWORDLESS, message("allowed", context="policies")),
    (NO_PASSWORDLESS, message("not allowed", context="policies")),
)

_SUCH_AS: Final = message("Such as #2b4fc7; empty: the usual.", context="policies")
_LANGUAGES: Final = [(tag, tag) for tag in i18n.available()]
_COLOURS: Final = {
    "primaryColor": message("Buttons and links", context="policies"),
    "backgroundColor": message("Background", context="policies"),
    "warnColor": message("Warnings", context="policies"),
    "fontColor": message("Text", context="policies"),
    "primaryColorDark": message("Buttons and links, dark", context="policies"),
    "backgroundColorDark": message("Background, dark", context="policies"),
    "warnColorDark": message("Warnings, dark", context="policies"),
    "fontColorDark": message("Text, dark", context="policies"),
}

POLICIES: Final = (
    ConsolePolicy(
        "login",
        message("Signing in", context="policies"),
        (
            _field(
                "allowRegister",
                message("People may open accounts themselves", context="policies"),
                "switch",
            ),
            _field(
                "hidePasswordReset",
                message("The pages offer nobody a new password by mail", context="policies"),
                "switch",
            ),
            _field(
                "lockProfile",
                message("Nobody changes their own profile", context="policies"),
                "switch",
            ),
            _field(
                "passwordCheckLifetime",
                message("How long a password counts", context="policies"),
                hint=message("Such as 240h: then it is asked again.", context="policies"),
            ),
            _field(
                "forceMfa",
                message("Everybody needs a second factor", context="policies"),
                "switch",
            ),
            _list("secondFactors", _SECOND_FACTORS, _FACTORS),
            _list("multiFactors", _MULTI_FACTORS, _FACTORS),
            _field(
                "secondFactorCheckLifetime",
                message("How long a second factor counts", context="policies"),
            ),
            _field(
                "multiFactorCheckLifetime",
                message("How long a passkey counts", context="policies"),
            ),
            _field(
                "mfaInitSkipLifetime",
                message("When to offer a second factor again", context="policies"),
                hint=message("Such as 720h; 0s: it is not offered.", context="policies"),
            ),
            FormField(
                path="passwordlessType",
                source="policy.passwordlessType",
                label=message("Signing in by passkey alone", context="policies"),
                kind="choice",
                options=_PASSWORDLESS,
            ),
            _field(
                "defaultRedirectUri",
                message("Where people go who come from nowhere", context="policies"),
                "url",
            ),
        ),
        "--password-check-lifetime 240h",
    ),
    ConsolePolicy(
        "password/complexity",
        message("Passwords", context="policies"),
        (
            _field("minLength", message("Characters at least", context="policies"), "number"),
            _field(
                "minLengthWithFactor",
                message("Characters at least, with a second factor", context="policies"),
                "number",
            ),
            _field(
                "minStrength",
                message("Strength at least, from 0 to 4", context="policies"),
                "number",
                message("0: any; 3: takes more than 10^8 guesses.", context="policies"),
            ),
            _field("hasLowercase", message("A small letter", context="policies"), "switch"),
            _field("hasUppercase", message("A capital letter", context="policies"), "switch"),
            _field("hasNumber", message("A digit", context="policies"), "switch"),
            _field("hasSymbol", message("A symbol", context="policies"), "switch"),
        ),
        "--min-length 12",
    ),
    ConsolePolicy(
        "password/age",
        message("Age of passwords", context="policies"),
        (
            _field(
                "maxAgeDays",
                message("Days after which a new one is due", context="policies"),
                "number",
                message("0: never, as is recommended today.", context="policies"),
            ),
        ),
        "--max-age-days 0",
    ),
    ConsolePolicy(
        "lockout",
        message("Wrong passwords", context="policies"),
        (
            _field(
                "maxPasswordAttempts",
                message("Attempts before somebody is locked out", context="policies"),
                "number",
                message("0: never; tries are slowed down all the same.", context="policies"),
            ),
            _field(
                "maxOtpAttempts",
                message("The same for codes of a second factor", context="policies"),
                "number",
            ),
            _field(
                "lockoutSeconds",
                message("Seconds after which the lock ends", context="policies"),
                "number",
                message("0: when somebody unlocks the account.", context="policies"),
            ),
        ),
        "--max-password-attempts 10",
    ),
    ConsolePolicy(
        "label",
        message("Looks", context="policies"),
        (
            *(_field(name, label, hint=_SUCH_AS, kind="text") for name, label in _COLOURS.items()),
            _field(
                "hideLoginNameSuffix",
                message("Hide the domain that bare login names get", context="policies"),
                "switch",
            ),
            _field(
                "disableWatermark",
                message("Pages name the organization instead of this service", context="policies"),
                "switch",
            ),
        ),
        "--primary-color '#2b4fc7'",
    ),
    ConsolePolicy(
        "privacy",
        message("Links", context="policies"),
        (
            _field("tosLink", message("Terms of use", context="policies"), "url"),
            _field("privacyLink", message("Privacy", context="policies"), "url"),
            _field("helpLink", message("Help", context="policies"), "url"),
            _field("docsLink", message("Documentation", context="policies"), "url"),
            _field("supportEmail", message("Address of support", context="policies"), "email"),
        ),
        "--help-link URL",
    ),
    ConsolePolicy(
        "language",
        message("Languages", context="policies"),
        (
            FormField(
                path="defaultLanguage",
                source="policy.defaultLanguage",
                label=message("If nothing tells which, pages are in", context="policies"),
                kind="choice",
                options=[
                    ("", message("the usual", context="policies")),
                    *_LANGUAGES,
                ],
            ),
            FormField(
                path="allowedLanguages",
                source="policy.allowedLanguages",
                label=message("Languages to choose from; none: all", context="policies"),
                kind="choices",
                options=_LANGUAGES,
                is_sent_empty=True,
            ),
        ),
        "--default-language de",
    ),
)
