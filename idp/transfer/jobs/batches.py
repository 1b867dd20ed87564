"""What becomes of a batch of rows: read, judged, stored; each for itself, whatever the others do.

A unit that meets somebody (another import, a sign-up, a row of its own batch) is judged again by
what is there now. So a row is refused only for what truly stands against it, and of rows that
want the same the first one in the package gets it, in a dry run as in earnest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, structs

from idp.foundation.cooperative import in_turns
from idp.records.jobs import JobProblem
from idp.schema import reading
from idp.transfer import kinds
from idp.transfer.jobs import import_origin
from idp.transfer.kinds.kind import ImportContext, RowKind
from idp.transfer.package import autofix
from idp.transfer.package.rows import Action, PreparedRow, Read, Row, RowProblem, problem, refused
from storage import Conflict, Insert, InvalidValue, Outcome, Stale, Unknown, Update, Write

_Key = tuple[str, str, object]

MAX_PROBLEMS: Final = 20  # of one row
MAX_NAME: Final = 500  # of a row that can't be read
_VAIN_ROUNDS: Final = 16  # in which nobody of a batch gets in
_PAUSE_SECONDS: Final = 0.02  # after the first of them, and so much more after each
_UNKNOWN_FIELD: Final = "field.unknown"


class Settled(Struct, frozen=True, kw_only=True):
    """A row, and what became of it."""

    row: Row
    type: str
    action: Action
    id: str
    parts: tuple[str, ...] = ()
    problems: tuple[RowProblem, ...] = ()

    def told(self, job_id: str) -> list[JobProblem]:
        """Its problems as they are kept for the report."""
        key = f"{self.row.number:012}"
        return [
            JobProblem(
                id=f"{job_id}.{key}.{n:02}",
                job_id=job_id,
                key=f"{key}.{n:02}",
                row=self.row.number,
                path=self.row.path,
                type=self.type,
                record_id=self.id,
                is_error=one.is_error,
                slug=one.slug,
                field=one.field,
                message=one.message,
                fix=one.fix,
            )
            for n, one in enumerate(self.problems[:MAX_PROBLEMS])
        ]


class RowOutcome(Struct, frozen=True):
    """How readable rows stand to what is stored, by their numbers: `settled` without storing
    anything, or `going` to be stored. No two that go write the same; who is in neither waits."""

    settled: Mapping[int, PreparedRow] = {}
    going: Mapping[int, PreparedRow] = {}


class PlannedRows(Struct, frozen=True, kw_only=True):
    """Rows of one kind before anything of them is stored: those that can't be read, by their
    numbers, and how the others stand."""

    rows: Sequence[Row]
    kind: RowKind | None
    unreadable: Mapping[int, PreparedRow] = {}
    warnings: Mapping[int, Sequence[RowProblem]] = {}
    reads: Sequence[Read] = ()
    standing: RowOutcome = RowOutcome()


async def settle(taking: ImportContext, rows: Sequence[Row]) -> list[Settled]:
    """What became of each of these rows, which are of one kind. Raises Unavailable."""
    judged = await judge(taking, rows)
    return await told(judged, await store(taking, judged))


async def judge(taking: ImportContext, rows: Sequence[Row]) -> PlannedRows:
    """How these rows, which are of one kind, stand to what is stored. Raises Unavailable."""
    kind = kinds.BY_MEMBER.get(rows[0].member)
    if kind is None or kind.request is None or kind.prepare is None:
        return PlannedRows(rows=rows, kind=kind)
    unreadable: dict[int, PreparedRow] = {}
    reads: list[Read] = []
    warnings: dict[int, list[RowProblem]] = {}
    async for row in in_turns(rows):
        read, problems = _read(taking, kind, row)
        if read is None:
            unreadable[row.number] = refused(_name(kind, row), *problems)
        else:
            warnings[row.number] = problems
            reads.append(read)
    return PlannedRows(
        rows=rows,
        kind=kind,
        unreadable=unreadable,
        warnings=warnings,
        reads=reads,
        standing=await _standing(taking, kind, reads),
    )


async def store(taking: ImportContext, judged: PlannedRows) -> dict[int, PreparedRow]:
    """Store what can be stored of them; what became of each that could be judged, by its number.

    Raises Unavailable when the store can't be reached: then some rows may be stored, and are
    recognised when they come again.
    """
    if judged.kind is None or judged.kind.prepare is None:
        return {}
    return await _stored(taking, judged.kind, judged)


async def told(judged: PlannedRows, stored: Mapping[int, PreparedRow]) -> list[Settled]:
    """What became of each row, once they are stored."""
    kind = judged.kind
    if kind is None or kind.prepare is None:
        return [_unsupported(row, kind) for row in judged.rows]
    outcomes = {**judged.unreadable, **stored}
    return [
        _settled(row, kind, outcomes[row.number], judged.warnings.get(row.number, ()))
        async for row in in_turns(judged.rows)
    ]


def _settled(
    row: Row, kind: RowKind, done: PreparedRow, warnings: Sequence[RowProblem]
) -> Settled:
    problems = (*done.problems, *warnings)
    if done.action != "fail":
        problems = tuple(structs.replace(one, is_error=False) for one in problems)
    return Settled(
        row=row,
        type=kind.type,
        action=done.action,
        id=done.id,
        parts=done.parts or (done.id,),
        problems=problems,
    )


def _unsupported(row: Row, kind: RowKind | None) -> Settled:
    told = (kind.unsupported if kind else "") or "this service has nothing of this kind"
    warning = RowProblem(
        slug="import.unsupported",
        message=told,
        fix="Set up by hand what is needed of it.",
        is_error=False,
    )
    type = kind.type if kind else row.member
    name = _name(kind, row) if kind else ""
    problems = (*(structs.replace(one, is_error=False) for one in row.broken), warning)
    return Settled(row=row, type=type, action="skip", id=name, problems=problems)


def _read(taking: ImportContext, kind: RowKind, row: Row) -> tuple[Read | None, list[RowProblem]]:
    """The row as its kind reads it, with warnings; None, with what is wrong with it."""
    if row.broken:
        return None, list(row.broken)
    assert kind.request is not None  # noqa: S101 - told to mypy
    document, slips = row.document, list[RowProblem]()
    if taking.job.options.mends:
        document, slips = autofix.mended(kind.request, document)
    document, eased = kind.ease(document) if kind.ease else (document, [])
    request, found = reading.collect(kind.request, document)
    problems = [problem(one, is_error=one.slug != _UNKNOWN_FIELD) for one in found] + eased + slips
    if any(one.is_error for one in problems):
        return None, problems
    return Read(row, request), problems


def _name(kind: RowKind, row: Row) -> str:
    """What a row that can't be read is called, if that can be told."""
    found = kind.name(row.document) if isinstance(row.document, dict) else ""
    return found[:MAX_NAME] if isinstance(found, str) else ""


