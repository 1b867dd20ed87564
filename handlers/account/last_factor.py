"""The new password that a person has to choose when removing the last second factor."""

from __future__ import annotations

from typing import Final

from handlers.forms import fields
from handlers.forms.fields import FormField
from handlers.login.new_password import problem_values
from idp.foundation.i18n import message
from idp.identity.factors import last_factor
from idp.identity.factors.last_factor import PasswordNotAccepted
from idp.records import User
from idp.service import Service

_NEW_PASSWORD: Final = FormField(
    path="newPassword",
    label=message("New password", context="change-password"),
    hint=message(
        "Your password is too short without a second factor. Choose a longer one.",
        context="factor",
    ),
    kind="password",
    autocomplete="new-password",
    is_required=True,
)


async def inputs(service: Service, user: User, without: str) -> list[dict[str, object]]:
    """Returns the template values of the inputs for a new password, which are needed if removing
    the second factor `without` leaves the user with too weak a sign-in; an empty list if it does
    not."""
    if not await last_factor.needs_new_password(service, user, without):
        return []
    return fields.rendered([_NEW_PASSWORD], {_NEW_PASSWORD.path: ""})


def problems(error: Exception) -> list[dict[str, object]]:
    """Returns the template values of why the new password was not accepted: its problems, or for
    any other error the hint that one is needed."""
    if isinstance(error, PasswordNotAccepted):
        return problem_values(error.problems)
    return [{"field": _NEW_PASSWORD.path, "label": None, "text": _NEW_PASSWORD.hint}]
