"""The template values of pages that ask for a new password: its requirements and its problems."""

from __future__ import annotations

from collections.abc import Sequence

from idp.identity.factors import second_factors
from idp.identity.users import password_change
from idp.identity.users.subjects import Subject
from idp.passwords import policy as password_policy
from idp.passwords.policy import MAX_CHARACTERS, PasswordProblem
from idp.policies import effective
from idp.records import User
from idp.service import Service


async def policy_for(service: Service, user: User) -> dict[str, object]:
    """Returns the template values of the requirements for a new password of this user."""
    has_factor = await second_factors.is_asked_for(service, user)
    return await _policy(service, user.org_id, has_factor=has_factor)


async def policy_of(service: Service, org_id: str | None) -> dict[str, object]:
    """Returns the template values of the requirements for a first password of a user in this
    organization."""
    return await _policy(
        service, org_id, has_factor=await second_factors.is_forced(service, org_id)
    )


async def _policy(service: Service, org_id: str | None, *, has_factor: bool) -> dict[str, object]:
    rules = await effective.complexity(service, org_id)
    return {
        "minimum": effective.min_length(rules, has_factor=has_factor),
        "maximum": MAX_CHARACTERS,
        "demands": password_policy.required_classes(rules),
        "is_strength_rated": bool(rules.min_strength),
    }


async def problems_of(
    service: Service, subject: Subject, password: str, *, application: str = ""
) -> list[dict[str, object]]:
    """Returns the template values of all problems of a new password. `application` is the name of
    the application that the person signs in to. Raises HashingBusy."""
    return problem_values(
        await password_change.chosen_problems(service, subject, password, application=application)
    )


def problem_values(problems: Sequence[PasswordProblem]) -> list[dict[str, object]]:
    """Returns the template values of password problems, all at the field `newPassword`."""
    return [{"field": "newPassword", "text": problem.text} for problem in problems]
