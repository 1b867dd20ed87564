"""The pages of a person's own account."""

from __future__ import annotations

from typing import Any, Final

from handlers.account import base, overview, password, security

ROUTES: Final[list[Any]] = [
    *base.ROUTES,
    *overview.ROUTES,
    *security.ROUTES,
    *password.ROUTES,
]
