"""What the management API tells of a policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import structs

from idp import durations
from idp.answers import Answer, Details
from idp.records import LoginRules
from idp.records.policies import PolicyRules


class LoginPolicyView(Answer, frozen=True, kw_only=True):
    details: Details
    allow_register: bool = False
    allow_username_password: bool = False
    ignore_unknown_usernames: bool = False
    passwordless_type: str = ""
    password_check_lifetime: str = ""
    default_redirect_uri: str = ""


class ComplexityPolicyView(Answer, frozen=True, kw_only=True):
    details: Details
    min_length: int = 0
    has_lowercase: bool = False
    has_uppercase: bool = False
    has_number: bool = False
    has_symbol: bool = False


class AgePolicyView(Answer, frozen=True, kw_only=True):
    details: Details
    max_age_days: int = 0


class LockoutPolicyView(Answer, frozen=True, kw_only=True):
    details: Details
    max_password_attempts: int = 0


class LabelPolicyView(Answer, frozen=True, kw_only=True):
    details: Details
    primary_color: str = ""
    background_color: str = ""
    warn_color: str = ""
    font_color: str = ""
    primary_color_dark: str = ""
    background_color_dark: str = ""
    warn_color_dark: str = ""
    font_color_dark: str = ""


class PrivacyPolicyView(Answer, frozen=True, kw_only=True):
    details: Details
    tos_link: str = ""
    privacy_link: str = ""
    help_link: str = ""
    docs_link: str = ""
    support_email: str = ""


class MessageTextView(Answer, frozen=True, kw_only=True):
    details: Details
    type: str
    language: str
    subject: str = ""
    title: str = ""
    greeting: str = ""
    text: str = ""
    button_text: str = ""


class PolicyFound(Answer, frozen=True, kw_only=True):
    """`isDefault`: it is not the organization's own (of the installation: it is the built-in)."""

    details: Details
    is_default: bool = False


class LoginPolicyFound(PolicyFound, frozen=True, kw_only=True):
    policy: LoginPolicyView


class ComplexityPolicyFound(PolicyFound, frozen=True, kw_only=True):
    policy: ComplexityPolicyView


class AgePolicyFound(PolicyFound, frozen=True, kw_only=True):
    policy: AgePolicyView


class LockoutPolicyFound(PolicyFound, frozen=True, kw_only=True):
    policy: LockoutPolicyView


class LabelPolicyFound(PolicyFound, frozen=True, kw_only=True):
    policy: LabelPolicyView


class PrivacyPolicyFound(PolicyFound, frozen=True, kw_only=True):
    policy: PrivacyPolicyView


class MessageTextFound(Answer, frozen=True, kw_only=True):
    """`isDefault`: it is not the organization's own (of the installation: it is the built-in)."""

    details: Details
    custom_text: MessageTextView
    is_default: bool = False


F = TypeVar("F", bound=Answer)


def login(rules: LoginRules) -> dict[str, object]:
    """The members of a login policy."""
    return {
        "allow_register": rules.allow_register,
        "allow_username_password": True,
        "ignore_unknown_usernames": True,
        "passwordless_type": "PASSWORDLESS_TYPE_NOT_ALLOWED",
        "password_check_lifetime": durations.text(rules.password_check_seconds),
        "default_redirect_uri": rules.default_redirect_uri,
    }


def as_stored(rules: PolicyRules) -> dict[str, Any]:
    """The members of a policy that is told as it is stored."""
    return structs.asdict(rules)


Told = Callable[[Any], dict[str, Any]]
