"""The console: what the management API does, on pages for people."""

from __future__ import annotations

from typing import Any, Final

from handlers.console import base, organizations, overview, users

ROUTES: Final[list[Any]] = [
    *base.ROUTES,
    *overview.ROUTES,
    *organizations.ROUTES,
    *users.ROUTES,
]
