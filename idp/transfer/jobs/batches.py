"""Processing of a batch of rows: each is read, planned (the writes that it needs are determined)
and stored, independently of the others.

A unit that conflicts with another write (another import, a registration, a row of its own batch)
is planned again by the new state. So a row is refused only for a lasting reason, and if several
rows need the same unique value, the first one in the package gets it, also in a dry run.
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
from idp.transfer.package.rows import Action, ParsedRow, Row, RowPlan, RowProblem, problem, refused
from storage import Conflict, Insert, InvalidValue, Outcome, Stale, Unknown, Update, Write

_Key = tuple[str, str, object]

MAX_PROBLEMS: Final = 20  # of one row
MAX_NAME: Final = 500  # of a row that can't be read
_MAX_ROUNDS_WITHOUT_PROGRESS: Final = 16  # in which no row of a batch is stored
_PAUSE_SECONDS: Final = 0.02  # after the first of them, and multiplied by their number after each
_UNKNOWN_FIELD: Final = "field.unknown"


class ProcessedRow(Struct, frozen=True, kw_only=True):
    """A row of a package with its outcome: the action that was carried out, the `id` that names
    the record in reports, and the problems of the row.

    `type` is the name of the row's kind in reports. A composite id has several `parts`.
    """

    row: Row
    type: str
    action: Action
    id: str
    parts: tuple[str, ...] = ()
    problems: tuple[RowProblem, ...] = ()

    def job_problems(self, job_id: str) -> list[JobProblem]:
        """Returns the problems of the row, at most twenty, as new records of the job's report; the
        caller stores them.
        """
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
                is_error=row_problem.is_error,
                error_code=row_problem.error_code,
                field=row_problem.field,
                message=row_problem.message,
                fix=row_problem.fix,
            )
            for n, row_problem in enumerate(self.problems[:MAX_PROBLEMS])
        ]


class RowOutcome(Struct, frozen=True):
    """The first plans of a batch's readable rows, by row number.

    Rows in `finished_plans` need no write, rows in `to_store` have writes. A row whose writes
    would collide with those of an earlier row is in neither, and is planned again once that row is
    stored.
    """

    finished_plans: Mapping[int, RowPlan] = {}
    to_store: Mapping[int, RowPlan] = {}


class PlannedRows(Struct, frozen=True, kw_only=True):
    """Rows of one kind that were parsed and planned, and are not stored yet.

    `unreadable` has the plans of the rows that are refused because they can't be parsed, and
    `warnings` the warnings of the others, both by row number. `parsed_rows` are these others, and
    `outcome` has their plans.
    """

    rows: Sequence[Row]
    kind: RowKind | None
    unreadable: Mapping[int, RowPlan] = {}
    warnings: Mapping[int, Sequence[RowProblem]] = {}
    parsed_rows: Sequence[ParsedRow] = ()
    outcome: RowOutcome = RowOutcome()


async def process(context: ImportContext, rows: Sequence[Row]) -> list[ProcessedRow]:
    """Plans and stores rows of one kind, and returns their outcomes in the order of the rows.

    Raises Unavailable if the store can't be reached.
    """
    planned = await plan(context, rows)
    return await outcomes(planned, await store(context, planned))


async def plan(context: ImportContext, rows: Sequence[Row]) -> PlannedRows:
    """Parses rows of one kind, and determines by the current state of the store which writes each
    needs. Nothing is stored until the caller passes the result to `store`.

    Raises Unavailable if the store can't be reached.
    """
    kind = kinds.BY_MEMBER.get(rows[0].member)
    if kind is None or kind.request is None or kind.plan is None:
        return PlannedRows(rows=rows, kind=kind)
    unreadable: dict[int, RowPlan] = {}
    parsed_rows: list[ParsedRow] = []
    warnings: dict[int, list[RowProblem]] = {}
    async for row in in_turns(rows):
        parsed, problems = _read(context, kind, row)
        if parsed is None:
            unreadable[row.number] = refused(_name(kind, row), *problems)
        else:
            warnings[row.number] = problems
            parsed_rows.append(parsed)
    return PlannedRows(
        rows=rows,
        kind=kind,
        unreadable=unreadable,
        warnings=warnings,
        parsed_rows=parsed_rows,
        outcome=await _plan_readable(context, kind, parsed_rows),
    )


async def store(context: ImportContext, planned: PlannedRows) -> dict[int, RowPlan]:
    """Stores the readable ones of planned rows, and plans those again whose writes conflict with
    others; returns by row number the plan that was carried out for each.

    Raises Unavailable when the store can't be reached: some rows may be stored then, and are
    recognized when they are processed again.
    """
    if planned.kind is None or planned.kind.plan is None:
        return {}
    return await _store_rounds(context, planned.kind, planned)


async def outcomes(planned: PlannedRows, stored: Mapping[int, RowPlan]) -> list[ProcessedRow]:
    """Returns the outcomes of planned rows, refused and unsupported ones included, in the order of
    the rows.

    `stored` is what `store` returned for them.
    """
    kind = planned.kind
    if kind is None or kind.plan is None:
        return [_unsupported(row, kind) for row in planned.rows]
    plans = {**planned.unreadable, **stored}
    return [
        _processed(row, kind, plans[row.number], planned.warnings.get(row.number, ()))
        async for row in in_turns(planned.rows)
    ]


def _processed(
    row: Row, kind: RowKind, row_plan: RowPlan, warnings: Sequence[RowProblem]
) -> ProcessedRow:
    problems = (*row_plan.problems, *warnings)
    if row_plan.action != "fail":
        problems = tuple(structs.replace(row_problem, is_error=False) for row_problem in problems)
    return ProcessedRow(
        row=row,
        type=kind.type,
        action=row_plan.action,
        id=row_plan.id,
        parts=row_plan.parts or (row_plan.id,),
        problems=problems,
    )


def _unsupported(row: Row, kind: RowKind | None) -> ProcessedRow:
    message = (kind.unsupported if kind else "") or (
        "this service doesn't support rows of this kind"
    )
    warning = RowProblem(
        error_code="import.unsupported",
        message=message,
        fix="Set it up by hand if you need it.",
        is_error=False,
    )
    row_type = kind.type if kind else row.member
    name = _name(kind, row) if kind else ""
    problems = (
        *(structs.replace(row_problem, is_error=False) for row_problem in row.broken),
        warning,
    )
    return ProcessedRow(row=row, type=row_type, action="skip", id=name, problems=problems)


def _read(
    context: ImportContext, kind: RowKind, row: Row
) -> tuple[ParsedRow | None, list[RowProblem]]:
    """Returns the row as its kind reads it, with warnings; or None, with its errors."""
    if row.broken:
        return None, list(row.broken)
    assert kind.request is not None  # noqa: S101 - for mypy
    document, corrections = row.document, list[RowProblem]()
    if context.job.options.mends:
        # Before `adapt`, which would remove values that can be corrected.
        document, corrections = autofix.corrected(kind.request, document)
    document, adapted = kind.adapt(document) if kind.adapt else (document, [])
    request, field_problems = reading.collect(kind.request, document)
    problems = (
        [problem(each, is_error=each.error_code != _UNKNOWN_FIELD) for each in field_problems]
        + adapted
        + corrections
    )
    if any(each.is_error for each in problems):
        return None, problems
    return ParsedRow(row, request), problems


def _name(kind: RowKind, row: Row) -> str:
    """Returns the name of a row that can't be read, if it has one."""
    name = kind.name(row.document) if isinstance(row.document, dict) else ""
    return name[:MAX_NAME] if isinstance(name, str) else ""


