"""The kind of rows `humanUsers`: persons, with the ids and passwords that they have in another
system.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from idp.foundation.cooperative import in_turns
from idp.foundation.errors import FieldProblem
from idp.identity.users import creation as user_creation
from idp.records import Organization, User
from idp.transfer.kinds import upsert
from idp.transfer.kinds.kind import ImportContext, RowKind
from idp.transfer.kinds.packaged_ids import named
from idp.transfer.kinds.users import human_changes, plain_passwords, user_rows
from idp.transfer.kinds.users.export_humans import export
from idp.transfer.kinds.users.human_request import HumanRow, PackagedHuman
from idp.transfer.kinds.users.user_rows import UserCase, UserTarget
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem

MAX_HASH_SECONDS: Final = 0.15  # one verification; a row with a more expensive hash has a warning
_HASH: Final = "user.hashedPassword.value"


async def plan_rows(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of persons (`RowKind.plan`): new ones are created; existing ones are skipped or,
    if the import updates records, updated.
    """
    cases = [
        _case(context, each) if isinstance(each, UserTarget) else each
        # Other tasks of the event loop run in between: a batch may have a thousand rows.
        async for each in in_turns(await user_rows.find_targets(context, parsed_rows, "human"))
    ]
    return [
        await _plan(context, each) if isinstance(each, UserCase) else each
        async for each in in_turns(await user_rows.with_names(context, cases))
    ]


def _case(context: ImportContext, target: UserTarget) -> UserCase:
    parsed, stored = target.parsed, target.stored
    if stored is None:
        return user_rows.creation(target, _new(context, target.organization, parsed))
    fields = human_changes.requested_fields(context.service, stored, _row(parsed))
    return user_rows.update(target, stored, fields)


async def _plan(context: ImportContext, case: UserCase) -> RowPlan:
    row, problems = _row(case.parsed), case.problems + _hash_problems(context, case)
    if not problems and (chosen := await plain_passwords.hashed(context, case, row)):
        problems, case = chosen.problems, user_rows.with_password(case, chosen.password)
    if problems:
        return user_rows.refusal(case, problems)
    warnings = (*_warnings(row), *_cost_warnings(context, case))
    return await user_rows.plan(context, case, warnings=warnings)


def _row(parsed: ParsedRow) -> PackagedHuman:
    assert isinstance(parsed.request, HumanRow)  # noqa: S101 - for mypy
    return parsed.request.user


def _new(context: ImportContext, organization: Organization, parsed: ParsedRow) -> User:
    service, row = context.service, _row(parsed)
    assert isinstance(parsed.request, HumanRow)  # noqa: S101 - for mypy
    now, user_id = service.clock.now(), parsed.request.user_id
    new = structs.replace(row.person(), id=user_id, password=row.hashed(now))
    user = user_creation.user_of(service, organization, new, now)
    if user.totp is not None:
        user.totp.name = row.otp_name
    return user


def _hash_problems(context: ImportContext, case: UserCase) -> list[FieldProblem]:
    """Returns the problems of a new hash that is too weak; a hash that is stored already is not
    checked.
    """
    return user_creation.hash_problems(context.service, _HASH, _new_hash(case))


def _new_hash(case: UserCase) -> str | None:
    """Returns the hash that the row brings; None if there is none, or it is stored already."""
    sent = case.after.password
    stored = case.stored.password if case.stored else None
    is_stored = sent is not None and stored is not None and stored.hash == sent.hash
    return None if sent is None or is_stored else sent.hash


def _cost_warnings(context: ImportContext, case: UserCase) -> tuple[RowProblem, ...]:
    """Returns the warning of a new hash whose verification takes long."""
    new_hash = _new_hash(case)
    seconds = context.service.hasher.seconds_if_expensive(new_hash) if new_hash else 0.0
    if seconds <= MAX_HASH_SECONDS:
        return ()
    return (
        RowProblem(
            error_code="password_hash.dear",
            field=_HASH,
            message=f"takes about {seconds:.1f} s to verify, until the first sign-in replaces it",
            fix="There is nothing to do if few users sign in with such hashes at the same time.",
            is_error=False,
        ),
    )


def _warnings(row: PackagedHuman) -> tuple[RowProblem, ...]:
    if not row.request_passwordless_registration:
        return ()
    message = "is ignored: no link is sent"
    return (
        upsert.not_stored("factor.unsupported", "user.requestPasswordlessRegistration", message),
    )


KINDS: Final = (
    RowKind(
        member="humanUsers",
        type="human_user",
        request=HumanRow,
        name=named("userId"),
        identity=("userId",),
        plan=plan_rows,
        is_independent=True,
        export=export,
    ),
)
