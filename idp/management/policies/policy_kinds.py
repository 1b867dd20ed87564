"""The kinds of policies: the path of each, its request body and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from idp.management.policies import forms, views
from idp.management.policies.forms import PolicyForm
from idp.management.policies.views import Members, PolicyFound
from idp.records.policies import PolicyKind, PolicyRules
from idp.schema.answers import Details


class PolicyKindEntry(Struct, frozen=True):
    """A kind of policy: the `path` of its calls, its name in sentences (`noun`), and the struct
    of its request body (`form`).

    `answer_type` is the struct of the answer, `view` that of the policy in the answer, and
    `members` returns the fields of the view for stored rules, except `details` and those of
    `further_members`, which follow from the rules and are no part of a policy.
    """

    path: str
    noun: str
    form: type[PolicyForm]
    answer_type: type[PolicyFound]
    view: Any
    members: Members = views.as_stored
    further_members: Members = views.no_members

    def answer(self, rules: PolicyRules, details: Details, *, is_default: bool) -> PolicyFound:
        """Returns the answer with a policy that has these rules. `details` are those of the
        record.

        With `is_default` the policy is not the organization's own.
        """
        policy = self.view(details=details, **self.members(rules), **self.further_members(rules))
        answer_type: Any = self.answer_type
        answer: PolicyFound = answer_type(details=details, policy=policy, is_default=is_default)
        return answer


KINDS: Final[Mapping[PolicyKind, PolicyKindEntry]] = {
    "login": PolicyKindEntry(
        "login",
        "login policy",
        forms.LoginPolicy,
        views.LoginPolicyFound,
        views.LoginPolicyView,
        views.login,
    ),
    "password_complexity": PolicyKindEntry(
        "password/complexity",
        "password complexity policy",
        forms.ComplexityPolicy,
        views.ComplexityPolicyFound,
        views.ComplexityPolicyView,
    ),
    "password_age": PolicyKindEntry(
        "password/age",
        "password age policy",
        forms.AgePolicy,
        views.AgePolicyFound,
        views.AgePolicyView,
    ),
    "lockout": PolicyKindEntry(
        "lockout",
        "lockout policy",
        forms.LockoutPolicy,
        views.LockoutPolicyFound,
        views.LockoutPolicyView,
    ),
    "label": PolicyKindEntry(
        "label",
        "label policy",
        forms.LabelPolicy,
        views.LabelPolicyFound,
        views.LabelPolicyView,
        further_members=views.effective_colours,
    ),
    "privacy": PolicyKindEntry(
        "privacy",
        "privacy policy",
        forms.PrivacyPolicy,
        views.PrivacyPolicyFound,
        views.PrivacyPolicyView,
    ),
    "language": PolicyKindEntry(
        "language",
        "language policy",
        forms.LanguagePolicy,
        views.LanguagePolicyFound,
        views.LanguagePolicyView,
    ),
}
