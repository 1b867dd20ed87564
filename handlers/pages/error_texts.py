"""The texts of the error page for each status."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from idp.foundation.i18n import Message, message
from idp.oauth.errors import OAuthError


class ErrorText(Struct, frozen=True):
    """The title and sentence of the error page for a status below 500, or 503.

    With `is_general`, the error's own description is displayed too, because it is more specific.
    """

    title: Message
    sentence: Message
    is_general: bool = False


_UNANSWERABLE: Final = ErrorText(
    message("This request can't be processed", context="error"),
    message(
        "The address or the form isn't valid. Go back and open the page again.",
        context="error",
    ),
    is_general=True,
)
_TOO_LARGE: Final = ErrorText(
    message("This is too large", context="error"),
    message("The form is larger than this service accepts. Send less.", context="error"),
)
_HEADERS_TOO_LARGE: Final = ErrorText(
    message("This is too large", context="error"),
    message(
        "Your browser sends more than this service accepts. Delete its cookies for this"
        " site and try again.",
        context="error",
    ),
)

ERROR_TEXTS: Final = {
    403: ErrorText(
        message("This form can't be used", context="error"),
        message(
            "It belongs to another browser or site. Go back and open the page again.",
            context="error",
        ),
    ),
    404: ErrorText(
        message("Page not found", context="error"),
        message("The address may be mistyped, or the page has moved.", context="error"),
    ),
    405: ErrorText(
        message("This page can't be used this way", context="error"),
        message("Go back and open the page again.", context="error"),
    ),
    413: _TOO_LARGE,
    431: _HEADERS_TOO_LARGE,
    429: ErrorText(
        message("Too many requests", context="error"),
        message(
            "The service has received too many requests like this one."
            " Wait a minute, then try again.",
            context="error",
        ),
    ),
    503: ErrorText(
        message("The service is busy", context="error"),
        message("Nothing was changed. Try again in a moment.", context="error"),
    ),
}


def values_of(error: OAuthError) -> dict[str, object]:
    """Returns the template values of the error page: title, sentence and detail; all None for an
    internal failure."""
    text = ERROR_TEXTS.get(error.status, _UNANSWERABLE if error.status < 500 else None)
    if text is None:
        return {"title_text": None, "sentence": None, "detail": None}
    detail = Message(error.description) if text.is_general and error.description else None
    return {"title_text": text.title, "sentence": text.sentence, "detail": detail}
