"""The console's error pages: status, texts and the links that lead on."""

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

AGAIN: Final = message("Open this page again", context="console")
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
        is_there = self.status not in (403, 404)
        again = [(AGAIN, addresses["here"])] if is_there else []
        return {
            "title_text": self.title,
            "sentence": self.sentence,
            "detail": self.detail,
            "buttons": [*again, (HOME, addresses["home"])],
        }


_NOT_FOUND: Final = RenderedRefusal(
    404,
    message("This is not here", context="console"),
    message(
        "It was deleted, or it belongs to another organization than the one you are in.",
        context="console",
    ),
)
_DENIED: Final = RenderedRefusal(
    403,
    message("You may not do this", context="console"),
    message(
        "Your roles do not allow it. Whoever owns the organization can give you others.",
        context="console",
    ),
)
_CHANGED: Final = RenderedRefusal(
    412,
    message("This has changed meanwhile", context="console"),
    message("Somebody else was faster. Nothing of yours was done.", context="console"),
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
        message("This was too often", context="console"),
        message("Nothing was done. Try again in a few minutes.", context="console"),
    ),
    FailedPrecondition: _REFUSED,
    InvalidArgument: _REFUSED,
}


def of(error: IdpError) -> RenderedRefusal | None:
    """Returns the error page for an error of the API; None for an overload or an internal
    failure."""
    for kind, refusal in _REFUSALS.items():
        if isinstance(error, kind):
            is_known = kind in (NotFound, PermissionDenied)
            detail = None if is_known else Message(error.message)
            return RenderedRefusal(refusal.status, refusal.title, refusal.sentence, detail)
    return None


def status_of(error: IdpError) -> int:
    """Returns the HTTP status for a form that is displayed again because of this error."""
    refusal = of(error)
    return refusal.status if refusal else 400
