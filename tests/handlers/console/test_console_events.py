"""The audit log in the console: looked through, narrowed, and taken away."""

from __future__ import annotations

import json
import re

import pytest

from idp.audit import failure_events
from idp.records import PROJECTS, USERS
from tests.support.management import console
from tests.support.management.callers import new_organization
from tests.support.sign_in.steps import text_of

PATH = "/ui/console/events"


async def new_project(visitor, name):
    form = await visitor.get("/ui/console/projects/new")
    page = await visitor.submit(form, name=name)
    return page.url.rpartition("/")[2].partition("?")[0]


def types(page):
    return re.findall(r'<td><code dir="ltr">([a-z_]+\.[a-z_]+)</code>', page.text)


def lines(page):
    return [json.loads(line) for line in page.text.splitlines()]


async def test_a_change_is_seen_with_who_made_it_and_in_which_request(server, visitor):
    await console.admin(server, visitor)
    id = await new_project(visitor, "Shop")
    page = await visitor.get(f"{PATH}?aggregateId={id}")
    event = lines(await visitor.get(f"{PATH}/download?aggregateId={id}"))[0]

    assert types(page) == ["project.created"]
    assert "Administrator" in page.text
    assert event["requestId"] in page.text
    assert types(await visitor.get(f"{PATH}?requestId={event['requestId']}")) == [
        "project.created"
    ]


@pytest.mark.parametrize("query", ["eventTypes=project.created", "aggregateId={id}"])
async def test_what_is_searched_for_is_found_and_can_be_taken_away(server, visitor, query):
    await console.admin(server, visitor)
    id = await new_project(visitor, "Shop")
    asked = query.format(id=id)
    page, file = (
        await visitor.get(f"{PATH}?{asked}"),
        await visitor.get(f"{PATH}/download?{asked}"),
    )

    assert set(types(page)) == {"project.created"}
    assert f"/events/download?{asked}" in page.text
    assert id in {event["aggregate"]["id"] for event in lines(file)}
    assert {event["type"]["type"] for event in lines(file)} == {"project.created"}
    assert file.headers["Content-Type"] == "application/x-ndjson"
    assert file.headers["Content-Disposition"] == 'attachment; filename="events.ndjson"'


@pytest.mark.full
async def test_the_log_is_read_page_by_page(server, visitor):
    await console.admin(server, visitor)
    for n in range(30):
        await new_project(visitor, f"P{n}")
    page = await visitor.get(f"{PATH}?eventTypes=project.created")
    seen = types(page)
    while found := re.search(r'href="([^"]+)" rel="next"', page.text):
        page = await visitor.get(found[1].replace("&amp;", "&"))
        assert "First page" in page.text
        seen += types(page)

    made = [one async for one in server.store.scan(PROJECTS)]
    assert len(seen) >= 30
    assert len(seen) <= len(made)


@pytest.mark.parametrize(
    "query", ["cursor=x", "editorUserId=" + "x" * 300, "eventTypes=" + "y" * 300]
)
async def test_a_search_that_makes_no_sense_is_reported(server, visitor, query):
    await console.admin(server, visitor)
    page = await visitor.get(f"{PATH}?{query}")

    assert (page.status, page.name) == (400, "console/list")
    assert "<title>Error: " in page.text
    assert (await visitor.get(f"{PATH}/download?{query}&cursor=")).status in (200, 400)


@pytest.mark.full
async def test_an_organization_sees_its_own_changes_alone(server, visitor, new_visitor):
    await console.admin(server, visitor)
    id = await new_project(visitor, "Secret plans")
    stranger, other = new_visitor(), await new_organization(server, "other.example")
    await console.manager(server, stranger, "ORG_OWNER", org_id=other.id)
    mine = await stranger.get(f"{PATH}?aggregateId={id}")
    file = await stranger.get(f"{PATH}/download")
    all = [f"{PATH}/installation", f"{PATH}/installation/download"]

    assert types(mine) == []
    assert id not in file.text
    assert [(await stranger.get(path)).status for path in all] == [403, 403]
    assert id in (await visitor.get(f"{PATH}/installation?aggregateId={id}")).text
    assert id in (await visitor.get(f"{PATH}/installation/download")).text


@pytest.mark.promise("credentials: events")
@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", ["A sign-in of this user was refused.", "Cause: wrong password or code"]),
        ("de", ["Eine Anmeldung dieses Benutzers wurde abgelehnt.", "Netz: 192.0.2.7"]),
    ],
)
async def test_a_refused_sign_in_says_who_why_and_from_where(server, visitor, lang, said):
    await console.admin(server, visitor)
    (user,) = (await server.store.find(USERS, {"login_key": "demo"})).records
    failure_events.sign_in(server.service, user.id, "wrong", "192.0.2.7", "<shop>")
    await failure_events.flush(server.service)
    page = await visitor.get(f"{PATH}?eventTypes=user.sign_in.failed&lang={lang}")
    text = text_of(page)

    assert all(one in text for one in [*said, "Client: <shop>", f"demo ({user.id})"]), text
    assert "<shop>" not in page.text
    assert "<bdi>192.0.2.7</bdi>" in page.text
    assert not re.search(r"\d{4}-\d\d-\d\dT", text)