async def _store_rounds(
    context: ImportContext, kind: RowKind, planned: PlannedRows
) -> dict[int, RowPlan]:
    """Returns the outcomes of readable rows, by their numbers. Raises Unavailable."""
    parsed_rows, outcome = planned.parsed_rows, planned.outcome
    finished_plans: dict[int, RowPlan] = {}
    refused_once: set[int] = set()
    rounds_without_progress = 0
    while parsed_rows and rounds_without_progress < _MAX_ROUNDS_WITHOUT_PROGRESS:
        finished = await _round(context, outcome)
        # Progress of any row resets the limit, which is for rows that others keep changing.
        rounds_without_progress = 0 if finished else rounds_without_progress + 1
        finished_plans |= _without_first_refusals(finished, refused_once)
        parsed_rows = [parsed for parsed in parsed_rows if parsed.row.number not in finished_plans]
        if parsed_rows and rounds_without_progress:
            await asyncio.sleep(_PAUSE_SECONDS * rounds_without_progress)
        outcome = await _plan_readable(context, kind, parsed_rows)
    return finished_plans | {
        parsed.row.number: _conflicts_too_often(kind, parsed) for parsed in parsed_rows
    }


def _without_first_refusals(
    finished: Mapping[int, RowPlan], refused_once: set[int]
) -> dict[int, RowPlan]:
    """Returns the outcomes without those that are refused for the first time.

    These are planned once more: the conflicting record may be the same row, which another import
    stored between two look-ups.
    """
    refused = {
        number for number, row_plan in finished.items() if row_plan.action == "fail"
    } - refused_once
    refused_once |= refused
    return {number: row_plan for number, row_plan in finished.items() if number not in refused}


