"""What others keep with a user, entry by entry, over HTTP."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest

from idp.records import USER_METADATA
from tests.support.management.callers import refused
from tests.support.sign_in.people import create
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything, only


@pytest.fixture
def user(io_loop, owner) -> str:
    """The id of a person with an entry `shoes`."""

    async def make():
        made = await create(owner, metadata=[{"key": "shoes", "value": "cmVk"}])
        return made["userId"]

    return io_loop.run_sync(make)


def entry(user, key):
    return f"/management/v1/users/{user}/metadata/{quote(key, safe='')}"


async def test_an_entry_that_came_with_the_user_is_read(owner, user):
    found = (await owner.get(entry(user, "shoes"))).json()["metadata"]

    assert (found["key"], found["value"]) == ("shoes", "cmVk")
    assert found["details"]["sequence"] == "1"


@pytest.mark.parametrize(
    "key", ["hat", "a/b", "ü ß", "100%", "$where", "a.b", "__proto__", "x" * 200]
)
async def test_an_entry_is_set_replaced_and_removed(server, owner, user, key):
    path = entry(user, key)
    made = await owner.post(path, {"value": "cmVk"})
    assert made.json()["details"]["sequence"] == "1"
    changed = await owner.post(path, {"value": "Ymx1ZQ=="})
    assert changed.json()["details"]["sequence"] == "2"
    assert (await owner.get(path)).json()["metadata"]["value"] == "Ymx1ZQ=="

    gone = await owner.request("DELETE", path, None)

    assert gone.json()["details"]["sequence"] == "3"
    assert refused(await owner.get(path), 404, 5) == {"": "metadata.not_found"}
    refused(await owner.request("DELETE", path, None), 404, 5)
    assert (await owner.post(path, {"value": "cmVk"})).json()["details"]["sequence"] == "1"
    await events_agree(server.store)


async def test_the_url_alphabet_is_stored_as_the_usual_one(owner, user):
    await owner.post(entry(user, "k"), {"value": "-_8="})

    assert (await owner.get(entry(user, "k"))).json()["metadata"]["value"] == "+/8="


async def test_a_value_has_up_to_500000_characters(server, owner, user):
    longest = base64.b64encode(b"x" * 375_000).decode()
    assert len(longest) == 500_000
    assert (await owner.post(entry(user, "k"), {"value": longest})).status == 200
    before = await everything(server.store)
    page = await owner.post(entry(user, "k"), {"value": longest + "AAAA"})

    assert refused(page, 400, 3) == {"value": "field.too_long"}
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    ("key", "error_code"),
    [("x" * 201, "field.too_long"), (" ", "field.empty"), ("a\nb", "field.characters")],
)
async def test_a_key_is_held_to_its_rule(server, owner, user, key, error_code):
    before = await everything(server.store)
    page = await owner.post(entry(user, key), {"value": "cmVk"})

    assert refused(page, 400, 3) == {"key": error_code}
    assert await everything(server.store) == before


async def test_of_two_who_set_an_entry_at_once_the_later_one_replaces(
    server, owner, user, monkeypatch
):
    get, missed = server.store.get, []

    async def late(collection, id):
        if collection is USER_METADATA and not missed:
            missed.append(id)
            return None
        return await get(collection, id)

    monkeypatch.setattr(server.store, "get", late)
    page = await owner.post(entry(user, "shoes"), {"value": "Ymx1ZQ=="})

    assert page.json()["details"]["sequence"] == "2"
    assert (await only(server.store, USER_METADATA)).value == "Ymx1ZQ=="


async def test_entries_are_found_by_their_keys_in_pages(owner, user):
    for key in ("shoe size", "hat"):
        assert (await owner.post(entry(user, key), {"value": "cmVk"})).status == 200
    prefix = {"key": "shoe", "method": "TEXT_QUERY_METHOD_STARTS_WITH"}

    everything_there = (await owner.post(entry(user, "_search"), {})).json()
    found = (await owner.post(entry(user, "_search"), {"queries": [{"keyQuery": prefix}]})).json()
    first = (await owner.post(entry(user, "_search"), {"query": {"limit": 2}})).json()

    assert [one["key"] for one in everything_there["result"]] == ["hat", "shoe size", "shoes"]
    assert [one["key"] for one in found["result"]] == ["shoe size", "shoes"]
    assert (len(first["result"]), first["details"]["totalResult"]) == (2, "3")
    assert first["nextCursor"]


@pytest.mark.full
async def test_a_page_of_long_values_ends_early_and_goes_on(owner, user):
    for n in range(10):
        long = {"value": "QUJD" * 125_000}
        assert (await owner.post(entry(user, f"k{n}"), long)).status == 200
    keys, pages, query = [], 0, {}
    while query is not None:
        answer = (await owner.post(entry(user, "_search"), {"query": query})).json()
        keys += [one["key"] for one in answer["result"]]
        query, pages = answer.get("nextCursor") and {"cursor": answer["nextCursor"]}, pages + 1

    assert keys == [*(f"k{n}" for n in range(10)), "shoes"]
    assert pages > 1
