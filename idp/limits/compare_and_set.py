"""Changes of one record by compare-and-set: read, decide by a pure function, store if nothing has
changed it meanwhile, else decide again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct, structs

from idp.foundation.errors import Busy
from storage import Collection, Conflict, Delete, Insert, Record, Stale, Store, Update, Write
from storage.confirmed_commit import commit_confirmed

_MAX_COMMITS: Final = 64  # at each conflict another change has succeeded


R = TypeVar("R", bound=Record)
D = TypeVar("D")
# Returns the changed record, and what was decided: the same record if nothing is to be changed,
# None to delete it.
Decide = Callable[[R | None], tuple[R | None, D]]


class ReadRecord(Struct, Generic[R], frozen=True):
    """One record of a collection as it was read; `stored` is None if there was none."""

    collection: Collection[R]
    id: str
    stored: R | None


async def decide(
    store: Store, read: ReadRecord[R], decision: Decide[R, D], revision: str
) -> tuple[R | None, D]:
    """Stores what `decision` returns for the record, with this new `revision`; returns the record
    and what was decided.

    If the record has changed since it was read, it is read and decided again; if the store's
    answer was lost, the outcome is waited for. Errors of `decision` propagate, and nothing is
    stored then. Raises Busy, StorageError.
    """
    stored = read.stored
    for _ in range(_MAX_COMMITS):
        after, decided = decision(stored)
        if after is stored:
            return stored, decided
        if after is not None:
            after = structs.replace(after, revision=revision)
        with suppress(Conflict, Stale):
            await commit_confirmed(store, write(read.collection, stored, after))
            return after, decided
        stored = await store.get(read.collection, read.id)
    raise Busy("too many concurrent attempts", retry_after_seconds=1)


def write(collection: Collection[R], stored: R | None, after: R | None) -> Write:
    """Returns the write of one change, for a unit: it fails with Stale or Conflict if the record
    has changed since it was read as `stored`. One of the two may be None, for no record."""
    if stored is None:
        if after is None:
            raise ValueError("nothing to store")
        return Insert(collection, after)
    if after is None:
        return Delete(collection, stored.id, expect=_expected(stored))
    changes = {
        name: value
        for name, value in structs.asdict(after).items()
        if value != getattr(stored, name)
    }
    return Update(collection, stored.id, set=changes, expect=_expected(stored))


def _expected(stored: Any) -> dict[str, Any]:
    return {"revision": stored.revision}
