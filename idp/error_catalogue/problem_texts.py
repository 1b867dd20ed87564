"""The texts of problems in forms; an error code without one is displayed with the API's own
message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue import ERROR_CODES
from idp.foundation.errors import FieldProblem
from idp.foundation.i18n import Message, message

# Of error codes that no call of the API has.
_FORM_TEXTS: Final[Mapping[str, Message]] = {
    "contact.same": message(
        "Enter a different value. This one is already saved.", context="account"
    ),
    "pat.long": message(
        "Choose an earlier date, or allow more than 90 days below.", context="refused"
    ),
}
_TOO_LONG: Final = message(
    "Enter at most %(n)s character.",
    plural="Enter at most %(n)s characters.",
    context="console",
    n=1,
)


def problem_text(problem: FieldProblem, label: Message | None) -> Message:
    """Returns the text of a problem for the field with this label. With None, it is about the
    request as a whole, and an error code without a text gets the API's message with the path."""
    entry = ERROR_CODES.get(problem.error_code)
    if label is None:
        return (entry and entry.request_text) or Message(str(problem))
    if problem.error_code == "field.too_long" and problem.limit is not None:
        return Message(_TOO_LONG.msgid, _TOO_LONG.context, _TOO_LONG.plural, {"n": problem.limit})
    text = entry.field_text if entry else _FORM_TEXTS.get(problem.error_code)
    return text or Message(problem.message)
