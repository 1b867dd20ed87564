"""Planning of a row whose record may exist: created, updated where it differs, or skipped.

Fields that the row does not have remain unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from msgspec import Struct, structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.transfer.kinds.kind import ImportContext, import_payload
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, refused
from storage import Collection, Record, Write

R = TypeVar("R", bound=Record)

_RECORDS_PER_LOOKUP: Final = 1000


def _no_writes(*records: Any) -> Sequence[Write]:
    return ()


def no_payload(*records: Any) -> Mapping[str, str]:
    """Returns the payload of events that state nothing of a change."""
    return {}


class UpsertPlan(Struct, frozen=True, kw_only=True):
    """The record that a row describes, and how its creation or update is recorded.

    `id` names it in reports; `type` is the first part of the types of its events. An update sets
    only `fields`, those that the row has. `further_writes` returns further writes for the same
    unit; it gets the record before (None if it is created) and after. `org_id` is the organization
    of a record that has no such field, `payload` is added to the creation event, and what
    `change_payload` returns of the record before and after to the event of an update; `warnings`
    are reported with the row.
    """

    id: str
    collection: Collection[Any]
    record: Any
    type: str
    fields: tuple[str, ...] = ()
    further_writes: Callable[[Any, Any], Sequence[Write]] = _no_writes
    org_id: str | None = None
    payload: Mapping[str, str] = {}
    change_payload: Callable[[Any, Any], Mapping[str, str]] = no_payload
    warnings: tuple[RowProblem, ...] = ()


async def by_id(
    context: ImportContext, collection: Collection[R], ids: Iterable[str]
) -> dict[str, R]:
    """Returns the records with these ids, as a dict by id; an id without a record is omitted."""
    unique_ids, records = list(dict.fromkeys(ids)), list[R | None]()
    for start in range(0, len(unique_ids), _RECORDS_PER_LOOKUP):
        part = unique_ids[start : start + _RECORDS_PER_LOOKUP]
        records += await context.service.store.get_many(
            [(collection, record_id) for record_id in part]
        )
    return {record.id: record for record in records if record is not None}


def plan_record(
    context: ImportContext, parsed: ParsedRow, stored: Any | None, plan: UpsertPlan
) -> RowPlan:
    """Returns the plan of a row that describes the record in `plan`: it is created if the existing
    record `stored` is None, updated if it differs and the import updates records, and otherwise
    skipped.
    """
    if stored is None:
        return plan_creation(context, parsed, plan)
    values = {
        name: value
        for name in plan.fields
        if (value := getattr(plan.record, name)) != getattr(stored, name)
    }
    # An update without differences would only add an event.
    if not context.updates or not values:
        return plan_skip(plan.collection, stored, plan.id)
    return plan_update(context, parsed, stored, plan, values)


def plan_creation(context: ImportContext, parsed: ParsedRow, plan: UpsertPlan) -> RowPlan:
    """Returns the row plan that inserts the record of `plan`, with its creation event and the
    further writes of `plan.further_writes`.

    The event names the import and the row `parsed`.
    """
    record, now = plan.record, context.service.clock.now()
    entry = AuditEntry(
        f"{plan.type}.created",
        context.actor,
        now,
        plan.org_id,
        payload={**plan.payload, **import_payload(context, parsed)},
    )
    insertion = events.insertion(context.service.random, plan.collection, record, entry)
    writes = (*insertion, *plan.further_writes(None, record))
    return RowPlan(action="create", id=plan.id, writes=writes, problems=plan.warnings)


def plan_update(
    context: ImportContext,
    parsed: ParsedRow,
    stored: Any,
    plan: UpsertPlan,
    values: Mapping[str, object],
) -> RowPlan:
    """Returns the row plan that sets the fields `values` of the existing record `stored`, with the
    event of the change and the further writes of `plan.further_writes`.

    The event names the import and the row `parsed`.
    """
    now = context.service.clock.now()
    dated = {**values, "changed_at": now}
    # The record after the update: further writes of the unit depend on it.
    after = structs.replace(stored, **dated, sequence=stored.sequence + 1)
    entry = AuditEntry(
        f"{plan.type}.changed",
        context.actor,
        now,
        plan.org_id,
        payload={**plan.change_payload(stored, after), **import_payload(context, parsed)},
    )
    update = events.update(context.service.random, plan.collection, stored, dated, entry)
    writes = (*update, *plan.further_writes(stored, after))
    return RowPlan(
        action="update",
        id=plan.id,
        writes=writes,
        problems=plan.warnings,
        existing=(plan.collection, stored),
    )


def plan_skip(collection: Collection[Any], stored: Any, row_id: str) -> RowPlan:
    """Returns the plan of a row that leaves the existing record `stored` of a collection as it is.
    `row_id` names the row in reports.
    """
    return RowPlan(action="skip", id=row_id, existing=(collection, stored))


def not_in_organization(row_id: str, field: str) -> RowPlan:
    """Returns the plan that refuses a row because its id belongs to a record of another
    organization or of another kind.

    `row_id` names the row in reports, and `field` is the field that holds the id.
    """
    return refused(
        row_id,
        RowProblem(
            error_code="id.elsewhere",
            field=field,
            message=(
                "is the ID of another kind of record or of a record of another organization here"
            ),
            fix="Give it another ID in the package, wherever it is used.",
        ),
    )


_FIX_MISSING: Final = "Put it into the package as well, or create it first."


def user_not_found(field: str) -> RowProblem:
    """Returns the problem of a row whose `field` names a user who does not exist in the
    organization.
    """
    message = "is not a user of the organization"
    return RowProblem(error_code="user.not_found", field=field, message=message, fix=_FIX_MISSING)


def project_not_found(field: str) -> RowProblem:
    """Returns the problem of a row whose `field` names a project that does not exist in the
    organization.
    """
    message = "is not a project of the organization"
    return RowProblem(
        error_code="project.not_found", field=field, message=message, fix=_FIX_MISSING
    )


def application_not_found(field: str) -> RowProblem:
    """Returns the problem of a row whose `field` names an application that does not exist in the
    organization.
    """
    message = "is not an application of the organization"
    return RowProblem(error_code="app.not_found", field=field, message=message, fix=_FIX_MISSING)


def not_stored(error_code: str, field: str, message: str) -> RowProblem:
    """Returns the warning that the value of one `field` of a row is not stored, although the row
    is.
    """
    fix = "There is nothing to do if no user depends on it."
    return RowProblem(error_code=error_code, field=field, message=message, fix=fix, is_error=False)
