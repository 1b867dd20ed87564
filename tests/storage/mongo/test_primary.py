"""A replica set that has another primary."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from storage.mongo.primary import PrimaryListener
from tests.storage.observers import RecordingObserver


def described(**types):
    servers = {
        (host, 27017): SimpleNamespace(server_type_name=kind, address=(host, 27017))
        for host, kind in types.items()
    }
    return SimpleNamespace(new_description=SimpleNamespace(server_descriptions=lambda: servers))


async def test_each_primary_after_the_first_one_is_reported_once():
    observer = RecordingObserver()
    listener = PrimaryListener(observer)

    listener.description_changed(described(db1="RSPrimary", db2="RSSecondary"))
    listener.description_changed(described(db1="RSPrimary", db2="Unknown"))
    listener.description_changed(described(db1="Unknown", db2="RSSecondary"))
    await asyncio.to_thread(
        listener.description_changed, described(db1="Unknown", db2="RSPrimary")
    )
    listener.description_changed(described(db1="RSSecondary", db2="RSPrimary"))
    await asyncio.sleep(0)

    assert observer.primaries == ["db2:27017"]
