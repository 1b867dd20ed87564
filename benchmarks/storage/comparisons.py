"""The comparisons of the store with the raw drivers, and their targets."""

from __future__ import annotations

from typing import Final

from benchmarks.storage.contract import Contract
from benchmarks.storage.raw_mongo import RawMongo
from benchmarks.storage.raw_sqlite import RawSqlite
from benchmarks.storage.rounds import Comparison, Target

POINT_READ: Final = Target("a point read takes at most 1.5 times as long as the select", 1 / 1.5)
TOGETHER: Final = Target("64 updates in flight are 5 times as many as the store's one by one", 5)
SHARED_READS: Final = Target("records three by three are read at twice the finds' rate", 2)
SHARED_WRITES: Final = Target("64 updates in flight are 5 times as many as the driver's", 5)

NEAR_THE_LIMIT: Final = Target("64 updates in flight are half as many as bare commands give", 0.5)


def of_sqlite(store: Contract, raw: RawSqlite) -> list[Comparison]:
    return [
        Comparison("get", raw.row(), store.get(1), POINT_READ),
        Comparison("get, the select decoded", raw.decoded(), store.get(1)),
        Comparison("get_many of three", raw.three(), store.get_many(1)),
        Comparison("find_each of 250 keys", raw.find_each(), store.find_each()),
        Comparison("update, one by one", raw.update(), store.update(1)),
        Comparison("update, 16 in flight", raw.update(), store.update(16)),
        Comparison("update, 64 beside the driver's one by one", raw.update(), store.update(64)),
        Comparison(
            "update, 64 beside the store's one by one", store.update(1), store.update(64), TOGETHER
        ),
        Comparison("insert", raw.insert(), store.insert(16)),
        Comparison("update and event", raw.update_and_event(), store.update_and_event(16)),
        Comparison("commit_each, one write", raw.many(1), store.commit_each(1)),
        Comparison("commit_each, two writes", raw.many(2), store.commit_each(2)),
        Comparison("increment", raw.increment(), store.increment(16)),
    ]


def of_mongodb(store: Contract, raw: RawMongo) -> list[Comparison]:
    return [
        Comparison("get", raw.find(16), store.get(16)),
        Comparison(
            "get_many of three beside one find", raw.find(16), store.get_many(16), SHARED_READS
        ),
        Comparison("find_each of 250 keys", raw.find_each(), store.find_each()),
        Comparison("update, one by one", raw.update(1), store.update(1)),
        Comparison("update, 16 in flight", raw.update(16), store.update(16)),
        Comparison("update, 64 in flight", raw.update(64), store.update(64), SHARED_WRITES),
        Comparison(
            "update, 64 beside two bare commands", raw.shared(), store.update(64), NEAR_THE_LIMIT
        ),
        Comparison("two bare commands beside 64 single updates", raw.update(64), raw.shared()),
        Comparison("insert", raw.insert(16), store.insert(16)),
        Comparison("update and event", raw.update_and_event(16), store.update_and_event(16)),
        Comparison("commit_each, one write", raw.many(1), store.commit_each(1)),
        Comparison("commit_each, two writes", raw.many(2), store.commit_each(2)),
        Comparison("increment", raw.increment(16), store.increment(16)),
    ]
