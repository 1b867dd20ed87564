"""Searches: filters, pages, totals and cursors, over a small collection of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from idp.foundation.errors import InvalidArgument
from idp.foundation.texts.text_folding import folded
from idp.management import search as management_search
from idp.management.search import PageQuery, TextQuery
from idp.search.query_planner import Filter
from storage import Collection, Insert, Record, open_store

EQUALS, STARTS = "TEXT_QUERY_METHOD_EQUALS", "TEXT_QUERY_METHOD_STARTS_WITH"


class Plant(Record):
    org_id: str
    name: str
    name_key: str
    color: str = "green"


PLANTS = Collection(
    "plants", Plant, unique=("name_key",), lists=(("org_id", "name_key"), ("color",))
)


@pytest.fixture
def service(io_loop, server):
    clock, random = server.service.clock, server.service.random
    store = open_store("memory://", now=clock.now, new_id=random.id)
    io_loop.run_sync(lambda: store.open([PLANTS]))
    yield replace(server.service, store=store)
    io_loop.run_sync(store.close)


async def grow(service, *names, org="acme", **more):
    for name in names:
        id = f"id-{name}"
        plant = Plant(id=id, org_id=org, name=name, name_key=folded(name), **more)
        await service.store.commit(Insert(PLANTS, plant))


def names(found):
    return [plant.name for plant in found.records]


async def pages(service, filters=(), *, limit=2, **more):
    """The names of each page, and what it told of the total, to the end."""
    cursor, told = "", []
    while True:
        query = PageQuery(limit=limit, cursor=cursor)
        found = await management_search.find(service, PLANTS, query, filters, **more)
        details = found.details
        told.append((names(found), details.total_result, details.is_total_lower_bound))
        cursor = found.next_cursor
        if not cursor:
            return told


def called(text, method=EQUALS):
    return TextQuery(method=method).of("name", text, "name_key")


RED = Filter(path="color", value="red")


async def test_every_record_is_met_once_in_order_and_the_total_is_exact(service):
    await grow(service, "Fig", "Elm", "Oak", "Ash", "Yew")

    told = await pages(service, organizations=["acme"])

    assert told == [
        (["Ash", "Elm"], "5", False),
        (["Fig", "Oak"], "5", False),
        (["Yew"], "5", False),
    ]


async def test_the_other_direction(service):
    await grow(service, "Fig", "Elm", "Oak")

    query = PageQuery(asc=False, limit=2)
    found = await management_search.find(service, PLANTS, query, (), organizations=["acme"])

    assert names(found) == ["Oak", "Fig"]


async def test_a_search_stays_in_its_organizations(service):
    await grow(service, "Ash", "Elm")
    await grow(service, "Fig", org="other")
    await grow(service, "Oak", org="third")

    one = await pages(service, organizations=["other"])
    two = await pages(service, organizations=["acme", "third"])
    none = await pages(service, organizations=[])
    named = await pages(service, [called("Fig")], organizations=["acme"])

    assert one == [(["Fig"], "1", False)]
    assert two == [(["Ash", "Elm"], "3", False), (["Oak"], "3", False)]
    assert none == named == [([], "0", False)]


@pytest.mark.parametrize(
    ("method", "text", "expected"),
    [
        (EQUALS, "Ash", ["Ash"]),
        (EQUALS, "ash", []),
        (f"{EQUALS}_IGNORE_CASE", "ASH", ["Ash"]),
        (STARTS, "As", ["Ash", "Aspen"]),
        (STARTS, "as", ["asp"]),
        (f"{STARTS}_IGNORE_CASE", "aS", ["Ash", "asp", "Aspen"]),
        (f"{STARTS}_IGNORE_CASE", "ASPE", ["Aspen"]),
    ],
)
@pytest.mark.parametrize("organizations", [None, ["acme"]])
async def test_texts_are_found_by_each_method(service, method, text, expected, organizations):
    await grow(service, "Ash", "asp", "Aspen", "Elm")

    found = await management_search.find(
        service, PLANTS, PageQuery(), [called(text, method)], organizations=organizations
    )

    assert names(found) == expected
    assert found.details.total_result == str(len(expected))


async def test_every_filter_counts_whatever_list_is_read(service):
    await grow(service, "Ash", "Aspen", color="red")
    await grow(service, "Asp", "Elm")
    await grow(service, "Alder", org="other", color="red")

    both = [called("as", f"{STARTS}_IGNORE_CASE"), RED]
    found = [await pages(service, filters) for filters in (both, both[::-1])]
    none = await pages(service, [*both, called("Asp")])
    within = await pages(service, [RED], organizations=["acme"])

    assert found == [[(["Ash", "Aspen"], "2", False)]] * 2
    assert none == [([], "0", False)]
    assert within == [(["Ash", "Aspen"], "2", False)]


async def test_a_total_that_is_not_known_yet_says_so(service):
    await grow(service, "Ash", "Elm", "Fig", color="red")
    await grow(service, "Birch", "Oak")

    told = await pages(service, [RED], organizations=["acme"])

    assert told == [(["Ash", "Elm"], "2", True), (["Fig"], "3", False)]


async def test_a_request_reads_so_many_records_and_says_where_to_go_on(service, monkeypatch):
    monkeypatch.setattr(management_search, "MAX_RECORDS_READ", 4)
    await grow(service, *"abcdefgh")
    await grow(service, "i", color="red")

    told = await pages(service, [RED], organizations=["acme"])

    assert told == [([], "0", True), ([], "0", True), (["i"], "1", False)]


async def test_ids_are_a_filter_like_others(service):
    await grow(service, "Ash", "Elm", "Fig", "Oak")
    await grow(service, "Yew", org="other")
    wanted = [f"id-{name}" for name in ("Oak", "Ash", "Yew", "Elm", "Nothing")]
    ids = Filter(path="id", how="in", value=wanted)

    told = await pages(service, [ids], organizations=["acme"])
    both = await pages(service, [ids, called("Elm")], organizations=["acme"])
    by_id = await pages(service, organizations=["id-Fig"], org_path="id")

    assert [page for page, *_ in told] == [["Ash", "Elm"], ["Oak"]]
    assert both == [(["Elm"], "1", False)]
    assert by_id == [(["Fig"], "1", False)]


async def test_the_cursor_of_another_search_is_refused(service):
    await grow(service, "Ash", "Elm", "Fig")
    first = await management_search.find(
        service, PLANTS, PageQuery(limit=1), (), organizations=["acme"]
    )
    others = [
        (PageQuery(cursor=first.next_cursor), [RED], ["acme"]),
        (PageQuery(cursor=first.next_cursor), (), ["other"]),
        (PageQuery(cursor=first.next_cursor), (), None),
        (PageQuery(cursor=first.next_cursor, asc=False), (), ["acme"]),
        (PageQuery(cursor=first.next_cursor[:-4]), (), ["acme"]),
        (PageQuery(cursor="A" + first.next_cursor), (), ["acme"]),
        (PageQuery(cursor="é"), (), ["acme"]),
    ]

    for query, filters, organizations in others:
        with pytest.raises(InvalidArgument) as refused:
            await management_search.find(
                service, PLANTS, query, filters, organizations=organizations
            )

        (problem,) = refused.value.problems
        assert (problem.error_code, problem.field) == ("query.cursor", "query.cursor")


async def test_what_comes_and_goes_between_pages_hides_nothing_that_lasts(service):
    await grow(service, "b", "d", "f")
    first = await management_search.find(
        service, PLANTS, PageQuery(limit=2), (), organizations=["acme"]
    )

    await grow(service, "a", "e")
    query = PageQuery(cursor=first.next_cursor, limit=1)
    second = await management_search.find(service, PLANTS, query, (), organizations=["acme"])

    assert names(first) == ["b", "d"]
    assert names(second) == ["e"]
