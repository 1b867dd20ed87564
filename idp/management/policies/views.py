"""The answers that show policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import structs

from idp.foundation import durations
from idp.management.policies.forms import (
    MULTI_FACTORS,
    NO_PASSWORDLESS,
    PASSWORDLESS,
    SECOND_FACTORS,
)
from idp.records import LoginRules
from idp.records.policies import PolicyRules
from idp.schema.answers import Answer, Details


class LoginPolicyView(Answer, frozen=True, kw_only=True):
    details: Details
    allow_register: bool = False
    hide_password_reset: bool = False
    lock_profile: bool = False
    allow_username_password: bool = False
    force_mfa: bool = False
    force_mfa_local_only: bool = False
    second_factors: list[str] = []
    multi_factors: list[str] = []
    ignore_unknown_usernames: bool = False
    passwordless_type: str = ""
    password_check_lifetime: str = ""
    second_factor_check_lifetime: str = ""
    multi_factor_check_lifetime: str = ""
    mfa_init_skip_lifetime: str = ""
    default_redirect_uri: str = ""


class ComplexityPolicyView(Answer, frozen=True, kw_only=True):
    details: Details
    min_length: int = 0
    has_lowercase: bool = False
    has_uppercase: bool = False
    has_number: bool = False
    has_symbol: bool = False
    min_length_with_factor: int = 0
    min_strength: int = 0


class AgePolicyView(Answer, frozen=True, kw_only=True):
    details: Details
    max_age_days: int = 0


class LockoutPolicyView(Answer, frozen=True, kw_only=True):
    details: Details
    max_password_attempts: int = 0
    max_otp_attempts: int = 0
    lockout_seconds: int = 0


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
    hide_login_name_suffix: bool = False
    disable_watermark: bool = False


class PrivacyPolicyView(Answer, frozen=True, kw_only=True):
    details: Details
    tos_link: str = ""
    privacy_link: str = ""
    help_link: str = ""
    docs_link: str = ""
    support_email: str = ""


class LanguagePolicyView(Answer, frozen=True, kw_only=True):
    details: Details
    default_language: str = ""
    allowed_languages: list[str] = []


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
    """The base of the answers that show a policy.

    `isDefault` means that it is not the organization's own; for the installation, that it is the
    built-in one.
    """

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


class LanguagePolicyFound(PolicyFound, frozen=True, kw_only=True):
    policy: LanguagePolicyView


class MessageTextFound(Answer, frozen=True, kw_only=True):
    """`isDefault`: it is not the organization's own (of the installation: it is the built-in)."""

    details: Details
    custom_text: MessageTextView
    is_default: bool = False


F = TypeVar("F", bound=Answer)


def login(rules: LoginRules) -> dict[str, object]:
    """Returns the members of a login policy."""
    return {
        "allow_register": rules.allow_register,
        "hide_password_reset": rules.hide_password_reset,
        "lock_profile": rules.lock_profile,
        "allow_username_password": True,
        "ignore_unknown_usernames": True,
        "force_mfa": rules.force_mfa,
        "force_mfa_local_only": rules.force_mfa_local_only,
        "second_factors": [
            n for n, kind in SECOND_FACTORS.items() if kind in rules.second_factors
        ],
        "multi_factors": [n for n, kind in MULTI_FACTORS.items() if kind in rules.multi_factors],
        "passwordless_type": PASSWORDLESS if rules.allow_passwordless else NO_PASSWORDLESS,
        "password_check_lifetime": durations.text(rules.password_check_seconds),
        "second_factor_check_lifetime": durations.text(rules.second_factor_check_seconds),
        "multi_factor_check_lifetime": durations.text(rules.multi_factor_check_seconds),
        "mfa_init_skip_lifetime": durations.text(rules.offer_factor_seconds),
        "default_redirect_uri": rules.default_redirect_uri,
    }


def as_stored(rules: PolicyRules) -> dict[str, Any]:
    """Returns the members of a policy that is answered as it is stored."""
    return structs.asdict(rules)


Told = Callable[[Any], dict[str, Any]]
