"""Which policies there are: what each takes and tells, and under which address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from idp.management.policies import forms, views
from idp.management.policies.forms import PolicyForm
from idp.management.policies.views import PolicyFound, Told
from idp.records.policies import PolicyKind, PolicyRules
from idp.schema.answers import Details


class Kind(Struct, frozen=True):
    """A kind of policy. `words` name it in a sentence."""

    path: str
    words: str
    form: type[PolicyForm]
    found: type[PolicyFound]
    view: Any
    told: Told = views.as_stored

    def answer(self, rules: PolicyRules, details: Details, *, is_default: bool) -> PolicyFound:
        """What is answered of a policy."""
        policy = self.view(details=details, **self.told(rules))
        found: Any = self.found
        answer: PolicyFound = found(details=details, policy=policy, is_default=is_default)
        return answer


KINDS: Final[Mapping[PolicyKind, Kind]] = {
    "login": Kind(
        "login",
        "login policy",
        forms.LoginPolicy,
        views.LoginPolicyFound,
        views.LoginPolicyView,
        views.login,
    ),
    "password_complexity": Kind(
        "password/complexity",
        "password complexity policy",
        forms.ComplexityPolicy,
        views.ComplexityPolicyFound,
        views.ComplexityPolicyView,
    ),
    "password_age": Kind(
        "password/age",
        "password age policy",
        forms.AgePolicy,
        views.AgePolicyFound,
        views.AgePolicyView,
    ),
    "lockout": Kind(
        "lockout",
        "lockout policy",
        forms.LockoutPolicy,
        views.LockoutPolicyFound,
        views.LockoutPolicyView,
    ),
    "label": Kind(
        "label",
        "label policy",
        forms.LabelPolicy,
        views.LabelPolicyFound,
        views.LabelPolicyView,
    ),
    "privacy": Kind(
        "privacy",
        "privacy policy",
        forms.PrivacyPolicy,
        views.PrivacyPolicyFound,
        views.PrivacyPolicyView,
    ),
    "language": Kind(
        "language",
        "language policy",
        forms.LanguagePolicy,
        views.LanguagePolicyFound,
        views.LanguagePolicyView,
    ),
}
