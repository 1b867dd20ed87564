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
from idp.transfer.kinds.users.user_rows import Case, RowPassword

_PAUSE_SECONDS: Final = 0.2

T = TypeVar("T")


async def chosen(context: ImportContext, case: Case, row: PackagedHuman) -> RowPassword | None:
    """Returns the row's plaintext password in the form in which it is stored (hashed), or its
    problems; None if the row has no plaintext password.

    A password that the person already has remains stored as it is.
    """
    if not row.password:
        return None
    service, text, must_change = context.service, row.password, row.password_change_required
    had = case.known.password if case.known else None
    if had is not None and had.hash:
        verdict = await _in_turn(lambda: service.hasher.verify(text, had.hash))
        # Another hash of the same password would revoke everything issued to the person.
        if verdict.ok:
            return RowPassword(structs.replace(had, must_change=must_change))
    person = row.person()
    problems = await _in_turn(
        lambda: user_creation.initial_password_problems(service, case.organization, person, text)
    )
    if problems:
        return RowPassword(problems=password_problems("user.password", problems))
    if context.job.options.is_dry_run:
        now = service.clock.now()
        return RowPassword(Password(hash="", changed_at=now, must_change=must_change))
    hashed = await _in_turn(
        lambda: password_acceptance.hashed(
            service, case.organization.id, text, must_change=must_change
        )
    )
    return RowPassword(hashed)


async def _in_turn(work: Callable[[], Awaitable[T]]) -> T:
    """Returns the result of hashing work, once there is capacity: sign-ins have precedence."""
    while True:
        try:
            return await work()
        except HashingBusy:
            await asyncio.sleep(_PAUSE_SECONDS)
