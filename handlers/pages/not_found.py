"""The 404 responses of unknown addresses: a page for browsers, JSON for programs."""

from __future__ import annotations

from typing import Any, Final

from tornado.web import HTTPError

from handlers.http.protocol_errors import as_oauth_error
from handlers.pages.base import PageHandler

PAGES: Final = "/ui/"


class MissingHandler(PageHandler):
    """Answers with 404 for an unknown address: in HTML below /ui/ or if the caller accepts HTML,
    else in JSON."""

    def admit(self) -> None:
        super().admit()
        raise HTTPError(404, "there is nothing at this address")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        is_page = self.request.path.startswith(PAGES)
        if is_page or "text/html" in self.request.headers.get("Accept", ""):
            super().write_error(status_code, **kwargs)
        else:
            self.answer_error(as_oauth_error(kwargs["exc_info"][1]))
