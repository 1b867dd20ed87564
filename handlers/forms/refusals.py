"""What a page of the console says of a refusal that is not about a field, and the ways on."""

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


class ShownRefusal(Struct, frozen=True):
    """A status with what is said of it; `detail` is for those who write programs."""

    status: int
    title: Message
    sentence: Message
    detail: Message | None = None

    def values(self, addresses: Mapping[str, str]) -> dict[str, object]:
        """What `templates/console/message.mako` takes."""
        is_there = self.status not in (403, 404)
        again = [(AGAIN, addresses["here"])] * is_there
        return {
            "title_text": self.title,
            "sentence": self.sentence,
            "detail": self.detail,
            "ways": [*again, (HOME, addresses["home"])],
        }


_NOT_FOUND: Final = ShownRefusal(
    404,
    message("This is not here", context="console"),
    message(
        "It was deleted, or it belongs to another organization than the one you are in.",
        context="console",
    ),
)
_DENIED: Final = ShownRefusal(
    403,
    message("You may not do this", context="console"),
    message(
        "Your roles do not allow it. Whoever owns the organization can give you others.",
        context="console",
    ),
)
_CHANGED: Final = ShownRefusal(
    412,
    message("This has changed meanwhile", context="console"),
    message("Somebody else was faster. Nothing of yours was done.", context="console"),
)
_REFUSED: Final = ShownRefusal(
    400,
    message("This can't be done", context="console"),
    message("Nothing was changed.", context="console"),
)
_REFUSALS: Final[Mapping[type[IdpError], ShownRefusal]] = {
    NotFound: _NOT_FOUND,
    PermissionDenied: _DENIED,
    PreconditionFailed: _CHANGED,
    AlreadyExists: ShownRefusal(409, _REFUSED.title, _REFUSED.sentence),
    TooMany: ShownRefusal(
        429,
        message("This was too often", context="console"),
        message("Nothing was done. Try again in a few minutes.", context="console"),
    ),
    FailedPrecondition: _REFUSED,
    InvalidArgument: _REFUSED,
}


def of(error: IdpError) -> ShownRefusal | None:
    """The refusal; None for what is no refusal: too much at once, or a failure on our side."""
    for kind, refusal in _REFUSALS.items():
        if isinstance(error, kind):
            is_known = kind in (NotFound, PermissionDenied)
            detail = None if is_known else Message(error.message)
            return ShownRefusal(refusal.status, refusal.title, refusal.sentence, detail)
    return None


def status_of(error: IdpError) -> int:
    """The status of a form that comes back with what is wrong."""
    refusal = of(error)
    return refusal.status if refusal else 400
