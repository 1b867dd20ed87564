"""The index with which each back end serves the searches, as the back end describes it."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import Any

import pymongo

from benchmarks.search.filling import Filled, Find
from idp.records import USERS
from storage.lists import plan
from storage.mongo import pages
from storage.mongo.documents import stored_name
from storage.sqlite import queries
from storage.sqlite.reader import SqliteReader
from storage.sqlite.tables import SqliteTable, Tables


async def explained_lines(place: Filled, url: str) -> list[str]:
    """Returns a line for each form of the searches among users."""
    shapes = {(tuple(find.where), find.order): find for find in place.watched.finds}
    explained = _by_sqlite if url.startswith("sqlite") else _by_mongodb
    return [f"{_shape(find)}: {explained(find, url)}" for find in shapes.values()]


def _shape(find: Find) -> str:
    return f"{', '.join(find.where) or 'all'} by {find.order or 'id'}"


def _by_sqlite(find: Find, url: str) -> str:
    planned = plan(USERS, find.where, find.order)
    conditions = queries.matching(planned.equal, None)
    ((step, by),) = queries.steps(planned, False, None)
    table = SqliteTable(USERS)
    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    try:
        reader = SqliteReader(connection, Tables([USERS], SqliteTable), lambda: datetime.now(UTC))
        way = reader.scan_plans(table, planned)[0]
        sql, values = queries.page(table.name, conditions + step, by, False, way)
        rows = connection.execute(f"EXPLAIN QUERY PLAN {sql}", [*values, 101]).fetchall()
    finally:
        connection.close()
    return "; ".join(row[-1] for row in rows)


def _by_mongodb(find: Find, url: str) -> str:
    planned = plan(USERS, find.where, find.order)
    sort: Any = [(stored_name(field), 1) for field in planned.fields]
    condition = pages._matching(USERS, planned, None)  # type: ignore[arg-type]
    with pymongo.MongoClient[dict[str, Any]](url) as client:
        cursor = client.get_default_database()["users"].find(condition).sort(sort).limit(101)
        stage = cursor.explain()["queryPlanner"]["winningPlan"]
    names = []
    while stage:
        names.append(f"{stage['stage']} {stage.get('indexName', '')}".strip())
        stage = stage.get("inputStage")
    return " < ".join(names)
