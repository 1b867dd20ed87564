"""Declarative forms of the policies: the title and the fields of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, structs

from handlers.forms.fields import FieldKind, FormField
from idp.foundation import i18n
from idp.foundation.i18n import Message, message
from idp.management.policies.forms import (
    MULTI_FACTORS,
    NO_PASSWORDLESS,
    PASSWORDLESS,
    SECOND_FACTORS,
)
from idp.records.policies import PolicyKind

PATH: Final = "/policies"  # relative to the console
INSTALLATION_PATH: Final = f"{PATH}/installation"
SECTION: Final = "policies"
BRANDING_PATH: Final = f"{PATH}/branding"
INSTALLATION_BRANDING_PATH: Final = f"{INSTALLATION_PATH}/branding"
INHERITED: Final = message("inherited", context="policies")
OWN: Final = message("custom", context="policies")
BUILT_IN: Final = message("default", context="policies")


class ConsolePolicy(Struct, frozen=True):
    """A kind of policy: its title, the fields of its form, and the option
    with an example value that the command line `idp policy set`, displayed on its page,
    contains."""

    kind: PolicyKind
    title: Message
    fields: tuple[FormField, ...]
    option: str

    @property
    def page(self) -> str:
        return self.kind.replace("_", "-")


def _field(
    name: str, label: Message, kind: FieldKind = "text", hint: Message | None = None
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
    labels = {**SECOND_FACTORS, **MULTI_FACTORS}
    offered = [(value, options[labels[value]]) for value in _FACTORS_BY_FIELD[name]]
    return FormField(
        path=name,
        source=f"policy.{name}",
        label=label,
        kind="choices",
        options=offered,
        is_sent_empty=True,
    )


def _choice(name: str, label: Message, options: Mapping[str, Message]) -> FormField:
    return FormField(
        path=name,
        source=f"policy.{name}",
        label=label,
        kind="choice",
        options=list(options.items()),
    )


_SECOND_FACTORS: Final = message("Second factors", context="policies")
_MULTI_FACTORS: Final = message("Methods that satisfy two-factor on their own", context="policies")
_FACTORS: Final = {
    "otp": message("Authenticator apps", context="policies"),
    "u2f": message("Passkeys", context="policies"),
}
_FACTORS_BY_FIELD: Final = {"secondFactors": SECOND_FACTORS, "multiFactors": MULTI_FACTORS}
_PASSWORDLESS: Final = (
    (PASSWORDLESS, message("allowed", context="policies")),
    (NO_PASSWORDLESS, message("not allowed", context="policies")),
)

_COLOUR_HINT: Final = message(
    "For example, #2b4fc7. Leave it empty for the default.", context="policies"
)
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

_DARK_COLOURS: Final = message("Colors for dark pages", context="policies")
_LAYOUTS: Final = {
    "card": message("Card", context="policies"),
    "split": message("Picture beside the form", context="policies"),
    "plain": message("Without a card", context="policies"),
}
_FONTS: Final = {
    "system": message("Font of the device", context="policies"),
    "serif": message("Serif", context="policies"),
    "rounded": message("Rounded", context="policies"),
    "mono": message("Monospace", context="policies"),
}

POLICIES: Final = (
    ConsolePolicy(
        "login",
        message("Sign-in", context="policies"),
        (
            _field(
                "allowRegister",
                message("Anyone can create an account", context="policies"),
                "switch",
            ),
            _field(
                "hidePasswordReset",
                message("Hide “Forgot password?”", context="policies"),
                "switch",
            ),
            _field(
                "lockProfile",
                message("Users can't edit their profile", context="policies"),
                "switch",
            ),
            _field(
                "passwordCheckLifetime",
                message("Ask for the password again after", context="policies"),
                "duration",
            ),
            _field(
                "forceMfa",
                message("Require a second factor", context="policies"),
                "switch",
            ),
            _list("secondFactors", _SECOND_FACTORS, _FACTORS),
            _list("multiFactors", _MULTI_FACTORS, _FACTORS),
            _field(
                "secondFactorCheckLifetime",
                message("Ask for the second factor again after", context="policies"),
                "duration",
            ),
            _field(
                "multiFactorCheckLifetime",
                message("Ask for the passkey again after", context="policies"),
                "duration",
            ),
            _field(
                "allowExternalIdp",
                message("Offer other identity providers", context="policies"),
                "switch",
            ),
            _field(
                "providersFirst",
                message("Show other identity providers first", context="policies"),
                "switch",
            ),
            _field(
                "externalLoginCheckLifetime",
                message("Sign in with the other provider again after", context="policies"),
                "duration",
            ),
            _field(
                "mfaInitSkipLifetime",
                message("Offer a second factor again after", context="policies"),
                "duration",
                message("0: never.", context="policies"),
            ),
            FormField(
                path="passwordlessType",
                source="policy.passwordlessType",
                label=message("Sign-in with a passkey instead of a password", context="policies"),
                kind="choice",
                options=_PASSWORDLESS,
            ),
            _field(
                "defaultRedirectUri",
                message("Default redirect after sign-in", context="policies"),
                "url",
            ),
        ),
        "--password-check-lifetime 240h",
    ),
    ConsolePolicy(
        "password_complexity",
        message("Passwords", context="policies"),
        (
            _field("minLength", message("Minimum length", context="policies"), "number"),
            _field(
                "minLengthWithFactor",
                message("Minimum length with a second factor", context="policies"),
                "number",
            ),
            _field(
                "minStrength",
                message("Minimum strength, from 0 to 4", context="policies"),
                "number",
                message("0: any password; 3: more than 10^8 guesses needed.", context="policies"),
            ),
            _field("hasLowercase", message("A lowercase letter", context="policies"), "switch"),
            _field("hasUppercase", message("An uppercase letter", context="policies"), "switch"),
            _field("hasNumber", message("A digit", context="policies"), "switch"),
            _field("hasSymbol", message("A symbol", context="policies"), "switch"),
        ),
        "--min-length 12",
    ),
    ConsolePolicy(
        "password_age",
        message("Password age", context="policies"),
        (
            _field(
                "maxAgeDays",
                message("Days until a password expires", context="policies"),
                "number",
                message("0: never (recommended).", context="policies"),
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
                message("Failed attempts before the account is locked", context="policies"),
                "number",
                message("0: never. Attempts are still slowed down.", context="policies"),
            ),
            _field(
                "maxOtpAttempts",
                message(
                    "Wrong second-factor codes before the account is locked", context="policies"
                ),
                "number",
            ),
            _field(
                "lockoutSeconds",
                message("Seconds until the lock ends", context="policies"),
                "number",
                message("0: when an administrator unlocks the account.", context="policies"),
            ),
        ),
        "--max-password-attempts 10",
    ),
    ConsolePolicy(
        "label",
        message("Branding", context="policies"),
        (
            *(
                structs.replace(
                    _field(name, label, hint=_COLOUR_HINT, kind="colour"),
                    group=_DARK_COLOURS if name.endswith("Dark") else None,
                )
                for name, label in _COLOURS.items()
            ),
            _field(
                "hideLoginNameSuffix",
                message("Hide the domain that is added to usernames", context="policies"),
                "switch",
            ),
            _field(
                "disableWatermark",
                message(
                    "Show the organization's name instead of this service's", context="policies"
                ),
                "switch",
            ),
            _field(
                "radius",
                message("Corner radius", context="policies"),
                "number",
                message("0 to 24 pixels", context="policies"),
            ),
            _choice("layout", message("Layout of sign-in pages", context="policies"), _LAYOUTS),
            _choice("font", message("Font", context="policies"), _FONTS),
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
            _field("supportEmail", message("Support email", context="policies"), "email"),
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
                label=message("Default language", context="policies"),
                kind="choice",
                options=[
                    ("", message("default", context="policies")),
                    *_LANGUAGES,
                ],
            ),
            FormField(
                path="allowedLanguages",
                source="policy.allowedLanguages",
                label=message("Allowed languages (none: all)", context="policies"),
                kind="choices",
                options=_LANGUAGES,
                is_sent_empty=True,
            ),
        ),
        "--default-language de",
    ),
)
