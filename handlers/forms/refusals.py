"""The console's error pages: status, texts and links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from idp.foundation.errors import (
    AlreadyExists,
    FailedPrecondition,
    IdpError,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    PreconditionFailed,
    TooMany,
)
from idp.foundation.i18n import Message, message

OPEN_AGAIN: Final = message("Open this page again", context="console")
HOME: Final = message("Go to the overview", context="console")


class RenderedRefusal(Struct, frozen=True):
    """The status and texts of an error page; `detail` is the API's own message, for developers."""

    status: int
    title: Message
    sentence: Message
    detail: Message | None = None

    def values(self, addresses: Mapping[str, str]) -> dict[str, object]:
        """Returns the values that `templates/console/message.mako` requires. `addresses` are those
        of the refused page (`here`) and of the first page (`home`)."""
        can_retry = self.status not in (403, 404)
        retry_button = [(OPEN_AGAIN, addresses["here"])] if can_retry else []
        return {
            "title_text": self.title,
            "sentence": self.sentence,
            "detail": self.detail,
            "buttons": [*retry_button, (HOME, addresses["home"])],
        }


_NOT_FOUND: Final = RenderedRefusal(
    404,
    message("Not found", context="console"),
    message(
        "It was deleted or belongs to another organization.",
        context="console",
    ),
)
_DENIED: Final = RenderedRefusal(
    403,
    message("You don't have permission", context="console"),
    message(
        "Your roles don't allow this. Ask an owner of the organization for another role.",
        context="console",
    ),
)
_CHANGED: Final = RenderedRefusal(
    412,
    message("This has changed", context="console"),
    message("Someone else changed this first. Your changes were not saved.", context="console"),
)
_REFUSED: Final = RenderedRefusal(
    400,
    message("This can't be done", context="console"),
    message("Nothing was changed.", context="console"),
)
_REFUSALS: Final[Mapping[type[IdpError], RenderedRefusal]] = {
    NotFound: _NOT_FOUND,
    PermissionDenied: _DENIED,
    PreconditionFailed: _CHANGED,
    AlreadyExists: RenderedRefusal(409, _REFUSED.title, _REFUSED.sentence),
    TooMany: RenderedRefusal(
        429,
        message("Too many attempts", context="console"),
        message("Nothing was changed. Try again in a few minutes.", context="console"),
    ),
    FailedPrecondition: _REFUSED,
    InvalidArgument: _REFUSED,
}


def of(error: IdpError) -> RenderedRefusal | None:
    """Returns the error page for an error of the API; None for an overload or an internal
    failure."""
    for error_class, refusal in _REFUSALS.items():
        if isinstance(error, error_class):
            is_self_explanatory = error_class in (NotFound, PermissionDenied)
            detail = None if is_self_explanatory else Message(error.message)
            return RenderedRefusal(refusal.status, refusal.title, refusal.sentence, detail)
    return None


def status_of(error: IdpError) -> int:
    """Returns the HTTP status for a form that is displayed again because of this error."""
    refusal = of(error)
    return refusal.status if refusal else 400
