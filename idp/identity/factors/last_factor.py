"""Removal of a person's last second factor, after which the password is the only factor.

A password that was chosen while a second factor was required may be shorter than one that is used
alone (SP 800-63B-4, 3.1.1.2). Removing the last factor then requires a longer password in the same
step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from idp.foundation.errors import FailedPrecondition
from idp.identity.factors import passkeys, second_factors
from idp.identity.users import password_acceptance, password_change
from idp.identity.users.subjects import Subject
from idp.passwords.policy import PasswordProblem
from idp.policies import effective
from idp.records import User
from idp.service import Service


class PasswordTooShort(FailedPrecondition):
    """The password is too short to be the only factor, and no new password was given."""

    error_code = "factor.password_too_short"


class PasswordNotAccepted(Exception):
    """The new password is refused; `problems` lists the reasons."""

    def __init__(self, problems: Sequence[PasswordProblem]) -> None:
        super().__init__(", ".join(problem.error_code for problem in problems))
        self.problems = problems


async def needs_new_password(service: Service, user: User, without: str) -> bool:
    """Returns whether the user's password would be too short after the removal of the factor
    `without`: `second_factors.TOTP`, or `second_factors.PASSKEY` for one passkey. A password whose
    length was not recorded is regarded as long enough."""
    if user.password is None or user.password.is_long is not False:
        return False
    rules = await effective.complexity(service, user.org_id)
    min_length_alone = effective.min_length(rules, has_factor=False)
    if min_length_alone <= effective.min_length(rules, has_factor=True):
        return False
    return await _is_last(service, user, without)


async def _is_last(service: Service, user: User, without: str) -> bool:
    if await second_factors.of_user(service, user) != {without}:
        return False
    return without == second_factors.TOTP or len(await passkeys.of_user(service, user.id)) == 1


async def password_change_for(
    service: Service, subject: Subject, without: str, new_password: str
) -> Mapping[str, object]:
    """Returns the fields of the user to set in the unit that removes the factor `without` (as in
    `needs_new_password`): `password`, with `new_password` hashed, if the present one would be too
    short; otherwise none.

    Raises PasswordTooShort if a new password is needed and `new_password` is empty;
    PasswordNotAccepted, HashingBusy.
    """
    if not await needs_new_password(service, subject.user, without):
        return {}
    if not new_password:
        raise PasswordTooShort("the password is too short to be the only factor")
    problems = await password_change.chosen_problems_with(
        service, subject, new_password, has_factor=False
    )
    if problems:
        raise PasswordNotAccepted(problems)
    org_id = subject.user.org_id
    return {"password": await password_acceptance.hashed(service, org_id, new_password)}
