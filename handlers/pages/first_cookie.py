"""The cookie of a browser that comes to a form by a link, and has none yet."""

from __future__ import annotations

from handlers.pages.base import PageHandler
from idp.identity.sessions import browsers


async def give(handler: PageHandler) -> None:
    """Gives a browser without one its cookie, so that a form that it sends twice is recognized.
    Nothing is stored."""
    if await handler.find_browser() is None:
        handler.set_browser_cookie(browsers.new(handler.service))
