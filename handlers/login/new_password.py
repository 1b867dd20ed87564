"""What a page says of a new password: what is required of it, and what is wrong with it."""

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
    """What a new password of this person needs, as the page says it."""
    has_factor = await second_factors.is_asked_for(service, user)
    return await _policy(service, user.org_id, has_factor=has_factor)


async def policy_of(service: Service, org_id: str | None) -> dict[str, object]:
    """What the first password of somebody in this organization needs, as the page says it."""
    return await _policy(
        service, org_id, has_factor=await second_factors.is_forced(service, org_id)
    )


async def _policy(service: Service, org_id: str | None, *, has_factor: bool) -> dict[str, object]:
    rules = await effective.complexity(service, org_id)
    return {
        "minimum": effective.min_length(rules, has_factor=has_factor),
        "maximum": MAX_CHARACTERS,
        "demands": password_policy.demands(rules),
        "is_strength_rated": bool(rules.min_strength),
    }


async def problems_of(
    service: Service, subject: Subject, password: str, *, application: str = ""
) -> list[dict[str, object]]:
    """Everything wrong with a new password, as the page says it. `application` is the name of the
    one that the person is signing in to. Raises HashingBusy."""
    return as_shown(
        await password_change.chosen_problems(service, subject, password, application=application)
    )


def as_shown(problems: Sequence[PasswordProblem]) -> list[dict[str, object]]:
    """The problems at the field of the new password."""
    return [{"field": "newPassword", "text": problem.text} for problem in problems]
