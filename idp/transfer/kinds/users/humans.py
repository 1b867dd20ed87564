"""`humanUsers`: persons, with the ids and the passwords that they have in another system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import structs

from idp.foundation.errors import FieldProblem
from idp.identity.users import creation as user_creation
from idp.records import Organization, User
from idp.transfer.kinds import upsert
from idp.transfer.kinds.kind import ImportContext, RowKind
from idp.transfer.kinds.packaged_ids import named
from idp.transfer.kinds.users import human_changes, plain_passwords, user_rows
from idp.transfer.kinds.users.export_humans import tell
from idp.transfer.kinds.users.human_request import HumanRow, PackagedHuman
from idp.transfer.kinds.users.user_rows import Case, RowPassword, Rules
from idp.transfer.package.rows import PreparedRow, Read, RowProblem


async def prepare(taking: ImportContext, reads: Sequence[Read]) -> list[PreparedRow]:
    """Plans persons: new ones are created; existing ones are skipped, or with
    `updates` updated.
    """
    return await user_rows.prepare(taking, reads, _RULES)


def _row(read: Read) -> PackagedHuman:
    assert isinstance(read.request, HumanRow)  # noqa: S101 - for mypy
    return read.request.user


def _new(taking: ImportContext, home: Organization, read: Read) -> User:
    service, row = taking.service, _row(read)
    assert isinstance(read.request, HumanRow)  # noqa: S101 - for mypy
    now, id = service.clock.now(), read.request.user_id
    new = structs.replace(row.person(), id=id, password=row.hashed(now))
    user = user_creation.user_of(service, home, new, now)
    if user.totp is not None:
        user.totp.name = row.otp_name
    return user


def _wanted(taking: ImportContext, known: User, read: Read) -> Mapping[str, object]:
    return human_changes.wanted(taking.service, known, _row(read))


def _judge(taking: ImportContext, case: Case) -> list[FieldProblem]:
    """Returns the problems of a new hash that is too weak; a hash that is stored already is not
    checked.
    """
    sent = case.after.password
    known = case.known.password if case.known else None
    if sent is None or (known is not None and known.hash == sent.hash):
        return []
    return user_creation.hash_problems(taking.service, "user.hashedPassword.value", sent.hash)


async def _choose(taking: ImportContext, case: Case) -> RowPassword | None:
    return await plain_passwords.chosen(taking, case, _row(case.read))


def _warnings(read: Read) -> tuple[RowProblem, ...]:
    if not _row(read).request_passwordless_registration:
        return ()
    message = "is not honoured: no link is sent"
    return (upsert.unheld("factor.unsupported", "user.requestPasswordlessRegistration", message),)


_RULES: Final = Rules(
    kind="human", new=_new, wanted=_wanted, judge=_judge, choose=_choose, warnings=_warnings
)
KINDS: Final = (
    RowKind(
        member="humanUsers",
        type="human_user",
        request=HumanRow,
        name=named("userId"),
        identity=("userId",),
        prepare=prepare,
        stands_alone=True,
        tell=tell,
    ),
)
