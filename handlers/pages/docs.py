"""GET /docs, /docs/errors and a page for each part of the API: the manual, without scripts."""

from __future__ import annotations

import asyncio
from functools import cache

from handlers.pages import rendering
from handlers.pages.base import PageHandler
from idp.api import description, manual
from idp.api.error_body import CATALOGUE as CATALOGUE_PATH
from idp.error_catalogue import CATALOGUE
from idp.foundation import i18n
from idp.limits.admission import MANAGEMENT


class DocsHandler(PageHandler):
    """A page of the manual: the overview, one part of the API, or the error codes."""

    group = MANAGEMENT

    async def get(self) -> None:
        config, bundle = self.service.config, self.bundle()
        # A page has up to a hundred tables: rendering it in the event loop would delay other
        # requests.
        html = await asyncio.to_thread(
            _page, self.request.path, bundle.tag, config.vendor, config.issuer
        )
        self.set_header("Content-Language", bundle.tag)
        self.set_header("Vary", "Accept-Language, Cookie")
        self.remember_language()
        self.finish(html)

    head = get


@cache
def _page(path: str, tag: str, vendor: str, issuer: str) -> str:
    if path == description.DOCUMENTATION:
        return _render("docs", tag, **_overview(vendor, issuer))
    if path == CATALOGUE_PATH:
        return _render("docs-errors", tag, catalogue=_catalogue(vendor))
    return _render("docs-part", tag, part=manual.page(path, issuer))


def _render(name: str, tag: str, **values: object) -> str:
    return rendering.render(name, i18n.load(tag), **values)


def _overview(vendor: str, issuer: str) -> dict[str, object]:
    return {
        "parts": [manual.page(path, issuer) for path in manual.titles()],
        "about": description.ABOUT,
        "organization_header": f"x-{vendor}-orgid",
    }


def _catalogue(vendor: str) -> list[tuple[str, list[dict[str, object]]]]:
    """Returns the error codes of each part, with `<vendor>` in their texts replaced."""
    return [
        (
            title,
            [
                {
                    "name": name,
                    "status": entry.status,
                    "text": entry.fix.replace("<vendor>", vendor),
                }
                for name, entry in entries.items()
            ],
        )
        for title, entries in CATALOGUE.items()
    ]


ROUTES = [
    (description.DOCUMENTATION, DocsHandler),
    (CATALOGUE_PATH, DocsHandler),
    *((path, DocsHandler) for path in manual.titles()),
]
