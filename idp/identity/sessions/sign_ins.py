"""The figures of completed sign-ins."""

from __future__ import annotations

from collections.abc import Collection

from idp.identity.authentication_context import (
    AMR_CODE,
    AMR_FEDERATED,
    AMR_KEYS,
    FIRST_FACTORS,
)
from idp.records import User
from idp.service import Service
from idp.usage import active_users, counts


def count(service: Service, user: User, amr: Collection[str], *, is_new: bool = True) -> None:
    """Counts a sign-in of the user by these methods (values of `amr`), and the user as active.

    `is_new` is false if a second factor was added to an open session. Call it once the session is
    stored.
    """
    methods = set(amr)
    if is_new:
        counts.count(service, "sign_in", user.org_id)
    if methods & FIRST_FACTORS and methods & {AMR_CODE, *AMR_KEYS}:
        counts.count(service, "second_factor", user.org_id)
    if methods & AMR_KEYS:
        counts.count(service, "passkey", user.org_id)
    if is_new and AMR_FEDERATED in methods:
        counts.count(service, "provider", user.org_id)
    active_users.record(service, user)
