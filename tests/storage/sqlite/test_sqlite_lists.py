"""SQLite: by which indexes lists are read."""

from __future__ import annotations

import re

import pytest

from storage import Insert, StartsWith
from storage.sqlite import reader
from tests.storage.records import TICKETS, USERS, user


async def test_reads_of_a_page_use_its_index_alone(sqlite):
    plans = []
    connection = sqlite._reader._connection

    def explain(sql):
        if sql.startswith("SELECT doc"):
            plans.append(sql)

    connection.set_trace_callback(explain)
    after = (user("a").created_at, "a")
    for descending in (False, True):
        by_age = {"order": "created_at", "descending": descending, "after": after}
        await sqlite.find(USERS, {"org_id": "org"}, **by_age)
        await sqlite.find(USERS, order="login_key", descending=descending, after=("a", "a"))
        await sqlite.find(TICKETS, {"owner": "x"}, order="expires_at", after=after)
    connection.set_trace_callback(None)
    steps = [
        row[3].decode() for sql in plans for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")
    ]

    assert len(steps) == 10
    assert all(step.startswith("SEARCH") and "INDEX" in step for step in steps)
    # A cursor is a bound of the index, or deep pages would read the list from its start.
    assert all("id" in step or "<expr>>" in step or "<expr><" in step for step in steps)


@pytest.mark.parametrize(
    ("where", "indexes"),
    [
        ({"org_id": "small"}, ["org_id", "org_id", "org_id"]),
        ({"org_id": "small", "family": StartsWith("b")}, ["org_id", "org_id", "org_id"]),
        ({"org_id": "small", "family": StartsWith("c")}, ["family", "family", "family"]),
        ({"org_id": "large"}, ["family", "family"]),
        ({"org_id": "large", "family": StartsWith("b")}, ["family", "family"]),
        # Those that come last of all are too far away.
        ({"org_id": "last"}, ["family", "org_id", "family", "org_id", "org_id"]),
    ],
)
async def test_a_narrowed_list_is_read_by_the_index_that_has_less_to_read(
    sqlite, monkeypatch, where, indexes
):
    monkeypatch.setattr(reader, "MAX_SCANNED", 3)
    families = {"small": "bc", "large": "bbbb", "last": "zzzz"}
    people = [(org, family) for org, each in families.items() for family in each]
    for n, (org, family) in enumerate(people):
        await sqlite.commit(Insert(USERS, user(f"u{n}", org_id=org, family=family)))
    connection = sqlite._background._reader._connection
    asked = []
    connection.set_trace_callback(asked.append)
    await sqlite.find(USERS, where, order="family", limit=1)
    await sqlite.find(USERS, where, order="family", limit=1, after=("b", "u0"))
    connection.set_trace_callback(None)
    pages = [sql for sql in asked if sql.startswith("SELECT doc")]
    explained = [str(connection.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()) for sql in pages]

    assert [re.search(r"INDEX users/([a-z_]+)", rows)[1] for rows in explained] == indexes
