"""GET /ui/static/…: stylesheets, scripts and images, which browsers cache permanently."""

from __future__ import annotations

from tornado.web import HTTPError

from handlers.http import static_files
from handlers.pages.base import PageHandler
from idp.limits.admission import PUBLIC


class StaticHandler(PageHandler):
    """Sends a stylesheet, script or image whose address contains a digest of its content,
    compressed if the browser accepts that.

    Pages are never compressed: they contain form tokens beside text from the request, so the
    length of a compressed page would reveal something about the tokens (BREACH).
    """

    group = PUBLIC
    any_host = True  # the page that reports a wrong host needs its stylesheet

    async def get(self) -> None:
        file = static_files.find(self.request.path)
        if file is None:
            raise HTTPError(404)
        self.set_header("Content-Type", file.content_type)
        self.set_header("Cache-Control", "public, max-age=31536000, immutable")
        self.set_header("Vary", "Accept-Encoding")
        if static_files.accepts_gzip(self.request.headers.get("Accept-Encoding", "")):
            self.set_header("Content-Encoding", "gzip")
            self.finish(file.compressed)
        else:
            self.finish(file.content)

    head = get


ROUTES = [(static_files.PATH + ".*", StaticHandler)]
