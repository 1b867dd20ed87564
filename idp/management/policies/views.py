"""The structs of the answers that contain policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, get_args, get_origin

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
from idp.policies import palette
from idp.records import LabelRules, LoginRules
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
    """The base of the answers that contain a policy.

    `isDefault` means that it is not the organization's own; for the installation, that it is the
    built-in one.
    """

    details: Details
    is_default: bool = False


class MessageTextFound(Answer, frozen=True, kw_only=True):
    """`isDefault` is true if the text is not the organization's own (for the installation: if it
    is built in).
    """

    details: Details
    custom_text: MessageTextView
    is_default: bool = False


class EffectiveColours(Answer, frozen=True, kw_only=True):
    """The colours that the pages display in place of those that are hard to read on the
    background. A colour that is displayed as it was set is omitted."""

    primary_color: str = ""
    warn_color: str = ""
    font_color: str = ""
    primary_color_dark: str = ""
    warn_color_dark: str = ""
    font_color_dark: str = ""


_LOCKOUT: Final = ("max_password_attempts", "max_otp_attempts", "lockout_seconds")
_ALWAYS: Final = frozenset({"radius", *_LOCKOUT})


def view_of(form: type[PolicyForm], *further_fields: tuple[str, Any, Any]) -> type[Answer]:
    """Returns the struct of a policy in answers: the details of its record, the form's fields, and
    `more`, each a name, a type and a default.

    Fields that accept only their built-in value (`NotYet`) are left out. A member that is omitted
    has the zero value of its type, whatever default the form has; those of `_ALWAYS` are never
    omitted, because their zero isn't the form's default or means something that has to be seen.
    """
    rendered = [field for field in declared(form) if not isinstance(field.rule, NotYet)]
    fields = [
        (field.name, member_type)
        if field.name in _ALWAYS
        else (field.name, member_type, member_type())
        for field in rendered
        if (member_type := _type_of(field))
    ]
    return _answer(
        f"{form.__name__}View", [("details", Details), *fields, *further_fields], Answer
    )


def _type_of(field: DeclaredField) -> Any:
    """Returns the type of a member of the answer. No member is null, because what a policy does
    not set is omitted."""
    if isinstance(field.rule, CheckLifetime):  # seconds in the record, a duration in the API
        return str
    if get_origin(field.type) is UnionType:
        (member_type,) = (each for each in get_args(field.type) if each is not NoneType)
        return member_type
    return field.type


def answer_type_of(view: type[Answer]) -> type[PolicyFound]:
    """Returns the struct of the answer to a call that reads a policy; its field `policy` holds a
    `view`."""
    name = view.__name__.removesuffix("View") + "Found"
    return _answer(name, [("policy", view)], PolicyFound)


def _answer(name: str, fields: Iterable[Any], base: type[F]) -> type[F]:
    struct_type: Any = defstruct(
        name, fields, bases=(base,), module=__name__, frozen=True, kw_only=True
    )
    answer_type: type[F] = struct_type
    return answer_type


LoginPolicyView = view_of(forms.LoginPolicy)
LoginPolicyFound = answer_type_of(LoginPolicyView)
ComplexityPolicyView = view_of(forms.ComplexityPolicy)
ComplexityPolicyFound = answer_type_of(ComplexityPolicyView)
AgePolicyView = view_of(forms.AgePolicy)
AgePolicyFound = answer_type_of(AgePolicyView)
LockoutPolicyView = view_of(forms.LockoutPolicy)
LockoutPolicyFound = answer_type_of(LockoutPolicyView)
LabelPolicyView = view_of(forms.LabelPolicy, ("effective", EffectiveColours | None, None))
LabelPolicyFound = answer_type_of(LabelPolicyView)
PrivacyPolicyView = view_of(forms.PrivacyPolicy)
PrivacyPolicyFound = answer_type_of(PrivacyPolicyView)
LanguagePolicyView = view_of(forms.LanguagePolicy)
LanguagePolicyFound = answer_type_of(LanguagePolicyView)


def login(rules: LoginRules) -> dict[str, object]:
    """Returns the fields of the answer with a login policy that has these rules, as a dict by
    field name."""
    return {
        "allow_register": rules.allow_register,
        "hide_password_reset": rules.hide_password_reset,
        "lock_profile": rules.lock_profile,
        "allow_username_password": True,
        "allow_external_idp": rules.allow_external_idp,
        "providers_first": rules.providers_first,
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
        "external_login_check_lifetime": durations.text(rules.external_login_check_seconds),
        "mfa_init_skip_lifetime": durations.text(rules.offer_factor_seconds),
        "default_redirect_uri": rules.default_redirect_uri,
    }


def as_stored(rules: PolicyRules) -> dict[str, Any]:
    """Returns the fields of the answer with a policy, as a dict by field name: the stored fields,
    unchanged."""
    return structs.asdict(rules)


def no_members(rules: PolicyRules) -> dict[str, Any]:
    """Returns an empty dict: the answer has no fields beside those of the policy."""
    return {}


def effective_colours(rules: LabelRules) -> dict[str, Any]:
    """Returns the field of the answer with the colours that differ from those of the policy."""
    displayed = palette.effective(rules)
    differing = {
        name: value
        for name in EffectiveColours.__struct_fields__
        if (value := getattr(displayed, name)) != getattr(rules, name)
    }
    return {"effective": EffectiveColours(**differing)} if differing else {}


Members = Callable[[Any], dict[str, Any]]
