"""The content of the store as a value: two values, before and after, show the changes."""

from __future__ import annotations

import msgspec

from idp.records import (
    ALL,
    FAILURE_STREAKS,
    LAST_USES,
    LEASES,
    LOGIN_NAME_BACKOFFS,
    REFUSALS,
    UNTRUSTED_PROXIES,
)

_OF_NO_ACCOUNT = (
    REFUSALS,
    LEASES,
    LAST_USES,
    FAILURE_STREAKS,
    LOGIN_NAME_BACKOFFS,
    UNTRUSTED_PROXIES,
)


async def everything(store) -> dict[str, dict]:
    """Every record that has not expired, by collection and id; without the notes of refusals,
    which each refusal leaves and nothing depends on, the turns at background work, when
    credentials were last used, and how often somebody guessed."""
    return {
        collection.name: {record.id: record async for record in store.scan(collection)}
        for collection in ALL
        if collection not in _OF_NO_ACCOUNT
    }


async def dump(store) -> bytes:
    """All of `everything`, as octets that are the same if nothing was changed."""
    return msgspec.msgpack.encode(await everything(store), order="sorted")


async def refusals(store) -> list:
    """The stored refused requests, the newest first."""
    found = [record async for record in store.scan(REFUSALS)]
    return sorted(found, key=lambda record: record.created_at, reverse=True)


async def count(store) -> dict[str, int]:
    """How many records each collection holds, for those that hold any."""
    found = await everything(store)
    return {name: len(records) for name, records in found.items() if records}


async def only(store, collection):
    """The one record of a collection."""
    (record,) = [record async for record in store.scan(collection)]
    return record
