"""The measured operations of a store, as the service uses them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from benchmarks.storage.records import (
    ACCOUNTS,
    GRANTS,
    HAPPENINGS,
    VISITS,
    Happening,
    account,
    id_of,
)
from benchmarks.storage.rounds import Work
from storage import Insert, Store, Update, Write

AT_ONCE: Final = 250
COUNTERS: Final = 50
HOUR: Final = timedelta(hours=1)


class Contract:
    """The measured operations of a store. Each is a method that takes the number of concurrent
    calls."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, in_flight: int) -> Work:
        store = self._store
        return Work("get", lambda n: store.get(ACCOUNTS, id_of(n)), in_flight)

    def get_many(self, in_flight: int) -> Work:
        def once(n: int) -> Any:
            record_id = id_of(n)
            return self._store.get_many(
                [(ACCOUNTS, record_id), (VISITS, record_id), (GRANTS, record_id)]
            )

        return Work("get_many of three", once, in_flight)

    def update(self, in_flight: int) -> Work:
        store = self._store
        return Work("conditional update", lambda n: store.commit(changed(n)), in_flight)

    def insert(self, in_flight: int) -> Work:
        def once(n: int) -> Any:
            return self._store.commit(Insert(ACCOUNTS, account(f"ours-{n}")))

        return Work("insert", once, in_flight)

    def update_and_event(self, in_flight: int) -> Work:
        def once(n: int) -> Any:
            return self._store.commit(changed(n), happened("ours", n))

        return Work("commit of two writes", once, in_flight)

    def commit_each(self, writes: int) -> Work:
        """Commits many units of one or two inserts, one call after the other."""

        async def once(n: int) -> None:
            units = [_imported(f"{writes}-{n}-{m}")[:writes] for m in range(AT_ONCE)]
            outcomes = await self._store.commit_each(units)
            assert not any(outcomes)

        return Work("commit_each", once, 1, AT_ONCE)

    def find_each(self) -> Work:
        """Finds many keys, of which nearly all belong to no user, as an import does."""
        store = self._store
        return Work(
            "find_each", lambda n: store.find_each(ACCOUNTS, "login_key", keys_of(n)), 1, AT_ONCE
        )

    def increment(self, in_flight: int) -> Work:
        store = self._store
        return Work("increment", lambda n: store.increment(key_of(n), window=HOUR), in_flight)


def key_of(number: int) -> str:
    """Returns the key of one of few counters, so that its window is mostly running already."""
    return f"tries-{number % COUNTERS}"


def keys_of(number: int) -> list[str]:
    """Returns many login keys, of which one in 25 belongs to a user."""
    known = [f"{id_of(number + m)}@example.com" for m in range(0, AT_ONCE, 25)]
    return known + [f"nobody-{m}@example.com" for m in range(AT_ONCE - len(known))]


def changed(number: int) -> Update:
    """Returns a conditional update whose condition is always met."""
    return Update(ACCOUNTS, id_of(number), increment={"sequence": 1}, expect={"state": "active"})


def happened(who: str, number: int) -> Insert:
    return Insert(HAPPENINGS, Happening(id=f"{who}-{number}", aggregate=id_of(number)))


def _imported(record_id: str) -> Sequence[Write]:
    return (
        Insert(ACCOUNTS, account(record_id)),
        Insert(HAPPENINGS, Happening(id=record_id, aggregate=record_id)),
    )
