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


def _nothing(*records: Any) -> Sequence[Write]:
    return ()


class UpsertPlan(Struct, frozen=True, kw_only=True):
    """The record that a row describes, and how its creation or update is recorded.

    `id` names it in reports; `type` is the first part of the types of its events. An update sets
    only `fields`, those that the row has. `also` returns further writes for the same unit; it gets
    the record before (None if it is created) and after. `org_id` is the organization of a record
    that has no such field, `payload` is added to the creation event, and `warnings` are reported
    with the row.
    """

    id: str
    collection: Collection[Any]
    record: Any
    type: str
    fields: tuple[str, ...] = ()
    also: Callable[[Any, Any], Sequence[Write]] = _nothing
    org_id: str | None = None
    payload: Mapping[str, str] = {}
    warnings: tuple[RowProblem, ...] = ()


async def by_id(
    context: ImportContext, collection: Collection[R], ids: Iterable[str]
) -> dict[str, R]:
    """Returns the records with these ids, as a dict by id; an id without a record is left out."""
    asked, records = list(dict.fromkeys(ids)), list[R | None]()
    for start in range(0, len(asked), _RECORDS_PER_LOOKUP):
        part = asked[start : start + _RECORDS_PER_LOOKUP]
        records += await context.service.store.get_many([(collection, id) for id in part])
    return {record.id: record for record in records if record is not None}


def plan_record(
    context: ImportContext, parsed: ParsedRow, known: Any | None, plan: UpsertPlan
) -> RowPlan:
    """Returns the plan of a row that describes the record in `plan`: it is created if the existing
    record `known` is None, updated if it differs and the import updates records, and otherwise
    skipped.
    """
    if known is None:
        return plan_creation(context, parsed, plan)
    values = {
        name: value
        for name in plan.fields
        if (value := getattr(plan.record, name)) != getattr(known, name)
    }
    # An update without differences would only add an event.
    if not context.updates or not values:
        return plan_skip(plan.collection, known, plan.id)
    return plan_update(context, parsed, known, plan, values)


def plan_creation(context: ImportContext, parsed: ParsedRow, plan: UpsertPlan) -> RowPlan:
    """Returns the row plan that inserts the record of `plan`, with its creation event and the
    further writes of `plan.also`.

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
    writes = (*insertion, *plan.also(None, record))
    return RowPlan(action="create", id=plan.id, writes=writes, problems=plan.warnings)


def plan_update(
    context: ImportContext,
    parsed: ParsedRow,
    known: Any,
    plan: UpsertPlan,
    values: Mapping[str, object],
) -> RowPlan:
    """Returns the row plan that sets the fields `values` of the existing record `known`, with the
    event of the change and the further writes of `plan.also`.

    The event names the import and the row `parsed`.
    """
    now = context.service.clock.now()
    dated = {**values, "changed_at": now}
    entry = AuditEntry(
        f"{plan.type}.changed",
        context.actor,
        now,
        plan.org_id,
        payload=import_payload(context, parsed),
    )
    update = events.update(context.service.random, plan.collection, known, dated, entry)
    # As it will be stored: further writes of the unit depend on it.
    after = structs.replace(known, **dated, sequence=known.sequence + 1)
    writes = (*update, *plan.also(known, after))
    return RowPlan(
        action="update",
        id=plan.id,
        writes=writes,
        problems=plan.warnings,
        existing=(plan.collection, known),
    )


def plan_skip(collection: Collection[Any], known: Any, id: str) -> RowPlan:
    """Returns the plan of a row that leaves the existing record `known` of a collection as it is.
    `id` names the row in reports.
    """
    return RowPlan(action="skip", id=id, existing=(collection, known))


def elsewhere(id: str, field: str) -> RowPlan:
    """Returns the plan that refuses a row because its id belongs to a record of another
    organization or of another kind.

    `id` names the row in reports, and `field` is the field that holds the id.
    """
    return refused(
        id,
        RowProblem(
            error_code="id.elsewhere",
            field=field,
            message="is the id of something else, or of another organization's, here",
            fix="Give it another id in the package, wherever it stands.",
        ),
    )


_MAKE_FIRST: Final = "Put it into the package as well, or make it first."


def no_user(field: str) -> RowProblem:
    """Returns the problem of a row whose `field` names a user who does not exist in the
    organization.
    """
    message = "is no such user of the organization"
    return RowProblem(error_code="user.not_found", field=field, message=message, fix=_MAKE_FIRST)


def no_project(field: str) -> RowProblem:
    """Returns the problem of a row whose `field` names a project that does not exist in the
    organization.
    """
    message = "is no project of the organization"
    return RowProblem(
        error_code="project.not_found", field=field, message=message, fix=_MAKE_FIRST
    )


def no_application(field: str) -> RowProblem:
    """Returns the problem of a row whose `field` names an application that does not exist in the
    organization.
    """
    message = "is no application of the organization"
    return RowProblem(error_code="app.not_found", field=field, message=message, fix=_MAKE_FIRST)


def unheld(error_code: str, field: str, message: str) -> RowProblem:
    """Returns the warning that the value of one `field` of a row is not stored, although the row
    is.
    """
    fix = "Nothing has to be done if nobody depends on it."
    return RowProblem(error_code=error_code, field=field, message=message, fix=fix, is_error=False)
