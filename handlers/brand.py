"""GET /ui/brand/…: the colours that an organization wants, kept by browsers for ever."""

from __future__ import annotations

from typing import Final

from tornado.web import HTTPError

from handlers.page import PageHandler
from idp.policies import looks

_FOREVER: Final = "public, max-age=31536000, immutable"


class BrandHandler(PageHandler):
    """A stylesheet whose address holds a digest of its content; asked for by another one, as a
    page of a moment ago may, it is what counts now."""

    async def get(self, policy_id: str, digest: str) -> None:
        stylesheet = await looks.stylesheet(self.service, policy_id)
        if stylesheet is None:
            raise HTTPError(404)
        self.set_header("Content-Type", "text/css; charset=utf-8")
        if looks.digest(stylesheet) == digest:
            self.set_header("Cache-Control", _FOREVER)
        self.finish(stylesheet)

    head = get


ROUTES = [(r"/ui/brand/([A-Za-z0-9_-]{43})/([0-9a-f]{16})\.css", BrandHandler)]
