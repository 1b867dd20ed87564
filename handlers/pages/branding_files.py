"""GET /ui/brand/…: the colours and pictures of an organization, which browsers cache permanently.

An address contains a digest of its content. A request with an outdated digest gets the current
content, which is then not cached.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any, Final, get_args

from tornado.web import HTTPError

from handlers.pages.base import PageHandler
from idp.foundation.colours.contrast import is_colour
from idp.limits.admission import PUBLIC
from idp.policies import page_settings, palette
from idp.records import PICTURES, LabelRules
from idp.records.policies import MAX_RADIUS, FontFamily, Layout

PREVIEW: Final = "/ui/brand/preview.css"
PREVIEWED: Final = (*palette.NAMES, "radius", "layout", "font")  # names in the API
_RADII: Final = frozenset(map(str, range(MAX_RADIUS + 1)))
_CAPITAL: Final = re.compile("[A-Z]")
_CACHED_PERMANENTLY: Final = "public, max-age=31536000, immutable"
_NO_SOURCES: Final = "default-src 'none'; frame-ancestors 'none'"


class BrandHandler(PageHandler):
    """Sends the stylesheet with an organization's colours."""

    group = PUBLIC

    async def get(self, policy_id: str, digest: str) -> None:
        stylesheet = await page_settings.stylesheet(self.service, policy_id)
        if stylesheet is None:
            raise HTTPError(404)
        self.set_header("Content-Type", "text/css; charset=utf-8")
        if page_settings.digest(stylesheet) == digest:
            self.set_header("Cache-Control", _CACHED_PERMANENTLY)
        self.finish(stylesheet)

    head = get


class BrandingPreviewHandler(PageHandler):
    """Sends a stylesheet with the unsaved branding in the address, for a preview."""

    group = PUBLIC

    async def get(self) -> None:
        query = self.query_params()
        rules = previewed({name: query.if_once(name) or "" for name in PREVIEWED})
        scheme: palette.Scheme = "dark" if query.if_once("scheme") == "dark" else "light"
        self.set_header("Content-Type", "text/css; charset=utf-8")
        self.finish(palette.preview_stylesheet(rules, scheme))

    head = get


def previewed(values: Mapping[str, object]) -> LabelRules:
    """Returns the branding that is entered or stored as `values`, by the names in the API; what is
    absent or invalid has its default."""
    texts = {name: str(values.get(name, "")).strip().lower() for name in PREVIEWED}
    rules: dict[str, Any] = {
        field_name(name): texts[name] for name in palette.NAMES if is_colour(texts[name])
    }
    for name, allowed in (("layout", get_args(Layout)), ("font", get_args(FontFamily))):
        if texts[name] in allowed:
            rules[name] = texts[name]
    if texts["radius"] in _RADII:
        rules["radius"] = int(texts["radius"])
    return LabelRules(**rules)


def preview_query(rules: LabelRules) -> dict[str, str]:
    """Returns the parameters of an address from which `previewed` reads the same branding."""
    return {
        name: str(value) for name in PREVIEWED if (value := getattr(rules, field_name(name))) != ""
    }


def field_name(name: str) -> str:
    """Converts a name of the API in camel case to a struct's field name, such as
    `primary_color_dark`."""
    return _CAPITAL.sub(lambda match: "_" + match[0].lower(), name)


class PictureHandler(PageHandler):
    """Sends a logo or an icon. Its Content-Security-Policy forbids scripts if it is opened as a
    document."""

    group = PUBLIC
    _digest = ""

    async def get(self, picture_id: str, digest: str) -> None:
        picture = await self.service.store.get(PICTURES, picture_id)
        if picture is None:
            raise HTTPError(404)
        self.set_header("Content-Type", picture.type)
        self.set_header("Content-Security-Policy", _NO_SOURCES)
        self._digest = picture.digest
        if picture.digest == digest:
            self.set_header("Cache-Control", _CACHED_PERMANENTLY)
        self.finish(base64.b64decode(picture.content))

    head = get

    def compute_etag(self) -> str | None:
        return f'"{self._digest}"' if self._digest else None


ROUTES = [
    (PREVIEW, BrandingPreviewHandler),
    (r"/ui/brand/([A-Za-z0-9_-]{43})/([0-9a-f]{16})\.css", BrandHandler),
    (r"/ui/brand/([A-Za-z0-9_-]{43})/([0-9a-f]{16})\.(?:png|jpg)", PictureHandler),
]
