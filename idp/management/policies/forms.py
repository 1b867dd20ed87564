"""The request bodies of policies; their names are those of the API that clients know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Annotated, Final, TypeVar, get_args
from urllib.parse import urlsplit

from msgspec import Struct, field

from idp.foundation import i18n
from idp.foundation.colours import contrast
from idp.foundation.errors import FieldProblem
from idp.mail import wording_rules
from idp.records import (
    AgeRules,
    ComplexityRules,
    LabelRules,
    LanguageRules,
    LockoutRules,
    LoginRules,
    PrivacyRules,
)
from idp.records.policies import (
    MAX_RADIUS,
    FontFamily,
    Layout,
    MultiFactor,
    PolicyRules,
    SecondFactor,
)
from idp.schema.field_rules import (
    MAX_LANGUAGE,
    Duration,
    EmailRule,
    FieldRefused,
    Integer,
    Items,
    NotYet,
    OneOf,
    Schema,
    Text,
    wrong_type,
)
from idp.schema.reading import Request

_LANGUAGE: Final = re.compile(r"\{\{\s*\.Lang\s*\}\}")
_UNUSABLE: Final = re.compile(r"[\s\x00-\x1f\x7f\\{}<>\"]")
_MAX_LINK: Final = 500
MAX_LANGUAGES: Final = 100
_SHORTEST_CHECK: Final = timedelta(minutes=1)
_LONGEST_CHECK: Final = timedelta(days=3650)


class Always(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a boolean field that must be true: false is refused with
    `error_code`."""

    error_code: str

    def read(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise wrong_type("true or false")
        if not value:
            raise FieldRefused(self.error_code, "can't be false")
        return value

    def schema(self) -> Schema:
        return {"const": True}


class LinkRule(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds an https address or an empty text.

    With `is_localised`, the address may contain `{{.Lang}}` after its host, for the language of
    the page.
    """

    is_localised: bool = True

    def read(self, value: object) -> str:
        link = Text(max=_MAX_LINK).read(value)
        sample = _LANGUAGE.sub("en", link) if self.is_localised else link
        try:
            parts, unreplaced = urlsplit(sample), urlsplit(link)
            is_https = parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc
            _ = parts.port  # raises ValueError if it is not a number in range
        except ValueError:
            is_https = False
        if link and (not is_https or "{" in unreplaced.netloc or _UNUSABLE.search(sample)):
            text = "is not a URL that begins with https://, without placeholders in its host"
            raise FieldRefused("link.invalid", text)
        return link

    def schema(self) -> Schema:
        return Text(max=_MAX_LINK).schema() | {"examples": ["https://acme.example/privacy"]}


class OptionalEmail(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds an e-mail address or an empty text."""

    def read(self, value: object) -> str:
        return EmailRule().read(value) if value != "" else ""

    def schema(self) -> Schema:
        return {"anyOf": [EmailRule().schema(), {"const": ""}]}


class Colour(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds a colour as `#rrggbb`, or an empty
    text."""

    def read(self, value: object) -> str:
        text = Text(max=7).read(value).lower()
        if text and not contrast.is_colour(text):
            raise FieldRefused("colour.invalid", "is not a colour such as #2b4fc7")
        return text

    def schema(self) -> Schema:
        return {"type": "string", "pattern": "^(#[0-9A-Fa-f]{6})?$", "examples": ["#2b4fc7"]}


class PageLanguage(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds the tag of a language in which the pages
    exist; with `is_optional`, also an empty text."""

    is_optional: bool = False

    def read(self, value: object) -> str:
        tag = Text(max=MAX_LANGUAGE).read(value)
        if tag not in i18n.available() and (tag or not self.is_optional):
            languages = ", ".join(i18n.available())
            raise FieldRefused("language.not_shipped", f"must be one of {languages}")
        return tag

    def schema(self) -> Schema:
        return Text(max=MAX_LANGUAGE).schema() | {"examples": ["de"]}


class CheckLifetime(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that sets how long an authentication remains valid,
    as a duration that is read as seconds; with `is_optional`, also 0."""

    is_optional: bool = False

    def read(self, value: object) -> int:
        duration = Duration().read(value)
        if self.is_optional and not duration:
            return 0
        if not _SHORTEST_CHECK <= duration <= _LONGEST_CHECK:
            raise FieldRefused("field.out_of_range", "must be from 1m to 87600h")
        return int(duration.total_seconds())

    def schema(self) -> Schema:
        description = "A duration from 1m to 87600h"
        return Duration().schema() | {
            "description": f"{description}, or 0s." if self.is_optional else f"{description}.",
            "examples": ["240h"],
        }


# The names of the API, each with the name that is stored.
SECOND_FACTORS: Final[Mapping[str, SecondFactor]] = {
    "SECOND_FACTOR_TYPE_OTP": "otp",
    "SECOND_FACTOR_TYPE_U2F": "u2f",
}
MULTI_FACTORS: Final[Mapping[str, MultiFactor]] = {
    "MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION": "u2f",
}
PASSWORDLESS: Final = "PASSWORDLESS_TYPE_ALLOWED"  # noqa: S105 - a name
NO_PASSWORDLESS: Final = "PASSWORDLESS_TYPE_NOT_ALLOWED"  # noqa: S105 - a name

S = TypeVar("S", bound=Struct)
SecondFactorName = Annotated[str, OneOf(tuple(SECOND_FACTORS))]
MultiFactorName = Annotated[str, OneOf(tuple(MULTI_FACTORS))]
OptionalLink = Annotated[str, LinkRule()]
OptionalColour = Annotated[str, Colour()]


class PolicyForm(Request, frozen=True, kw_only=True):
    """The base of the request bodies that set a policy.

    A body replaces the whole policy: a field that it omits gets its built-in value.
    """

    def stored(self) -> PolicyRules:
        raise NotImplementedError


class LoginPolicy(PolicyForm, frozen=True, kw_only=True):
    """The rules of sign-ins. `allowUsernamePassword` must be true: password sign-ins can't be
    switched off.
    """

    allow_register: bool = True
    hide_password_reset: bool = False
    lock_profile: bool = False
    allow_username_password: Annotated[bool, Always("login_policy.only_way")] = True
    allow_external_idp: bool = True
    providers_first: bool = False
    force_mfa: bool = False
    force_mfa_local_only: bool = False
    second_factors: Annotated[list[SecondFactorName], Items(len(SECOND_FACTORS))] = field(
        default_factory=lambda: list(SECOND_FACTORS)
    )
    multi_factors: Annotated[list[MultiFactorName], Items(len(MULTI_FACTORS))] = field(
        default_factory=lambda: list(MULTI_FACTORS)
    )
    ignore_unknown_usernames: Annotated[bool, Always("login_policy.unknown_names")] = True
    passwordless_type: Annotated[
        str,
        OneOf((PASSWORDLESS, NO_PASSWORDLESS)),
    ] = PASSWORDLESS
    password_check_lifetime: Annotated[int, CheckLifetime()] = 10 * 24 * 3600
    second_factor_check_lifetime: Annotated[int, CheckLifetime()] = 18 * 3600
    multi_factor_check_lifetime: Annotated[int, CheckLifetime()] = 12 * 3600
    external_login_check_lifetime: Annotated[int, CheckLifetime()] = 10 * 24 * 3600
    mfa_init_skip_lifetime: Annotated[int, CheckLifetime(is_optional=True)] = 0
    default_redirect_uri: Annotated[str, LinkRule(is_localised=False)] = ""

    def stored(self) -> LoginRules:
        return LoginRules(
            allow_register=self.allow_register,
            hide_password_reset=self.hide_password_reset,
            lock_profile=self.lock_profile,
            force_mfa=self.force_mfa,
            force_mfa_local_only=self.force_mfa_local_only,
            second_factors=tuple(SECOND_FACTORS[name] for name in _unique(self.second_factors)),
            multi_factors=tuple(MULTI_FACTORS[name] for name in _unique(self.multi_factors)),
            allow_passwordless=self.passwordless_type == PASSWORDLESS,
            offer_factor_seconds=self.mfa_init_skip_lifetime,
            password_check_seconds=self.password_check_lifetime,
            second_factor_check_seconds=self.second_factor_check_lifetime,
            multi_factor_check_seconds=self.multi_factor_check_lifetime,
            external_login_check_seconds=self.external_login_check_lifetime,
            allow_external_idp=self.allow_external_idp,
            providers_first=self.providers_first,
            default_redirect_uri=self.default_redirect_uri,
        )

    def check(self) -> Iterable[FieldProblem]:
        # A list with None in it has an entry that was refused, which is reported already.
        lists = (self.second_factors, self.multi_factors)
        if not (self.force_mfa or self.force_mfa_local_only) or any(lists) or None in lists:
            return
        yield FieldProblem(
            "login_policy.no_factor",
            "secondFactors",
            "must not be empty while a second factor is required",
        )


def _unique(names: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(names)


class ComplexityPolicy(PolicyForm, frozen=True, kw_only=True):
    min_length: Annotated[int, Integer(8, 200)] = 8
    has_lowercase: bool = False
    has_uppercase: bool = False
    has_number: bool = False
    has_symbol: bool = False
    min_length_with_factor: Annotated[int | None, Integer(8, 200)] = None
    min_strength: Annotated[int | None, Integer(0, 4)] = None

    def stored(self) -> ComplexityRules:
        return _rules_from(ComplexityRules, self)


class AgePolicy(PolicyForm, frozen=True, kw_only=True):
    max_age_days: Annotated[int, Integer(0, 3650)] = 0
    expire_warn_days: Annotated[int, NotYet("password_age_policy.warning", int)] = 0

    def stored(self) -> AgeRules:
        return _rules_from(AgeRules, self)


class LockoutPolicy(PolicyForm, frozen=True, kw_only=True):
    max_password_attempts: Annotated[int, Integer(0, 100)] = 0
    max_otp_attempts: Annotated[int, Integer(0, 100)] = 0
    lockout_seconds: Annotated[int, Integer(0, 86_400)] = 0

    def stored(self) -> LockoutRules:
        return _rules_from(LockoutRules, self)


class LabelPolicy(PolicyForm, frozen=True, kw_only=True):
    """Colours as `#rrggbb`; what is empty is the service's own. A colour that is hard to read is
    displayed lighter or darker, see `effective` in the answer. `radius` is that of cards in
    pixels; `layout` "split" shows the background picture beside the form.
    """

    primary_color: OptionalColour = ""
    background_color: OptionalColour = ""
    warn_color: OptionalColour = ""
    font_color: OptionalColour = ""
    primary_color_dark: OptionalColour = ""
    background_color_dark: OptionalColour = ""
    warn_color_dark: OptionalColour = ""
    font_color_dark: OptionalColour = ""
    hide_login_name_suffix: bool = False
    disable_watermark: bool = False
    radius: Annotated[int, Integer(0, MAX_RADIUS)] = 12
    layout: Annotated[str, OneOf(get_args(Layout))] = "card"
    font: Annotated[str, OneOf(get_args(FontFamily))] = "system"

    def stored(self) -> LabelRules:
        return _rules_from(LabelRules, self)


class PrivacyPolicy(PolicyForm, frozen=True, kw_only=True):
    tos_link: OptionalLink = ""
    privacy_link: OptionalLink = ""
    help_link: OptionalLink = ""
    docs_link: OptionalLink = ""
    support_email: Annotated[str, OptionalEmail()] = ""

    def stored(self) -> PrivacyRules:
        return _rules_from(PrivacyRules, self)


class LanguagePolicy(PolicyForm, frozen=True, kw_only=True):
    """The languages of the pages. If no language is listed as allowed, all are."""

    default_language: Annotated[str, PageLanguage(is_optional=True)] = ""
    allowed_languages: Annotated[list[Annotated[str, PageLanguage()]], Items(MAX_LANGUAGES)] = []

    def stored(self) -> LanguageRules:
        allowed = list(dict.fromkeys(self.allowed_languages))
        return LanguageRules(self.default_language, allowed)

    def check(self) -> Iterable[FieldProblem]:
        allowed = self.allowed_languages
        if allowed and None not in allowed and self.default_language not in ("", None, *allowed):
            message = "must be one of allowedLanguages"
            yield FieldProblem("language.not_allowed", "defaultLanguage", message)


def _rules_from(rules_type: type[S], form: PolicyForm) -> S:
    return rules_type(**{name: getattr(form, name) for name in rules_type.__struct_fields__})


class MessageTextForm(Request, frozen=True, kw_only=True):
    """The texts of one message, such as the invitation, in one language, by which an organization
    or the installation replaces those of the service. A text that is empty or omitted is the
    built-in one."""

    subject: Annotated[str, wording_rules.WordingRule(wording_rules.MAX_LINE)] = ""
    title: Annotated[str, wording_rules.WordingRule(wording_rules.MAX_LINE)] = ""
    greeting: Annotated[str, wording_rules.WordingRule(wording_rules.MAX_LINE)] = ""
    text: Annotated[str, wording_rules.WordingRule(wording_rules.MAX_TEXT)] = ""
    button_text: Annotated[str, wording_rules.WordingRule(wording_rules.MAX_LINE)] = ""
