"""What provokes each check of the store by `idp doctor`, and what cures it."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

from idp.doctor import mongodb
from idp.foundation.base64url import encode
from storage import META, SCHEMA_ID, Update
from storage.condition import FileState, ServerState
from storage.sqlite.store import SqliteStore
from tests.support.programs.doctor_place import by_commands

MEGABYTE = 1024**2
INDEX = "users:login_key"


def take_store_away(place):
    (place.data / "idp.sqlite3").rename(place.data / "away")


def bring_store_back(place, finding):
    (place.data / "away").rename(place.data / "idp.sqlite3")


def older_schema(place):
    place.write(Update(META, SCHEMA_ID, set={"done": []}))


def other_key(place):
    key = place.data / "master.key"
    key.rename(place.data / "back-up")
    key.write_text(encode(bytes(32)))
    key.chmod(0o600)


def restore_key(place, finding):
    (place.data / "back-up").rename(place.data / "master.key")


def clock_apart(place, seconds=3):
    async def server_time(_):
        return datetime.now(UTC) + timedelta(seconds=seconds)

    place.monkeypatch.setattr(SqliteStore, "server_time", server_time)


def clock_set(place, finding):
    clock_apart(place, 0)


def drop_index(place):
    with closing(sqlite3.connect(place.data / "idp.sqlite3")) as connection:
        connection.execute(f'DROP INDEX "{INDEX}"')


def start_again(place, finding):
    async def nothing_more(store):
        pass

    assert finding.names == [INDEX]
    place.store(nothing_more)


def interrupted_restore(place):
    before = datetime.now(UTC) - timedelta(minutes=5)
    place.write(Update(META, SCHEMA_ID, set={"filled_since": before, "held_until": before}))


def complete_restore(place, finding):
    place.write(Update(META, SCHEMA_ID, set={"filled_since": None, "held_until": None}))


# SQLite


def damaged_file(place):
    """A page in the middle has what was never written there."""
    file = place.data / "idp.sqlite3"
    file.with_name("whole").write_bytes(file.read_bytes())
    place.is_deep = True
    with file.open("r+b") as opened:
        opened.seek(file.stat().st_size - 4096)
        opened.write(b"\xff" * 4096)


def whole_file(place, finding):
    (place.data / "whole").rename(place.data / "idp.sqlite3")


def sizes(place, state):
    async def file_state(_):
        return state

    place.monkeypatch.setattr(SqliteStore, "file_state", file_state)


def unused_space(place):
    sizes(place, FileState(400 * MEGABYTE, 81 * MEGABYTE, 0))


def space_in_use(place, finding):
    assert finding.sentence == "81 MB of 400 MB are not in use"
    sizes(place, FileState(400 * MEGABYTE, 79 * MEGABYTE, 0))


def long_log(place):
    sizes(place, FileState(400 * MEGABYTE, 0, 513 * MEGABYTE))


def short_log(place, finding):
    sizes(place, FileState(400 * MEGABYTE, 0, 260 * MEGABYTE))


# MongoDB

GOOD = ServerState((6, 0, 5), 3, 3, 0.0, transaction_seconds=5, history_seconds=300)


def server(place, **changes):
    async def server_state(_):
        return GOOD._replace(**changes)

    place.monkeypatch.setattr(SqliteStore, "server_state", server_state)


def becomes(**changes):
    """Has the server be in another state."""
    return lambda place, *_: server(place, **changes)


def as_printed(name, **changes):
    """The cure by the parameter that is printed."""

    def cure(place, finding):
        (command,) = finding.commands
        assert command.startswith("mongosh --eval 'db.adminCommand({setParameter: 1, " + name)
        server(place, **changes)

    return cure


def far_away(place, seconds=0.006):
    server(place)
    read = itertools.count(0.0, seconds)
    place.monkeypatch.setattr(mongodb, "perf_counter", lambda: next(read))


def near(place, finding):
    assert finding.sentence == "a round trip to the server takes 6.0 ms"
    far_away(place, 0.004)


def sharded(place, is_sharded=True):
    server(place, members=0, reachable=0)
    place.monkeypatch.setattr(SqliteStore, "is_sharded", is_sharded)


def replicated(place, finding):
    sharded(place, False)


def traces(place, is_clean=False):
    async def rolls_back(_):
        return is_clean

    place.is_deep = True
    server(place)
    place.monkeypatch.setattr(SqliteStore, "rolls_back", rolls_back)


def no_traces(place, finding):
    traces(place, True)


CASES = {
    "store.reach": ("fail", take_store_away, bring_store_back),
    "store.schema": ("warn", older_schema, by_commands),
    "store.key": ("fail", other_key, restore_key),
    "store.clock": ("warn", clock_apart, clock_set),
    "store.indexes": ("fail", drop_index, start_again),
    "store.unsettled": ("fail", interrupted_restore, complete_restore),
    "sqlite.integrity": ("fail", damaged_file, whole_file),
    "sqlite.free": ("warn", unused_space, space_in_use),
    "sqlite.wal": ("warn", long_log, short_log),
    "mongo.version": ("warn", becomes(version=(5, 0, 31)), becomes(version=(8, 0, 1))),
    "mongo.members": ("warn", becomes(reachable=2), becomes(members=5, reachable=5)),
    "mongo.lifetime": (
        "warn",
        becomes(transaction_seconds=60),
        as_printed("transactionLifetimeLimitSeconds: 5}"),
    ),
    "mongo.history": (
        "warn",
        becomes(history_seconds=60),
        as_printed("minSnapshotHistoryWindowInSeconds: 300}"),
    ),
    "mongo.rtt": ("warn", far_away, near),
    "mongo.sharded": ("warn", sharded, replicated),
    "mongo.transactions": ("fail", traces, no_traces),
}
