"""Plaintext passwords of rows: validated by the organization's policy, and hashed.

Hashing is slow on purpose, about forty passwords per second and core, and shares its capacity with
sign-ins. A dry run validates passwords and hashes none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from msgspec import structs

from idp.identity.users import creation as user_creation
from idp.identity.users import password_acceptance
from idp.management.users.person_fields import password_problems
from idp.passwords.hashing_threads import HashingBusy
from idp.records import Password
from idp.transfer.kinds.kind import ImportContext
from idp.transfer.kinds.users.human_request import PackagedHuman
from idp.transfer.kinds.users.user_rows import RowPassword, UserCase

_PAUSE_SECONDS: Final = 0.2

T = TypeVar("T")


async def hashed(context: ImportContext, case: UserCase, row: PackagedHuman) -> RowPassword | None:
    """Returns the row's plaintext password in the form in which it is stored (hashed), or its
    problems; None if the row has no plaintext password.

    A password that the person already has remains stored as it is.
    """
    if not row.password:
        return None
    service, text, must_change = context.service, row.password, row.password_change_required
    known_password = case.stored.password if case.stored else None
    if known_password is not None and known_password.hash:
        result = await _retry_while_busy(lambda: service.hasher.verify(text, known_password.hash))
        # Another hash of the same password would revoke the person's sessions and tokens.
        if result.ok:
            return RowPassword(structs.replace(known_password, must_change=must_change))
    person = row.person()
    problems = await _retry_while_busy(
        lambda: user_creation.initial_password_problems(service, case.organization, person, text)
    )
    if problems:
        return RowPassword(problems=password_problems("user.password", problems))
    if context.job.options.is_dry_run:
        now = service.clock.now()
        return RowPassword(Password(hash="", changed_at=now, must_change=must_change))
    hashed = await _retry_while_busy(
        lambda: password_acceptance.hashed(
            service, case.organization.id, text, must_change=must_change
        )
    )
    return RowPassword(hashed)


async def _retry_while_busy(work: Callable[[], Awaitable[T]]) -> T:
    """Returns the result of `work`, repeated until there is capacity for hashing: sign-ins have
    precedence."""
    while True:
        try:
            return await work()
        except HashingBusy:
            await asyncio.sleep(_PAUSE_SECONDS)
