"""Records by many values of one field, with a limit for the records of each value."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from storage.base import Collection, Value
from storage.lists import EachPlan
from storage.mongo.documents import Document, lasting, stored_name
from storage.mongo.driver import Driver


async def documents(
    driver: Driver, collection: Collection[Any], plan: EachPlan, now: datetime, session: Any
) -> list[Document]:
    """Returns, for each value of the plan, the first documents that have it in the plan's field,
    in the plan's order.

    One find reads all of them, unless there are more than requested: then some value has more than
    its limit, and the server looks each value up separately, at a hundred times the cost.
    """
    living, values = lasting(collection, now), list(plan.asked)
    if not driver.shares_commands and not plan.is_unique:
        return await _one_by_one(driver, collection, plan, living)
    limit = plan.most * len(values)
    found = await driver.find(
        collection.name,
        {stored_name(plan.field): {"$in": values}, **living},
        sort=[] if plan.is_unique else _sort(plan.field, *plan.order),
        limit=limit + 1,
        batch_size=limit + 1,
        session=session,
    )
    by_value = _first(plan, found)
    if len(found) <= limit:
        return [document for each in by_value.values() for document in each]
    full = [document for each in by_value.values() if len(each) == plan.most for document in each]
    short = [value for value in values if len(by_value.get(value, ())) < plan.most]
    return full + await _looked_up(driver, collection, plan, short, living, session)


def _first(plan: EachPlan, found: list[Document]) -> dict[Value, list[Document]]:
    """Returns the documents of each value, without those over the limit."""
    by_value: dict[Value, list[Document]] = {}
    for document in found:
        documents = by_value.setdefault(_value(plan, document), [])
        if len(documents) < plan.most:
            documents.append(document)
    return by_value


def _value(plan: EachPlan, document: Document) -> Any:
    """Returns the document's value of a path; None where one of its parents is missing."""
    at: Any = document
    for name in stored_name(plan.field).split("."):
        at = at.get(name) if at else None
    return at


async def _looked_up(
    driver: Driver,
    collection: Collection[Any],
    plan: EachPlan,
    values: list[Value],
    living: Document,
    session: Any,
) -> list[Document]:
    name = collection.name
    pipeline: list[Document] = [{"$match": living}] if living else []
    pipeline += [{"$sort": dict(_sort(*plan.order))}, {"$limit": plan.most}]
    looking = {"from": name, "localField": "value", "foreignField": stored_name(plan.field)}
    return await driver.aggregate(
        name,
        [
            # Any one document serves to attach the values to.
            {"$limit": 1},
            {"$project": {"_id": 0, "value": {"$literal": values}}},
            {"$unwind": "$value"},
            {"$lookup": {**looking, "pipeline": pipeline, "as": "found"}},
            {"$unwind": "$found"},
            {"$replaceRoot": {"newRoot": "$found"}},
        ],
        plan.most * len(values) + 1,
        session,
    )


async def _one_by_one(
    driver: Driver, collection: Collection[Any], plan: EachPlan, living: Document
) -> list[Document]:
    """Finds each value separately: the imitation for tests holds few records."""
    found: list[Document] = []
    for value in plan.asked:
        filter = {stored_name(plan.field): value, **living}
        found += await driver.find(
            collection.name, filter, sort=_sort(*plan.order), limit=plan.most
        )
    return found


def _sort(*fields: str) -> list[tuple[str, int]]:
    return [(stored_name(field), 1) for field in fields]
