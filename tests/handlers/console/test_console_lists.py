"""Lists of the console: filters that are removed one by one, order, page size, last sign-ins."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from idp.usage import flushing
from tests.handlers.console.test_console_entry import sent_bytes
from tests.support.management import console
from tests.support.pages.rendered import Page
from tests.support.store.stored import everything

USERS = "/ui/console/users"


async def with_users(server, visitor, *names):
    await console.admin(server, visitor)
    for name in names:
        form = await visitor.get(f"{USERS}/new")
        entered = {
            "profile.givenName": name,
            "profile.familyName": "Mouse",
            "email.email": f"{name.lower()}@acme.example",
            "username": name.lower()[::-1],
        }
        assert (await visitor.submit(form, **entered)).status == 200


def names(page):
    return re.findall(r'<th scope="row"><a [^>]*><bdi>(.*?)</bdi>', page.text)


def chips(page):
    """What the filters in use are, and the query of the address without each."""
    found = [link for link in Page(page.text).all("a") if link.get("class") == "chip"]
    return {
        re.sub(r"\s+", " ", link["text"]).strip(): parse_qs(urlsplit(link["href"]).query)
        for link in found
    }


def orders(page):
    """How the list is sorted by each column with a head that is a link."""
    heads = [each for each in Page(page.text).all("th") if each.get("scope") == "col"]
    return {each["text"]: each.get("aria-sort") for each in heads if each["text"]}


async def test_each_filter_in_use_is_removed_by_its_own_link(server, visitor):
    await with_users(server, visitor)
    page = await visitor.get(f"{USERS}?text=min&by=lastName&state=USER_STATE_ACTIVE&sort=0")

    assert chips(page) == {
        "Remove the filter: Begins with: min": {
            "by": ["lastName"],
            "state": ["USER_STATE_ACTIVE"],
            "sort": ["0"],
        },
        "Remove the filter: Search in: Family name": {
            "text": ["min"],
            "state": ["USER_STATE_ACTIVE"],
            "sort": ["0"],
        },
        "Remove the filter: State: active": {"text": ["min"], "by": ["lastName"], "sort": ["0"]},
    }
    assert chips(await visitor.get(f"{USERS}?by=displayName&state=")) == {}


async def test_a_column_is_sorted_by_its_head_and_back_by_the_same(server, visitor):
    await with_users(server, visitor, "Anna", "Zoe", "Minnie")
    people = ["Anna Mouse", "Minnie Mouse", "Zoe Mouse"]
    ascending = await visitor.get(f"{USERS}?sort=0")
    descending = await visitor.get(f"{USERS}?sort=-0")
    by_user_name = await visitor.get(f"{USERS}?sort=2")  # anna, einnim, eoz
    (turn,) = re.findall(r'<th scope="col" aria-sort="ascending"><a href="(.*?)"', ascending.text)

    assert [name for name in names(ascending) if name in people] == people
    assert [name for name in names(descending) if name in people] == people[::-1]
    assert [name for name in names(by_user_name) if name in people] == people
    assert turn == f"{USERS}?sort=-0"
    assert orders(descending)["Name"] == "descending"
    assert orders(descending)["Username"] is None


@pytest.mark.parametrize("query", ["sort=1", "sort=x", "sort=--0", "size=26", "size=-1", "size="])
async def test_an_order_or_a_size_that_there_is_not_is_ignored(server, visitor, query):
    await with_users(server, visitor)
    before = await everything(server.store)
    page = await visitor.get(f"{USERS}?{query}")

    assert (page.status, names(page)) == (200, names(await visitor.get(USERS)))
    assert await everything(server.store) == before


@pytest.mark.full
async def test_a_page_has_25_50_or_100_rows_and_keeps_its_order(server, visitor):
    await with_users(server, visitor, *(f"P{n:02}" for n in range(30)))
    page = await visitor.get(f"{USERS}?sort=0")
    (larger,) = re.findall(r'<a href="([^"]*size=50[^"]*)">50</a>', page.text)
    whole = await visitor.get(larger.replace("&amp;", "&"))

    assert len(names(page)) == 25
    assert len(names(whole)) > 30
    assert names(whole) == sorted(names(whole))
    assert "Rows per page" not in whole.text


async def test_the_last_sign_in_of_each_user_is_in_the_list(server, visitor):
    await with_users(server, visitor, "Minnie")
    await flushing.flush_all(server.service)
    page = await visitor.get(f"{USERS}?sort=0")
    rows = re.findall(r"<tr>.*?</tr>", page.text, re.DOTALL)
    (admin,) = [row for row in rows if ">Administrator<" in row]
    (minnie,) = [row for row in rows if ">Minnie Mouse<" in row]

    assert " ago</time>" in admin
    assert "<td>never</td>" in re.sub(r"\s*\n\s*", "", minnie)


@pytest.mark.full
async def test_a_page_of_25_rows_is_light_with_all_that_it_needs(server, visitor):
    await with_users(server, visitor, *(f"P{n:02}" for n in range(30)))
    users = await visitor.get(f"{USERS}?sort=0")
    (admin,) = re.findall(r'href="([^"]+)"><bdi>Administrator<', users.text)
    for address in (USERS, "/ui/console/events", f"{admin}/activity"):
        page = await visitor.get(address)
        needed = set(re.findall(r'(?:href|src)="(/ui/static/[^"]+\.(?:css|js))"', page.text))
        sent = [await sent_bytes(visitor, each) for each in needed]

        assert page.text.count("<tr>") > 25 or page.text.count("· <a ") == 25
        assert len(page.text.encode()) + sum(sent) < 40_000, address
