"""Policies of the installation and of organizations."""

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
    "language",
    "message_text",
    "login_text",
]


SecondFactor = Literal["otp", "u2f"]
MultiFactor = Literal["u2f"]


class LoginRules(Struct, frozen=True, tag_field="kind", tag="login"):
    """The rules of sign-ins. `*_check_seconds` is how long a password, a second factor, a passkey
    alone and a sign-in at another provider are valid; that is offered with `allow_external_idp`,
    above the login name with `providers_first`.

    With `force_mfa` users without a second factor have to set one up. Without it they are offered
    to, and are offered it again `offer_factor_seconds` after they declined, or never with 0. With
    `lock_profile` users can't change their own profile.
    """

    allow_register: bool = True
    hide_password_reset: bool = False
    lock_profile: bool = False
    force_mfa: bool = False
    force_mfa_local_only: bool = False
    second_factors: tuple[SecondFactor, ...] = ("otp", "u2f")
    multi_factors: tuple[MultiFactor, ...] = ("u2f",)
    allow_passwordless: bool = True
    offer_factor_seconds: int = 0
    password_check_seconds: int = 10 * 24 * 3600
    second_factor_check_seconds: int = 18 * 3600
    multi_factor_check_seconds: int = 12 * 3600
    external_login_check_seconds: int = 10 * 24 * 3600
    allow_external_idp: bool = True
    providers_first: bool = False
    default_redirect_uri: str = ""


class ComplexityRules(Struct, frozen=True, tag_field="kind", tag="password_complexity"):
    """The requirements for a new password. `min_strength` is a score of zxcvbn, 0 to 4;
    `min_length_with_factor` replaces `min_length` if a second factor is asked for. A requirement
    that is None is not set by this policy.
    """

    min_length: int = 8
    has_lowercase: bool = False
    has_uppercase: bool = False
    has_number: bool = False
    has_symbol: bool = False
    min_length_with_factor: int | None = None
    min_strength: int | None = None


class AgeRules(Struct, frozen=True, tag_field="kind", tag="password_age"):
    """The days after which a password has to be replaced; 0 is never."""

    max_age_days: int = 0


class LockoutRules(Struct, frozen=True, tag_field="kind", tag="lockout"):
    """The number of wrong passwords, or codes of a second factor, in a row after which a user is
    locked; 0 is never.

    The lock ends after `lockout_seconds`, or with 0 when an administrator ends it.
    """

    max_password_attempts: int = 0
    max_otp_attempts: int = 0
    lockout_seconds: int = 0


Layout = Literal["card", "split", "plain"]
FontFamily = Literal["system", "serif", "rounded", "mono"]


MAX_RADIUS: Final = 24  # pixels


class LabelRules(Struct, frozen=True, tag_field="kind", tag="label"):
    """The colours of the pages as `#rrggbb`; an empty one is the service's own.

    `radius` is that of cards in pixels. `layout` of the sign-in pages: "split" has a picture
    beside the form where there is room, "plain" has no card.
    `hide_login_name_suffix`: pages don't show the domain that is added to login names;
    `disable_watermark`: pages don't name the service.
    """

    primary_color: str = ""
    background_color: str = ""
    warn_color: str = ""
    font_color: str = ""
    primary_color_dark: str = ""
    background_color_dark: str = ""
    warn_color_dark: str = ""
    font_color_dark: str = ""
    hide_login_name_suffix: bool = False
    disable_watermark: bool = False
    radius: int = 12
    layout: Layout = "card"
    font: FontFamily = "system"


class PrivacyRules(Struct, frozen=True, tag_field="kind", tag="privacy"):
    """The links on the pages. In an address `{{.Lang}}` is replaced by the page's language."""

    tos_link: str = ""
    privacy_link: str = ""
    help_link: str = ""
    docs_link: str = ""
    support_email: str = ""


class LanguageRules(Struct, frozen=True, tag_field="kind", tag="language"):
    """The languages of the pages: the default one, and the allowed ones (all if the list is
    empty)."""

    default_language: str = ""
    allowed_languages: list[str] = []


class MessageTextRules(Struct, frozen=True, tag_field="kind", tag="message_text"):
    """The texts of a message in one language; an empty one means the built-in text."""

    type: str
    language: str
    subject: str = ""
    title: str = ""
    greeting: str = ""
    text: str = ""
    button_text: str = ""


class LoginText(Struct, frozen=True):
    """The replacement of a text on the pages: `screen` and `key` are its context and msgid."""

    screen: str
    key: str
    text: str


class LoginTextRules(Struct, frozen=True, tag_field="kind", tag="login_text"):
    """The texts of the pages in one language that differ from the built-in ones."""

    language: str
    texts: list[LoginText] = []


PolicyRules: TypeAlias = (
    LoginRules
    | ComplexityRules
    | AgeRules
    | LockoutRules
    | LabelRules
    | PrivacyRules
    | LanguageRules
    | MessageTextRules
    | LoginTextRules
)


class Policy(Record):
    """One policy of an organization, or (`org_id` None) of the installation.

    The id is the digest of the owner and the kind of policy: so each owner has one of each kind.
    """

    kind: PolicyKind
    rules: PolicyRules
    created_at: datetime
    changed_at: datetime
    org_id: str | None = None
    sequence: int = 1


POLICIES: Final = Collection("policies", Policy, lists=(("org_id",),))
