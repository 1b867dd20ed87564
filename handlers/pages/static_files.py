"""GET /ui/static/…: stylesheets, scripts and images, which browsers cache permanently."""

from __future__ import annotations

from tornado.web import HTTPError

from handlers.http.admission import PUBLIC
from handlers.pages import rendering
from handlers.pages.base import PageHandler


class StaticHandler(PageHandler):
    """Sends a stylesheet, script or image whose address contains a hash of its content."""

    group = PUBLIC
    any_host = True  # the page that reports a wrong host needs its stylesheet

    async def get(self) -> None:
        file = rendering.static_file(self.request.path.removeprefix(rendering.STATIC_PATH))
        if file is None:
            raise HTTPError(404)
        content, content_type = file
        self.set_header("Content-Type", content_type)
        self.set_header("Cache-Control", "public, max-age=31536000, immutable")
        self.finish(content)

    head = get


ROUTES = [(rendering.STATIC_PATH + ".*", StaticHandler)]
