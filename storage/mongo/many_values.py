"""Records by many values of one field, with a limit for the records of each value."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from storage.base import Collection, Value
from storage.lists import EachPlan
from storage.mongo.documents import Document, stored_name, unexpired_filter
from storage.mongo.driver import Driver
from storage.mongo.reads import Selection


async def documents(
    driver: Driver, collection: Collection[Any], plan: EachPlan, now: datetime, session: Any
) -> list[Document]:
    """Returns, for each value of the plan, the first documents that have it in the plan's field,
    in the plan's order.

    One find reads all of them, unless there are more than requested: then some value has more than
    its limit, and the server looks each value up separately, at a hundred times the cost.
    """
    if not driver.shares_commands and not plan.is_unique:
        return await _one_by_one(driver, collection, plan, unexpired_filter(collection, now))
    query = selection(collection, plan, now)
    found_documents = await driver.find(
        collection.name,
        query.conditions,
        sort=query.sort,
        limit=query.limit,
        batch_size=query.limit,
        session=session,
    )
    if len(found_documents) < query.limit:
        return limited_documents(plan, found_documents)
    return await complete_documents(driver, collection, plan, found_documents, now, session)


async def complete_documents(
    driver: Driver,
    collection: Collection[Any],
    plan: EachPlan,
    found_documents: list[Document],
    now: datetime,
    session: Any,
) -> list[Document]:
    """Returns the documents of the plan when `found_documents`, the result of its selection, is
    not all: the values that have less than their limit in it are looked up one by one."""
    by_value = _first(plan, found_documents)
    complete = [
        document
        for found_for_value in by_value.values()
        if len(found_for_value) == plan.limit
        for document in found_for_value
    ]
    incomplete_values = [
        value for value in plan.requested if len(by_value.get(value, ())) < plan.limit
    ]
    if not incomplete_values:
        return complete
    not_expired = unexpired_filter(collection, now)
    return complete + await _look_up(
        driver, collection, plan, incomplete_values, not_expired, session
    )


def selection(collection: Collection[Any], plan: EachPlan, now: datetime) -> Selection:
    """Returns the query that finds all documents of the plan. Its limit is one more than their
    possible number, so that an incomplete result is noticed."""
    conditions = {
        stored_name(plan.field): {"$in": list(plan.requested)},
        **unexpired_filter(collection, now),
    }
    sort = [] if plan.is_unique else _sort(plan.field, *plan.order)
    return Selection(collection.name, conditions, sort, plan.limit * len(plan.requested) + 1)


def limited_documents(plan: EachPlan, found_documents: list[Document]) -> list[Document]:
    """Returns the documents without those over the limit for one value."""
    return [
        document for of_value in _first(plan, found_documents).values() for document in of_value
    ]


def _first(plan: EachPlan, found_documents: list[Document]) -> dict[Value, list[Document]]:
    """Returns the documents of each value, without those over the limit."""
    by_value: dict[Value, list[Document]] = {}
    for document in found_documents:
        documents = by_value.setdefault(_value(plan, document), [])
        if len(documents) < plan.limit:
            documents.append(document)
    return by_value


def _value(plan: EachPlan, document: Document) -> Any:
    """Returns the document's value of a path; None where one of its parents is missing."""
    value: Any = document
    for name in stored_name(plan.field).split("."):
        value = value.get(name) if value else None
    return value


async def _look_up(
    driver: Driver,
    collection: Collection[Any],
    plan: EachPlan,
    values: list[Value],
    not_expired: Document,
    session: Any,
) -> list[Document]:
    name = collection.name
    pipeline: list[Document] = [{"$match": not_expired}] if not_expired else []
    pipeline += [{"$sort": dict(_sort(*plan.order))}, {"$limit": plan.limit}]
    lookup = {"from": name, "localField": "value", "foreignField": stored_name(plan.field)}
    return await driver.aggregate(
        name,
        [
            # The values are attached to an arbitrary document.
            {"$limit": 1},
            {"$project": {"_id": 0, "value": {"$literal": values}}},
            {"$unwind": "$value"},
            {"$lookup": {**lookup, "pipeline": pipeline, "as": "found"}},
            {"$unwind": "$found"},
            {"$replaceRoot": {"newRoot": "$found"}},
        ],
        plan.limit * len(values) + 1,
        session,
    )


async def _one_by_one(
    driver: Driver, collection: Collection[Any], plan: EachPlan, not_expired: Document
) -> list[Document]:
    """Finds each value separately: the imitation for tests has few records."""
    found_documents: list[Document] = []
    for value in plan.requested:
        conditions = {stored_name(plan.field): value, **not_expired}
        found_documents += await driver.find(
            collection.name, conditions, sort=_sort(*plan.order), limit=plan.limit
        )
    return found_documents


def _sort(*fields: str) -> list[tuple[str, int]]:
    return [(stored_name(field), 1) for field in fields]
