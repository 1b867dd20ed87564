"""GET /ui/brand/…: the colours and pictures that an organization wants, kept by browsers for ever.

An address holds a digest of its content. Asked for by another one, as a page of a moment ago may,
it is what counts now, and nobody keeps it.
"""

from __future__ import annotations

import base64
from typing import Final

from tornado.web import HTTPError

from handlers.page import PageHandler
from idp.policies import looks
from idp.records import PICTURES

_FOREVER: Final = "public, max-age=31536000, immutable"
_NOTHING: Final = "default-src 'none'; frame-ancestors 'none'"


class BrandHandler(PageHandler):
    """The colours, as a stylesheet."""

    async def get(self, policy_id: str, digest: str) -> None:
        stylesheet = await looks.stylesheet(self.service, policy_id)
        if stylesheet is None:
            raise HTTPError(404)
        self.set_header("Content-Type", "text/css; charset=utf-8")
        if looks.digest(stylesheet) == digest:
            self.set_header("Cache-Control", _FOREVER)
        self.finish(stylesheet)

    head = get


class PictureHandler(PageHandler):
    """A logo or an icon; opened by itself it is a picture, too, and nothing else."""

    async def get(self, picture_id: str, digest: str) -> None:
        picture = await self.service.store.get(PICTURES, picture_id)
        if picture is None:
            raise HTTPError(404)
        self.set_header("Content-Type", picture.type)
        self.set_header("Content-Security-Policy", _NOTHING)
        self.set_header("Etag", f'"{picture.digest}"')
        if picture.digest == digest:
            self.set_header("Cache-Control", _FOREVER)
        self.finish(base64.b64decode(picture.content))

    head = get


ROUTES = [
    (r"/ui/brand/([A-Za-z0-9_-]{43})/([0-9a-f]{16})\.css", BrandHandler),
    (r"/ui/brand/([A-Za-z0-9_-]{43})/([0-9a-f]{16})\.(?:png|jpg)", PictureHandler),
]
