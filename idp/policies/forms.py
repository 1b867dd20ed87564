"""What the management API takes for a policy; the names are the reference system's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Annotated, Final, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from idp import colours
from idp.errors import FieldProblem
from idp.fields import Duration, Email, Integer, NotYet, OneOf, Refused, Schema, Text, wrong_type
from idp.policies import brand, texts
from idp.policies.brand import Scheme
from idp.records import (
    AgeRules,
    ComplexityRules,
    LabelRules,
    LockoutRules,
    LoginRules,
    PrivacyRules,
)
from idp.records.policies import PolicyRules
from idp.requests import Request

_LANGUAGE: Final = re.compile(r"\{\{\s*\.Lang\s*\}\}")
_UNUSABLE: Final = re.compile(r"[\s\x00-\x1f\x7f\\{}<>\"]")
_MAX_LINK: Final = 500
_SHORTEST_CHECK: Final = timedelta(minutes=1)
_LONGEST_CHECK: Final = timedelta(days=3650)


class Always(Struct, frozen=True):
    """A switch that can't be turned off; `slug` says so."""

    slug: str

    def read(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise wrong_type("true or false")
        if not value:
            raise Refused(self.slug, "can't be false")
        return value

    def schema(self) -> Schema:
        return {"const": True}


class Link(Struct, frozen=True):
    """An address at https, or nothing; where `is_localised`, `{{.Lang}}` may stand behind its
    host."""

    is_localised: bool = True

    def read(self, value: object) -> str:
        link = Text(max=_MAX_LINK).read(value)
        bare = _LANGUAGE.sub("en", link) if self.is_localised else link
        try:
            parts, written = urlsplit(bare), urlsplit(link)
            is_plain = parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc
            _ = parts.port
        except ValueError:
            is_plain = False
        if link and (not is_plain or "{" in written.netloc or _UNUSABLE.search(bare)):
            raise Refused("link.invalid", "is not an address that begins with https://")
        return link

    def schema(self) -> Schema:
        return Text(max=_MAX_LINK).schema() | {"examples": ["https://acme.example/privacy"]}


class OptionalEmail(Struct, frozen=True):
    """An address, or nothing."""

    def read(self, value: object) -> str:
        return Email().read(value) if value != "" else ""

    def schema(self) -> Schema:
        return {"anyOf": [Email().schema(), {"const": ""}]}


class Colour(Struct, frozen=True):
    """`#rrggbb`, or nothing."""

    def read(self, value: object) -> str:
        text = Text(max=7).read(value).lower()
        if text and not colours.is_colour(text):
            raise Refused("colour.invalid", "is not a colour such as #2b4fc7")
        return text

    def schema(self) -> Schema:
        return {"type": "string", "pattern": "^(#[0-9A-Fa-f]{6})?$", "examples": ["#2b4fc7"]}


class CheckLifetime(Struct, frozen=True):
    """A duration within what a session may last, in seconds."""

    def read(self, value: object) -> int:
        found = Duration().read(value)
        if not _SHORTEST_CHECK <= found <= _LONGEST_CHECK:
            raise Refused("field.out_of_range", "must be from 1m to 87600h")
        return int(found.total_seconds())

    def schema(self) -> Schema:
        return Duration().schema() | {
            "description": "A duration from 1m to 87600h.",
            "examples": ["240h"],
        }


S = TypeVar("S", bound=Struct)
OptionalLink = Annotated[str, Link()]
OptionalColour = Annotated[str, Colour()]


class PolicyForm(Request, frozen=True, kw_only=True):
    """The base of what is sent for a policy: all of it, and what is not said is as built in."""

    def stored(self) -> PolicyRules:
        raise NotImplementedError


class LoginPolicy(PolicyForm, frozen=True, kw_only=True):
    """A password is the only way in so far, so it can't be switched off."""

    allow_register: bool = True
    allow_username_password: Annotated[bool, Always("login_policy.only_way")] = True
    allow_external_idp: Annotated[bool, NotYet("login_policy.external_idp")] = False
    force_mfa: Annotated[bool, NotYet("login_policy.mfa")] = False
    force_mfa_local_only: Annotated[bool, NotYet("login_policy.mfa")] = False
    ignore_unknown_usernames: Annotated[bool, Always("login_policy.unknown_names")] = True
    passwordless_type: Annotated[
        str,
        OneOf(
            ("PASSWORDLESS_TYPE_NOT_ALLOWED",),
            ("PASSWORDLESS_TYPE_ALLOWED",),
            "login_policy.passwordless",
        ),
    ] = "PASSWORDLESS_TYPE_NOT_ALLOWED"
    password_check_lifetime: Annotated[int, CheckLifetime()] = 10 * 24 * 3600
    default_redirect_uri: Annotated[str, Link(is_localised=False)] = ""

    def stored(self) -> LoginRules:
        return LoginRules(
            allow_register=self.allow_register,
            password_check_seconds=self.password_check_lifetime,
            default_redirect_uri=self.default_redirect_uri,
        )


class ComplexityPolicy(PolicyForm, frozen=True, kw_only=True):
    min_length: Annotated[int, Integer(8, 200)] = 8
    has_lowercase: bool = False
    has_uppercase: bool = False
    has_number: bool = False
    has_symbol: bool = False

    def stored(self) -> ComplexityRules:
        return _as(ComplexityRules, self)


class AgePolicy(PolicyForm, frozen=True, kw_only=True):
    max_age_days: Annotated[int, Integer(0, 3650)] = 0
    expire_warn_days: Annotated[int, NotYet("password_age_policy.warning", int)] = 0

    def stored(self) -> AgeRules:
        return _as(AgeRules, self)


class LockoutPolicy(PolicyForm, frozen=True, kw_only=True):
    max_password_attempts: Annotated[int, Integer(0, 100)] = 0

    def stored(self) -> LockoutRules:
        return _as(LockoutRules, self)


class LabelPolicy(PolicyForm, frozen=True, kw_only=True):
    """Colours as `#rrggbb`; what is empty is the service's own. All must be readable together."""

    primary_color: OptionalColour = ""
    background_color: OptionalColour = ""
    warn_color: OptionalColour = ""
    font_color: OptionalColour = ""
    primary_color_dark: OptionalColour = ""
    background_color_dark: OptionalColour = ""
    warn_color_dark: OptionalColour = ""
    font_color_dark: OptionalColour = ""

    def stored(self) -> LabelRules:
        return _as(LabelRules, self)

    def check(self) -> Iterable[FieldProblem]:
        if None in (getattr(self, name) for name in self.__struct_fields__):
            return
        yield from _contrast_problems(self.stored(), "light", "")
        yield from _contrast_problems(self.stored(), "dark", "Dark")


def _contrast_problems(rules: LabelRules, scheme: Scheme, suffix: str) -> Iterator[FieldProblem]:
    told = f"can't be read on backgroundColor{suffix}: their contrast is below 4.5 to 1"
    for name in brand.unreadable(rules, scheme):
        yield FieldProblem("colour.contrast", f"{name}Color{suffix}", told)


class PrivacyPolicy(PolicyForm, frozen=True, kw_only=True):
    tos_link: OptionalLink = ""
    privacy_link: OptionalLink = ""
    help_link: OptionalLink = ""
    docs_link: OptionalLink = ""
    support_email: Annotated[str, OptionalEmail()] = ""

    def stored(self) -> PrivacyRules:
        return _as(PrivacyRules, self)


def _as(kind: type[S], form: PolicyForm) -> S:
    return kind(**{name: getattr(form, name) for name in kind.__struct_fields__})


class MessageTextForm(Request, frozen=True, kw_only=True):
    """What is empty or not said stays as the service writes it."""

    subject: Annotated[str, texts.Words(texts.MAX_LINE)] = ""
    title: Annotated[str, texts.Words(texts.MAX_LINE)] = ""
    greeting: Annotated[str, texts.Words(texts.MAX_LINE)] = ""
    text: Annotated[str, texts.Words(texts.MAX_TEXT)] = ""
    button_text: Annotated[str, texts.Words(texts.MAX_LINE)] = ""