async def _stored(
    taking: ImportContext, kind: RowKind, judged: PlannedRows
) -> dict[int, PreparedRow]:
    """What became of readable rows, by their numbers. Raises Unavailable."""
    reads, standing = judged.reads, judged.standing
    done: dict[int, PreparedRow] = {}
    doubted: set[int] = set()
    vain = 0
    while reads and vain < _VAIN_ROUNDS:
        settled = await _round(taking, standing)
        vain = 0 if settled else vain + 1
        done |= _certain(settled, doubted)
        reads = [read for read in reads if read.row.number not in done]
        if reads and vain:
            await asyncio.sleep(_PAUSE_SECONDS * vain)
        standing = await _standing(taking, kind, reads)
    return done | {read.row.number: _pushed_aside(kind, read) for read in reads}


def _certain(settled: Mapping[int, PreparedRow], doubted: set[int]) -> dict[int, PreparedRow]:
    """Those that are not refused for the first time. Others are judged once more: what stood
    against them may be the same row, which another import stored between two look-ups."""
    refused = {number for number, one in settled.items() if one.action == "fail"} - doubted
    doubted |= refused
    return {number: one for number, one in settled.items() if number not in refused}


async def _standing(taking: ImportContext, kind: RowKind, reads: Sequence[Read]) -> RowOutcome:
    """How readable rows stand to what is stored now. Raises Unavailable."""
    if not reads:
        return RowOutcome()
    assert kind.prepare is not None  # noqa: S101 - told to mypy
    judged = await import_origin.judged(taking, reads, await kind.prepare(taking, reads))
    settled: dict[int, PreparedRow] = {}
    going: dict[int, PreparedRow] = {}
    taken: set[_Key] = set()
    async for read, one in in_turns(zip(reads, judged, strict=True)):
        keys = {key for write in one.writes for key in _keys(write)}
        if not one.writes:
            settled[read.row.number] = one
        elif taken.isdisjoint(keys):
            going[read.row.number] = _ready(taking, one)
        taken |= keys  # of those who want the same, the others are judged again behind the first
    return RowOutcome(settled, going)


def _ready(taking: ImportContext, prepared: PreparedRow) -> PreparedRow:
    """What can be done of storing it before its turn."""
    return structs.replace(prepared, writes=taking.service.store.ready(prepared.writes))


async def _round(taking: ImportContext, standing: RowOutcome) -> dict[int, PreparedRow]:
    """Store what goes: what came of those rows that it is settled for, by their numbers.

    Raises Unavailable.
    """
    done, going = dict(standing.settled), standing.going
    outcomes = await taking.service.store.commit_each([one.writes for one in going.values()])
    for (number, one), outcome in zip(going.items(), outcomes, strict=True):
        settled = _outcome(one, outcome)
        if settled is not None:
            done[number] = settled
    return done


def _outcome(prepared: PreparedRow, outcome: Outcome) -> PreparedRow | None:
    """What came of a unit; None when it has to be judged again. Raises StorageError."""
    if outcome is None:
        return prepared
    if isinstance(outcome, InvalidValue):
        return refused(prepared.id, _unstorable())
    if isinstance(outcome, Conflict | Stale | Unknown):
        return None
    raise outcome


def _keys(write: Write) -> Iterator[_Key]:
    """What only one unit at a time can write; a guard changes nothing, and bears others."""
    if isinstance(write, Update) and not (write.set or write.increment):
        return
    name = write.collection.name
    yield name, "id", write.id
    if isinstance(write, Insert):
        for field in write.collection.unique:
            yield name, field, getattr(write.record, field)


def _unstorable() -> RowProblem:
    return RowProblem(
        slug="import.unstorable",
        message="holds more, or other characters, than a record can",
        fix="Shorten it.",
    )


def _pushed_aside(kind: RowKind, read: Read) -> PreparedRow:
    problem = RowProblem(
        slug="import.contention",
        message="others changed the same all the time",
        fix="Import the package again: what is there already is left alone.",
    )
    return refused(_name(kind, read.row), problem)
