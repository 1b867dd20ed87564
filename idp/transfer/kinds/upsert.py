"""What becomes of a row whose record may be there: it is made, changed where it differs, or left.

Whatever a row does not speak of stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from msgspec import Struct, structs

from idp.audit import events
from idp.transfer.kinds.kind import ImportContext, import_payload
from idp.transfer.package.rows import PreparedRow, Read, RowProblem, refused
from storage import Collection, Record, Write

R = TypeVar("R", bound=Record)

_FEW_ENOUGH: Final = 1000  # records of one look-up


def _nothing(*records: Any) -> Sequence[Write]:
    return ()


class UpsertPlan(Struct, frozen=True, kw_only=True):
    """A record as a row describes it, with what is to be said of it.

    `id` is what reports call it; `type` begins its events' names. `told` are the fields that the
    row speaks of. `also` are the writes that belong into the unit, by the record before (None: it
    is made) and after. `org_id` is the organization of a record that doesn't say.
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
    """Those of the records that there are, by their ids."""
    asked, found = list(dict.fromkeys(ids)), list[R | None]()
    for start in range(0, len(asked), _FEW_ENOUGH):
        part = asked[start : start + _FEW_ENOUGH]
        found += await taking.service.store.get_many([(collection, id) for id in part])
    return {record.id: record for record in found if record is not None}


def stored(
    taking: ImportContext, read: Read, known: Any | None, wanted: UpsertPlan
) -> PreparedRow:
    """The record made, or that which is `known` changed where it differs and the import may."""
    if known is None:
        return created(taking, read, wanted)
    values = {
        name: value
        for name in wanted.told
        if (value := getattr(wanted.record, name)) != getattr(known, name)
    }
    if not taking.updates or not values:
        return left(wanted.collection, known, wanted.id)
    return changed(taking, read, known, wanted, values)


def created(taking: ImportContext, read: Read, wanted: UpsertPlan) -> PreparedRow:
    """The record made, as it is wanted."""
    record, now = wanted.record, taking.service.clock.now()
    stored = events.insertion(
        taking.service.random,
        wanted.collection,
        record,
        f"{wanted.type}.created",
        taking.actor,
        now,
        wanted.org_id,
        **wanted.payload,
        **import_payload(taking, read),
    )
    writes = (*stored, *wanted.also(None, record))
    return PreparedRow(action="create", id=wanted.id, writes=writes, problems=wanted.warnings)


def changed(
    taking: ImportContext, read: Read, known: Any, wanted: UpsertPlan, values: Mapping[str, object]
) -> PreparedRow:
    """The record that is there with these values, in one step."""
    now = taking.service.clock.now()
    dated = {**values, "changed_at": now}
    step = events.update(
        taking.service.random,
        wanted.collection,
        known,
        dated,
        f"{wanted.type}.changed",
        taking.actor,
        now,
        wanted.org_id,
        **import_payload(taking, read),
    )
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
    """The record that is there, as it is."""
    return PreparedRow(action="skip", id=id, met=(collection, known))


def elsewhere(id: str, field: str) -> PreparedRow:
    """A row whose id is that of a record of another organization, or of another kind."""
    return refused(
        id,
        RowProblem(
            slug="id.elsewhere",
            field=field,
            message="is the id of something else, or of another organization's, here",
            fix="Give it another id in the package, wherever it stands.",
        ),
    )


_MAKE_FIRST: Final = "Put it into the package as well, or make it first."


def no_user(field: str) -> RowProblem:
    """Why a row can't be stored that refers to a user."""
    message = "is no such user of the organization"
    return RowProblem(slug="user.not_found", field=field, message=message, fix=_MAKE_FIRST)


def no_project(field: str) -> RowProblem:
    """Why a row can't be stored that refers to a project."""
    message = "is no project of the organization"
    return RowProblem(slug="project.not_found", field=field, message=message, fix=_MAKE_FIRST)


def no_application(field: str) -> RowProblem:
    """Why a row can't be stored that refers to an application."""
    message = "is no application of the organization"
    return RowProblem(slug="app.not_found", field=field, message=message, fix=_MAKE_FIRST)


def unheld(slug: str, field: str, message: str) -> RowProblem:
    """A warning: of a row that is stored, this is not kept."""
    fix = "Nothing has to be done if nobody depends on it."
    return RowProblem(slug=slug, field=field, message=message, fix=fix, is_error=False)
