"""The pages of a person's own account."""

from __future__ import annotations

from typing import Any, Final

from handlers.account import (
    applications,
    authenticator,
    base,
    contacts,
    data,
    language,
    linked,
    overview,
    passkeys,
    password,
    profile,
    recovery,
    security,
    sessions,
)

ROUTES: Final[list[Any]] = [
    *base.ROUTES,
    *overview.ROUTES,
    *profile.ROUTES,
    *contacts.ROUTES,
    *language.ROUTES,
    *data.ROUTES,
    *sessions.ROUTES,
    *applications.ROUTES,
    *security.ROUTES,
    *password.ROUTES,
    *passkeys.ROUTES,
    *authenticator.ROUTES,
    *recovery.ROUTES,
    *linked.ROUTES,
]