async def _plan_readable(
    context: ImportContext, kind: RowKind, parsed_rows: Sequence[ParsedRow]
) -> RowOutcome:
    """Plans readable rows by the current state of the store. Raises Unavailable."""
    if not parsed_rows:
        return RowOutcome()
    assert kind.plan is not None  # noqa: S101 - for mypy
    plans = await import_origin.with_origins(
        context, parsed_rows, await kind.plan(context, parsed_rows)
    )
    finished_plans: dict[int, RowPlan] = {}
    to_store: dict[int, RowPlan] = {}
    written_keys: set[_Key] = set()
    async for parsed, row_plan in in_turns(zip(parsed_rows, plans, strict=True)):
        keys = {key for write in row_plan.writes for key in _keys(write)}
        if not row_plan.writes:
            finished_plans[parsed.row.number] = row_plan
        elif written_keys.isdisjoint(keys):
            to_store[parsed.row.number] = _prepared(context, row_plan)
        # Of rows with the same keys, the later ones are planned again after the first.
        written_keys |= keys
    return RowOutcome(finished_plans, to_store)


def _prepared(context: ImportContext, row_plan: RowPlan) -> RowPlan:
    """Prepares the writes as far as possible before they are stored."""
    return structs.replace(row_plan, writes=context.service.store.prepare(row_plan.writes))


async def _round(context: ImportContext, planned: RowOutcome) -> dict[int, RowPlan]:
    """Stores the planned rows; returns the final outcomes by number. Raises Unavailable."""
    finished_plans, to_store = dict(planned.finished_plans), planned.to_store
    outcomes = await context.service.store.commit_each(
        [row_plan.writes for row_plan in to_store.values()]
    )
    for (number, row_plan), outcome in zip(to_store.items(), outcomes, strict=True):
        final_plan = _outcome(row_plan, outcome)
        if final_plan is not None:
            finished_plans[number] = final_plan
    return finished_plans


def _outcome(row_plan: RowPlan, outcome: Outcome) -> RowPlan | None:
    """Returns the outcome of a unit; None when it has to be planned again. Raises StorageError."""
    if outcome is None:
        return row_plan
    if isinstance(outcome, InvalidValue):
        return refused(row_plan.id, _unstorable())
    # Unknown, too: the next plan finds the record if it was stored.
    if isinstance(outcome, Conflict | Stale | Unknown):
        return None
    raise outcome


def _keys(write: Write) -> Iterator[_Key]:
    """Yields the keys that only one unit at a time can write.

    An update without values is a guard; units with the same guard do not collide.
    """
    if isinstance(write, Update) and not (write.set or write.increment):
        return
    name = write.collection.name
    yield name, "id", write.id
    if isinstance(write, Insert):
        for field in write.collection.unique:
            yield name, field, getattr(write.record, field)


def _unstorable() -> RowProblem:
    return RowProblem(
        error_code="import.unstorable",
        message="has too many or invalid characters",
        fix="Shorten it.",
    )


def _conflicts_too_often(kind: RowKind, parsed: ParsedRow) -> RowPlan:
    problem = RowProblem(
        error_code="import.contention",
        message="other calls kept changing the same record",
        fix="Import the package again: existing records stay the same.",
    )
    return refused(_name(kind, parsed.row), problem)
