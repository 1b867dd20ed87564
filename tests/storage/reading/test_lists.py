"""Finding by declared lists: keyset pages that are stable while others write."""

from __future__ import annotations

import random

import pytest

from storage import Collection, Delete, Insert, StartsWith, Undeclared, Update
from storage.sqlite import reader
from tests.storage.records import ENTRIES, TICKETS, USERS, Entry, Ticket, later, user

BY_AGE = {"where": {"org_id": "org"}, "order": "created_at"}
BY_FAMILY = {"where": {"org_id": "org"}, "order": "family"}


def person(id, n, **more):
    """Somebody whose place in the lists by age and by family is the nth."""
    return user(id, created_at=later(n), family=f"family {n + 1:03}", **more)


@pytest.fixture
def people(io_loop, store):
    """Twelve users, three in each place, so that pages break between ties."""
    people = [person(f"u{n:02}", n // 3) for n in range(12)]
    strangers = [person(f"s{n}", n, org_id="else") for n in range(3)]
    shuffled = random.Random(1).sample([*people, *strangers], 15)
    units = [[Insert(USERS, each)] for each in shuffled]
    io_loop.run_sync(lambda: store.commit_each(units))
    return people


@pytest.fixture(params=["with an index", "narrowed to few", "narrowed to many"])
def listed(request, monkeypatch):
    """A list with an index of its own, and one without: SQLite tells few records from many."""
    monkeypatch.setattr(reader, "MAX_SCANNED", 1 if request.param.endswith("many") else 1000)
    return BY_AGE if request.param == "with an index" else BY_FAMILY


async def walk(view, collection, limit, **query):
    """Every record by pages, and the pages' sizes."""
    records, sizes, after = [], [], None
    while True:
        page = await view.find(collection, limit=limit, after=after, **query)
        records += page.records
        sizes.append(len(page.records))
        after = page.after
        if after is None:
            return records, sizes


def ids(records):
    return [record.id for record in records]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 12, 100])
@pytest.mark.parametrize("descending", [False, True])
async def test_pages_of_any_size_make_up_the_list_with_its_ties(
    store, people, listed, limit, descending
):
    records, sizes = await walk(store, USERS, limit, descending=descending, **listed)

    assert records == (people[::-1] if descending else people)
    assert all(size == limit for size in sizes[:-1])


async def test_the_last_page_has_no_cursor_even_when_it_is_full(store, people, listed):
    page = await store.find(USERS, limit=12, **listed)

    assert (len(page.records), page.after) == (12, None)


async def test_an_empty_list_is_an_empty_page(store, listed):
    page = await store.find(USERS, **listed)

    assert (page.records, page.after) == ([], None)


@pytest.mark.parametrize("descending", [False, True])
async def test_each_record_that_lasts_is_met_once_under_inserts_and_deletes(
    store, people, listed, descending
):
    met, after = [], None
    for n in range(12):
        page = await store.find(USERS, limit=1, after=after, descending=descending, **listed)
        met += ids(page.records)
        after = page.after
        await store.commit(
            Delete(USERS, met[-1]),
            Insert(USERS, person(f"a{n}", -1)),
            Insert(USERS, person(f"z{n}", 99)),
        )
    expected = [person.id for person in people]

    assert [id for id in met if id.startswith("u")] == (expected[::-1] if descending else expected)


async def test_without_an_order_the_whole_collection_pages_by_id(store, people):
    records, _ = await walk(store, USERS, 4)
    backwards, _ = await walk(store, USERS, 4, descending=True)

    assert ids(records) == sorted(ids(records))
    assert (len(records), backwards) == (15, records[::-1])


async def test_every_field_of_a_list_finds_by_equality_in_the_order_of_ids(store, people, listed):
    field = listed["order"]
    at = {"org_id": "org", field: getattr(people[4], field)}
    records, _ = await walk(store, USERS, 2, where=at)

    assert ids(records) == ["u03", "u04", "u05"]


async def test_a_unique_key_finds_its_one_record(store, people):
    page = await store.find(USERS, {"login_key": "u07@example.com"})

    assert (ids(page.records), page.after) == (["u07"], None)
    assert (await store.find(USERS, {"login_key": "nobody"})).records == []


@pytest.mark.parametrize("descending", [False, True])
async def test_a_unique_key_orders_a_list_of_its_own(store, people, descending):
    records, _ = await walk(store, USERS, 4, order="login_key", descending=descending)

    assert ids(records) == sorted(ids(records), reverse=descending)
    assert len(records) == 15


@pytest.mark.parametrize("limit", [1, 2, 100])
@pytest.mark.parametrize("descending", [False, True])
async def test_a_prefix_finds_what_begins_with_it_in_order(store, people, limit, descending):
    where = {"org_id": "org", "login_key": StartsWith("u0")}
    records, _ = await walk(store, USERS, limit, where=where, descending=descending)

    assert ids(records) == sorted((f"u0{n}" for n in range(10)), reverse=descending)


