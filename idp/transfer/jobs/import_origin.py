"""The import and the row that created a record, according to the record's creation event.

An interrupted batch is planned again and finds its own records: they are reported as created. A
second row of one id finds the record of the first one, and is a duplicate. It is a duplicate also
where the record existed before the import: otherwise a second import of the package would have
another result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import structs

from idp.records import EVENTS
from idp.transfer.kinds.kind import ImportContext, import_payload
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, refused
from storage import Collection, Cursor

# The tolerated difference between the clocks of two processes.
_CLOCK_TOLERANCE: Final = timedelta(minutes=10)


async def with_origins(
    context: ImportContext, parsed_rows: Sequence[ParsedRow], row_plans: Sequence[RowPlan]
) -> list[RowPlan]:
    """Returns the plans `row_plans` of the rows in `parsed_rows`, in the same order, with those
    changed whose record was created by this import, according to the record's creation event.

    If the same row created it, before an interruption, the plan reports it as created and has no
    writes. If an earlier row did, the plan refuses the row as a duplicate.
    """
    plans = list(row_plans)
    existing = [
        (n, plan.existing) for n, plan in enumerate(row_plans) if plan.existing is not None
    ]
    candidates = [(n, each) for n, each in existing if _may_be_of_import(context, each[1])]
    payloads = await asyncio.gather(
        *(_origin(context, collection, record.id) for _, (collection, record) in candidates)
    )
    origins = dict(zip((n for n, _ in candidates), payloads, strict=True))
    for n, _ in existing:
        plans[n] = _with_origin(context, parsed_rows[n], row_plans[n], origins.get(n, {}))
    return plans


async def was_created_by_import(
    context: ImportContext, collection: Collection[Any], record_id: str
) -> bool:
    """Returns whether the record `record_id` of a collection was created by a row of this
    import."""
    return (await _origin(context, collection, record_id)).get("import") == context.job.id


def _with_origin(
    context: ImportContext, parsed: ParsedRow, row_plan: RowPlan, origin: dict[str, str]
) -> RowPlan:
    row_origin, first = import_payload(context, parsed), parsed.row.duplicate_of
    if origin.get("import") != row_origin["import"]:
        return row_plan if first is None else refused(row_plan.id, _duplicate(str(first)))
    if origin["row"] == row_origin["row"]:
        # Stored by this job before it was interrupted.
        return structs.replace(row_plan, action="create", writes=())
    return refused(row_plan.id, _duplicate(origin["row"]))


def _may_be_of_import(context: ImportContext, record: Any) -> bool:
    """Returns whether the record is not older than the import. Most are older and need no
    query."""
    created_at = getattr(record, "created_at", None)
    return created_at is None or created_at >= _since(context)


def _since(context: ImportContext) -> datetime:
    return context.job.created_at - _CLOCK_TOLERANCE


async def _origin(
    context: ImportContext, collection: Collection[Any], record_id: str
) -> dict[str, str]:
    """Returns the payload of a record's latest creation event; empty if that is older than the
    import.
    """
    after: Cursor | None = None
    while True:
        page = await context.service.store.find(
            EVENTS, {"record_id": record_id}, order="at", descending=True, after=after
        )
        for event in page.records:
            if event.at < _since(context):
                return {}
            if event.sequence == 1 and event.collection == collection.name:
                return dict(event.payload)
        if page.after is None:
            return {}
        after = page.after


def _duplicate(row: str) -> RowProblem:
    return RowProblem(
        error_code="import.double",
        message=f"row {row} of the package is the same",
        fix="Leave one of the two out of the package.",
    )
