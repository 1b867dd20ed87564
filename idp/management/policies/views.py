"""The structs of the answers that contain policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin

from msgspec import defstruct, structs

from idp.foundation import durations
from idp.management.policies import forms
from idp.management.policies.forms import (
    MULTI_FACTORS,
    NO_PASSWORDLESS,
    PASSWORDLESS,
    SECOND_FACTORS,
    CheckLifetime,
    PolicyForm,
)
from idp.records import LoginRules
from idp.records.policies import PolicyRules
from idp.schema.answers import Answer, Details
from idp.schema.field_rules import NotYet
from idp.schema.reading import DeclaredField, declared

F = TypeVar("F", bound=Answer)


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


class MessageTextFound(Answer, frozen=True, kw_only=True):
    """`isDefault`: it is not the organization's own (of the installation: it is the built-in)."""

    details: Details
    custom_text: MessageTextView
    is_default: bool = False


def view_of(form: type[PolicyForm]) -> type[Answer]:
    """Returns the struct that shows a policy: the details of its record and the form's fields.

    Fields that accept only their built-in value (`NotYet`) are left out. A member that is omitted
    has the zero value of its type, whatever default the form has.
    """
    rendered = [field for field in declared(form) if not isinstance(field.rule, NotYet)]
    fields = [(field.name, kind, kind()) for field in rendered if (kind := _type_of(field))]
    return _answer(f"{form.__name__}View", [("details", Details), *fields], Answer)


def _type_of(field: DeclaredField) -> Any:
    """Returns the type of a member of the answer. No member is null, because what a policy does
    not set is omitted."""
    if isinstance(field.rule, CheckLifetime):  # read as seconds, written as the API writes it
        return str
    if get_origin(field.type) is UnionType:
        (kind,) = (each for each in get_args(field.type) if each is not NoneType)
        return kind
    return field.type


def found_of(view: type[Answer]) -> type[PolicyFound]:
    """Returns the struct of the answer to a call that reads a policy; its field `policy` holds a
    `view`."""
    name = view.__name__.removesuffix("View") + "Found"
    return _answer(name, [("policy", view)], PolicyFound)


def _answer(name: str, fields: Iterable[Any], base: type[F]) -> type[F]:
    kind: Any = defstruct(name, fields, bases=(base,), module=__name__, frozen=True, kw_only=True)
    made: type[F] = kind
    return made


LoginPolicyView = view_of(forms.LoginPolicy)
LoginPolicyFound = found_of(LoginPolicyView)
ComplexityPolicyView = view_of(forms.ComplexityPolicy)
ComplexityPolicyFound = found_of(ComplexityPolicyView)
AgePolicyView = view_of(forms.AgePolicy)
AgePolicyFound = found_of(AgePolicyView)
LockoutPolicyView = view_of(forms.LockoutPolicy)
LockoutPolicyFound = found_of(LockoutPolicyView)
LabelPolicyView = view_of(forms.LabelPolicy)
LabelPolicyFound = found_of(LabelPolicyView)
PrivacyPolicyView = view_of(forms.PrivacyPolicy)
PrivacyPolicyFound = found_of(PrivacyPolicyView)
LanguagePolicyView = view_of(forms.LanguagePolicy)
LanguagePolicyFound = found_of(LanguagePolicyView)


def login(rules: LoginRules) -> dict[str, object]:
    """Returns the fields of the answer that shows a login policy with these rules, as a dict by
    field name."""
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
    """Returns the fields of the answer that shows a policy whose stored fields are answered
    unchanged, as a dict by field name."""
    return structs.asdict(rules)


Members = Callable[[Any], dict[str, Any]]
