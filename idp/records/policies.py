"""How an organization wants things: policies, of the installation and of each organization."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from storage import Collection, Record

PolicyKind = Literal[
    "login",
    "password_complexity",
    "password_age",
    "lockout",
    "label",
    "privacy",
    "message_text",
]


class LoginRules(Struct, frozen=True, tag_field="kind", tag="login"):
    """How people get in. `password_check_seconds` is how long a password counts."""

    allow_register: bool = True
    password_check_seconds: int = 10 * 24 * 3600
    default_redirect_uri: str = ""


class ComplexityRules(Struct, frozen=True, tag_field="kind", tag="password_complexity"):
    """What a new password has to hold."""

    min_length: int = 8
    has_lowercase: bool = False
    has_uppercase: bool = False
    has_number: bool = False
    has_symbol: bool = False


class AgeRules(Struct, frozen=True, tag_field="kind", tag="password_age"):
    """After how many days a password has to be replaced; 0 is never."""

    max_age_days: int = 0


class LockoutRules(Struct, frozen=True, tag_field="kind", tag="lockout"):
    """After how many wrong passwords in a row an account is locked; 0 is never."""

    max_password_attempts: int = 0


class LabelRules(Struct, frozen=True, tag_field="kind", tag="label"):
    """The colours of the pages as `#rrggbb`; an empty one is the service's own."""

    primary_color: str = ""
    background_color: str = ""
    warn_color: str = ""
    font_color: str = ""
    primary_color_dark: str = ""
    background_color_dark: str = ""
    warn_color_dark: str = ""
    font_color_dark: str = ""


class PrivacyRules(Struct, frozen=True, tag_field="kind", tag="privacy"):
    """Where the pages lead to. In an address `{{.Lang}}` stands for the page's language."""

    tos_link: str = ""
    privacy_link: str = ""
    help_link: str = ""
    docs_link: str = ""
    support_email: str = ""


class MessageTextRules(Struct, frozen=True, tag_field="kind", tag="message_text"):
    """The words of a letter in one language; where one is empty, the service's own stand."""

    type: str
    language: str
    subject: str = ""
    title: str = ""
    greeting: str = ""
    text: str = ""
    button_text: str = ""


PolicyRules: TypeAlias = (
    LoginRules
    | ComplexityRules
    | AgeRules
    | LockoutRules
    | LabelRules
    | PrivacyRules
    | MessageTextRules
)


class Policy(Record):
    """One policy of an organization, or (`org_id` None) the installation's.

    The id is the digest of whose it is and what for: so there is one of each.
    """

    kind: PolicyKind
    rules: PolicyRules
    created_at: datetime
    changed_at: datetime
    org_id: str | None = None
    sequence: int = 1


POLICIES: Final = Collection("policies", Policy, lists=(("org_id",),))
