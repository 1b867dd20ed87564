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
from idp.transfer.package.rows import PreparedRow, Read, RowProblem, refused
from storage import Collection, Record, Write

R = TypeVar("R", bound=Record)

_FEW_ENOUGH: Final = 1000  # records per lookup


def _nothing(*records: Any) -> Sequence[Write]:
    return ()


class UpsertPlan(Struct, frozen=True, kw_only=True):
    """The record that a row describes, and how its change is recorded.

    `id` is its name in reports; `type` begins the names of its events. `told` are the fields that
    the row has. `also` returns the writes that belong to the unit, for the record before (None if
    it is created) and after. `org_id` is the organization of a record that has no such field.
    """

    id: str
    collection: Collection[Any]
    record: Any
    type: str
    told: tuple[str, ...] = ()
    also: Callable[[Any, Any], Sequence[Write]] = _nothing
    org_id: str | None = None
    payload: Mapping[str, str] = {}
    warnings: tuple[RowProblem, ...] = ()


async def by_id(
    taking: ImportContext, collection: Collection[R], ids: Iterable[str]
) -> dict[str, R]:
    """Returns the existing records by their ids."""
    asked, found = list(dict.fromkeys(ids)), list[R | None]()
    for start in range(0, len(asked), _FEW_ENOUGH):
        part = asked[start : start + _FEW_ENOUGH]
        found += await taking.service.store.get_many([(collection, id) for id in part])
    return {record.id: record for record in found if record is not None}


def stored(
    taking: ImportContext, read: Read, known: Any | None, wanted: UpsertPlan
) -> PreparedRow:
    """Plans the creation of the record, or the update of the `known` one if it differs and the
    import updates.
    """
    if known is None:
        return created(taking, read, wanted)
    values = {
        name: value
        for name in wanted.told
        if (value := getattr(wanted.record, name)) != getattr(known, name)
    }
    # An update without differences would only add an event.
    if not taking.updates or not values:
        return left(wanted.collection, known, wanted.id)
    return changed(taking, read, known, wanted, values)


def created(taking: ImportContext, read: Read, wanted: UpsertPlan) -> PreparedRow:
    """Plans the creation of the record."""
    record, now = wanted.record, taking.service.clock.now()
    entry = AuditEntry(
        f"{wanted.type}.created",
        taking.actor,
        now,
        wanted.org_id,
        payload={**wanted.payload, **import_payload(taking, read)},
    )
    stored = events.insertion(taking.service.random, wanted.collection, record, entry)
    writes = (*stored, *wanted.also(None, record))
    return PreparedRow(action="create", id=wanted.id, writes=writes, problems=wanted.warnings)


def changed(
    taking: ImportContext, read: Read, known: Any, wanted: UpsertPlan, values: Mapping[str, object]
) -> PreparedRow:
    """Plans an update of the existing record to these values."""
    now = taking.service.clock.now()
    dated = {**values, "changed_at": now}
    entry = AuditEntry(
        f"{wanted.type}.changed",
        taking.actor,
        now,
        wanted.org_id,
        payload=import_payload(taking, read),
    )
    step = events.update(taking.service.random, wanted.collection, known, dated, entry)
    # As it will be stored: further writes of the unit depend on it.
    after = structs.replace(known, **dated, sequence=known.sequence + 1)
    writes = (*step, *wanted.also(known, after))
    return PreparedRow(
        action="update",
        id=wanted.id,
        writes=writes,
        problems=wanted.warnings,
        met=(wanted.collection, known),
    )


def left(collection: Collection[Any], known: Any, id: str) -> PreparedRow:
    """Plans no change of the existing record."""
    return PreparedRow(action="skip", id=id, met=(collection, known))


def elsewhere(id: str, field: str) -> PreparedRow:
    """Refuses a row whose id belongs to a record of another organization or of another kind."""
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
    """Returns the problem of a row that refers to an unknown user."""
    message = "is no such user of the organization"
    return RowProblem(error_code="user.not_found", field=field, message=message, fix=_MAKE_FIRST)


def no_project(field: str) -> RowProblem:
    """Returns the problem of a row that refers to an unknown project."""
    message = "is no project of the organization"
    return RowProblem(
        error_code="project.not_found", field=field, message=message, fix=_MAKE_FIRST
    )


def no_application(field: str) -> RowProblem:
    """Returns the problem of a row that refers to an unknown application."""
    message = "is no application of the organization"
    return RowProblem(error_code="app.not_found", field=field, message=message, fix=_MAKE_FIRST)


def unheld(error_code: str, field: str, message: str) -> RowProblem:
    """Returns the warning that a member of a stored row is not stored."""
    fix = "Nothing has to be done if nobody depends on it."
    return RowProblem(error_code=error_code, field=field, message=message, fix=fix, is_error=False)
