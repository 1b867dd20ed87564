"""The 404 responses of unknown addresses: a page for browsers, JSON for programs."""

from __future__ import annotations

from typing import Any, Final

from tornado.web import HTTPError

from handlers.http.protocol_errors import as_oauth_error
from handlers.pages import error_texts
from handlers.pages.base import PageHandler
from idp.foundation.i18n import Message

PAGES: Final = "/ui/"
_NOTHING: Final = "there is nothing at this address"
_SLASHES: Final = (
    f"{_NOTHING}, which begins with two slashes: the issuer was typed with a slash at its end"
)


class MissingHandler(PageHandler):
    """Answers with 404 for an unknown address: in HTML below /ui/ or if the caller accepts HTML,
    else in JSON."""

    def admit(self) -> None:
        super().admit()
        raise HTTPError(404, _SLASHES if self._has_two_slashes() else _NOTHING)

    def _has_two_slashes(self) -> bool:
        """Returns whether the address is one of this service but for slashes at its beginning, as
        a client makes it that appends a path to an issuer with a slash at its end."""
        path = self.request.path
        return path.startswith("//") and bool(self.app.route(f"/{path.lstrip('/')}"))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        is_page = self.request.path.startswith(PAGES)
        error = as_oauth_error(kwargs["exc_info"][1])
        if not is_page and "text/html" not in self.request.headers.get("Accept", ""):
            self.answer_error(error)
        elif error.description == _SLASHES:
            # For the developer of the application that sent the browser here.
            values = error_texts.values_of(error) | {"detail": Message(_SLASHES)}
            self.page("error", status=error.status, **values, **self.retry(error.status))
        else:
            super().write_error(status_code, **kwargs)