@pytest.mark.parametrize("limit", [1, 4, 100])
@pytest.mark.parametrize("descending", [False, True])
async def test_a_prefix_finds_in_a_narrowed_list_too(store, people, listed, limit, descending):
    await store.commit(Insert(USERS, person("other", 30)))
    where = {"org_id": "org", "family": StartsWith("family 00")}
    records, _ = await walk(store, USERS, limit, where=where, descending=descending)

    assert records == (people[::-1] if descending else people)
    assert await store.count(USERS, where) == 12


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("", ["%", "A", "a", "a%b", "a.b", "ab", "a\ud7ff", "a\ue000", "a\U0010ffff", "b"]),
        ("a", ["a", "a%b", "a.b", "ab", "a\ud7ff", "a\ue000", "a\U0010ffff"]),
        ("a%", ["a%b"]),
        ("a.", ["a.b"]),
        ("a\ud7ff", ["a\ud7ff"]),
        ("a\U0010ffff", ["a\U0010ffff"]),
        ("c", []),
    ],
)
async def test_a_prefix_is_plain_text_of_code_points(store, prefix, found):
    keys = ["%", "A", "a", "a%b", "a.b", "ab", "a\ud7ff", "a\ue000", "a\U0010ffff", "b"]
    for n, key in enumerate(keys):
        await store.commit(Insert(USERS, user(f"u{n}", login_key=key)))
    page = await store.find(USERS, {"login_key": StartsWith(prefix)})

    assert [record.login_key for record in page.records] == found
    assert await store.count(USERS, {"login_key": StartsWith(prefix)}) == len(found)


async def test_bools_and_numbers_find_and_order(store):
    for n in (10, 9, -1, 2**53 + 1, 2**53):
        await store.commit(Insert(USERS, user(f"u{n}", n=n, is_active=n != 9)))
    for limit in (1, 2, 3):
        active = {"org_id": "org", "is_active": True}
        records, _ = await walk(store, USERS, limit, where=active, order="n")

        assert [record.n for record in records] == [-1, 10, 2**53, 2**53 + 1]


async def test_an_update_moves_a_record_in_its_lists(store, people, listed):
    last = getattr(person("last", 50), listed["order"])
    await store.commit(Update(USERS, "u00", set={listed["order"]: last}))
    await store.commit(Update(USERS, "u01", set={"org_id": "else"}))

    assert ids((await store.find(USERS, **listed)).records) == [
        *(f"u{n:02}" for n in range(2, 12)),
        "u00",
    ]


async def test_an_expiring_list_pages_without_gaps(store, clock):
    for n in range(9):
        ends = clock.now() if n % 3 == 0 else later(10**9 + n)
        await store.commit(Insert(TICKETS, Ticket(id=f"t{n}", expires_at=ends)))
    records, sizes = await walk(store, TICKETS, 2, where={"owner": "me"}, order="expires_at")

    assert (ids(records), sizes) == (["t1", "t2", "t4", "t5", "t7", "t8"], [2, 2, 2])


@pytest.mark.parametrize(
    ("where", "order"),
    [
        ({"note": "x"}, None),
        ({"org_id": "org"}, None),
        ({"org_id": "org"}, "note"),
        ({"org_id": "org"}, "n"),
        ({"org_id": "org", "is_active": True}, "family"),
        ({"created_at": later(0)}, "org_id"),
        (None, "created_at"),
        ({"org_id": StartsWith("o")}, "created_at"),
        ({"org_id": "org", "note": StartsWith("x")}, None),
        ({"org_id": StartsWith("o"), "login_key": StartsWith("u")}, None),
    ],
)
async def test_what_no_declared_list_answers_is_refused(store, where, order):
    with pytest.raises(Undeclared):
        await store.find(USERS, where, order=order)


@pytest.mark.parametrize("where", [{"note": "x"}, {"created_at": later(0)}, {"n": 0}])
async def test_a_count_that_no_declared_list_answers_is_refused(store, where):
    with pytest.raises(Undeclared):
        await store.count(USERS, where)


@pytest.mark.parametrize(
    ("where", "n"),
    [
        (None, 15),
        ({"org_id": "org"}, 12),
        ({"org_id": "else"}, 3),
        ({"org_id": "none"}, 0),
        ({"org_id": "org", "created_at": later(2)}, 3),
        ({"org_id": "org", "family": "family 003"}, 3),
        ({"login_key": "u01@example.com"}, 1),
        ({"org_id": "org", "login_key": StartsWith("u0")}, 10),
    ],
)
async def test_a_count_matches_and_is_capped(store, people, where, n):
    assert await store.count(USERS, where) == n
    assert await store.count(USERS, where, up_to=2) == min(n, 2)


async def test_a_collection_that_was_not_opened_is_refused(store):
    stranger = Collection("strangers", Entry)
    with pytest.raises(Undeclared):
        await store.get(stranger, "a")
    with pytest.raises(Undeclared):
        await store.commit(Insert(stranger, Entry(id="a")))


async def test_lists_have_nothing_of_other_collections(store, people):
    assert (await store.find(ENTRIES)).records == []
