"""The audit log in the console: looked through, narrowed, and taken away."""

from __future__ import annotations

import html
import json
import re
from datetime import timedelta

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
    return re.findall(r'· <a [^>]*><code dir="ltr">([a-z_]+\.[a-z_.]+)</code>', page.text)


def lines(page):
    return [json.loads(line) for line in page.text.splitlines()]


async def test_a_change_is_seen_with_who_made_it_and_in_which_request(server, visitor):
    await console.admin(server, visitor)
    id = await new_project(visitor, "Shop")
    event = lines(await visitor.get(f"{PATH}/download?aggregateId={id}"))[0]
    page = await visitor.get(f"{PATH}?aggregateId={id}&event={event['id']}")

    assert types(page) == ["project.created"]
    assert "Administrator" in page.text
    assert f'href="{PATH}?requestId={event["requestId"]}"' in page.text
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

    assert (page.status, page.name) == (400, "console/events")
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
        ("en", ["A sign-in of Dana Demo was refused.", "Cause: wrong password or code"]),
        ("de", ["Eine Anmeldung von Dana Demo wurde abgelehnt.", "Netz: 192.0.2.7"]),
    ],
)
async def test_a_refused_sign_in_says_who_why_and_from_where(server, visitor, lang, said):
    await console.admin(server, visitor)
    (user,) = (await server.store.find(USERS, {"login_key": "demo"})).records
    failure_events.sign_in(server.service, user.id, "wrong", "192.0.2.7", "<shop>")
    await failure_events.flush(server.service)
    page = await visitor.get(f"{PATH}?eventTypes=user.sign_in.failed&lang={lang}")
    page.text = re.sub("<pre.*?</pre>", "", page.text, flags=re.DOTALL)
    text = text_of(page)

    assert all(one in text for one in [*said, "Client: <shop>"]), text
    assert f'href="/ui/console/users/{user.id}"' in page.text
    assert "<shop>" not in page.text
    assert "<bdi>192.0.2.7</bdi>" in page.text
    assert not re.search(r"\d{4}-\d\d-\d\dT", text)


def sentences(page):
    """What each event says, with the addresses that its names lead to."""
    texts = re.findall(r"<div>\n<p>(.*?)</p>", page.text, re.DOTALL)
    return [
        (re.sub("<.*?>", "", text), re.findall(r'href="([^"?]+)', text))
        for text in texts
        if "<bdi>" in text
    ]


async def test_a_sentence_says_who_did_what_to_what_and_leads_there(server, visitor):
    await console.admin(server, visitor)
    id = await new_project(visitor, "<i>Shop</i>")
    (admin,) = (await server.store.find(USERS, {"login_key": "admin@localhost"})).records
    page = await visitor.get(f"{PATH}?aggregateId={id}")

    assert sentences(page) == [
        (
            "Administrator created the project &lt;i&gt;Shop&lt;/i&gt;.",
            [f"/ui/console/users/{admin.id}", f"/ui/console/projects/{id}"],
        )
    ]


async def test_the_event_itself_is_one_click_away_and_the_search_stays(server, visitor):
    await console.admin(server, visitor)
    id = await new_project(visitor, "<i>Shop</i>")
    page = await visitor.get(f"{PATH}?aggregateId={id}&event=another")
    (address,) = re.findall(r'· <a href="([^"]+)"><code', page.text)
    shown = await visitor.get(html.unescape(address))
    documents = re.findall(r"<pre dir.*?<code>(.*?)</code>", shown.text, re.DOTALL)

    assert "<pre dir" not in page.text
    assert types(shown) == ["project.created"]
    assert [json.loads(html.unescape(each))["aggregate"]["id"] for each in documents] == [id]


@pytest.mark.parametrize(
    ("chosen", "offered", "absent"),
    [
        ("", "applications", "project.created"),
        ("applications", "project.created", "session.opened"),
        ("project.created", "application.created", "session.opened"),
    ],
)
async def test_the_types_of_the_chosen_group_can_be_chosen(
    server, visitor, chosen, offered, absent
):
    await console.admin(server, visitor)
    page = await visitor.get(f"{PATH}?eventTypes={chosen}")
    options = re.findall(r'<option(?: value="([^"]*)")?[^>]*>([a-z_.]*)', page.text)
    values = {value or text for value, text in options}

    assert offered in values
    assert absent not in values


async def test_what_is_gone_is_named_by_its_id(server, visitor):
    await console.admin(server, visitor)
    id = await new_project(visitor, "Shop")
    form = await visitor.get(f"/ui/console/projects/{id}/delete")
    await visitor.submit(form, confirm="Shop")
    page = await visitor.get(f"{PATH}?aggregateId={id}&eventTypes=project.deleted")

    assert sentences(page)[0][0] == f"Administrator deleted the project {id}."


async def test_names_of_another_organization_stay_unknown(server, visitor, new_visitor):
    await console.admin(server, visitor)
    manager, other = new_visitor(), await new_organization(server, "other.example")
    form = await visitor.get(f"/ui/console/projects/new?org={other.id}")
    page = await visitor.submit(form, name="Shop")
    assert page.status == 200
    await console.manager(server, manager, "ORG_OWNER", org_id=other.id)
    (admin,) = (await server.store.find(USERS, {"login_key": "admin@localhost"})).records
    (text, links), *_ = sentences(await manager.get(f"{PATH}?eventTypes=project.created"))

    assert text == f"{admin.id} created the project Shop."
    assert all(admin.id not in link for link in links)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("eventTypes=applications", {"project.created", "application.created"}),
        ("eventTypes=sign-ins", {"session.opened"}),
        ("eventTypes=refused", set()),
        (
            "editorUserId=admin@localhost",
            {"project.created", "session.opened", "user.password_changed"},
        ),
        ("editorUserId=admin@localhost&eventTypes=project.created", {"project.created"}),
        ("editorUserId=nobody", set()),
    ],
)
async def test_a_filter_takes_groups_of_types_and_login_names(server, visitor, query, found):
    await console.admin(server, visitor)
    await new_project(visitor, "Shop")

    assert set(types(await visitor.get(f"{PATH}?{query}"))) == found


@pytest.mark.parametrize(
    ("days", "is_found"),
    [
        ("since={today}&until={today}", True),
        ("since={today}", True),
        ("until={today}", True),
        ("until={yesterday}", False),
        ("since={tomorrow}", False),
        ("since=0001-01-01&until=9999-12-31", True),
    ],
)
async def test_days_are_included_from_their_beginning_to_their_end(
    server, visitor, days, is_found
):
    await console.admin(server, visitor)
    today = server.clock.now().date()
    named = {
        "today": today,
        "yesterday": today - timedelta(days=1),
        "tomorrow": today + timedelta(days=1),
    }
    page = await visitor.get(f"{PATH}?{days.format(**named)}")

    assert bool(types(page)) == is_found


async def test_a_day_is_that_of_the_time_zone_of_the_browser(server, visitor):
    await console.admin(server, visitor)
    today = server.clock.now().date()
    visitor.cookies.set("idp_tz", "Pacific/Kiritimati")  # 14 hours ahead of UTC
    assert server.clock.now().hour < 10
    same = await visitor.get(f"{PATH}?since={today}&until={today}")
    visitor.cookies.set("idp_tz", "Pacific/Pago_Pago")  # 11 hours behind
    before = await visitor.get(f"{PATH}?until={today - timedelta(days=1)}")

    assert types(same)
    assert types(before)


@pytest.mark.parametrize("day", ["yesterday", "2030-13-01", "2030-02-30"])
async def test_what_is_no_day_is_refused_at_its_field(server, visitor, day):
    await console.admin(server, visitor)
    page = await visitor.get(f"{PATH}?until={day}")
    file = await visitor.get(f"{PATH}/download?until={day}")

    assert (page.status, file.status) == (400, 400)
    assert 'id="until-problem"' in page.text


async def test_the_page_of_a_user_has_what_they_did_and_what_was_done_to_them(server, visitor):
    await console.admin(server, visitor)
    (admin,) = (await server.store.find(USERS, {"login_key": "admin@localhost"})).records
    (dana,) = (await server.store.find(USERS, {"login_key": "demo"})).records
    server.clock.advance(1)
    form = await visitor.get(f"/ui/console/users/{dana.id}/lock")
    await visitor.submit(form)
    of_dana = await visitor.get(f"/ui/console/users/{dana.id}/activity")
    of_admin = await visitor.get(f"/ui/console/users/{admin.id}/activity")

    assert sentences(of_dana)[0][0] == "Administrator locked the user Dana Demo."
    assert "Setup created the user Dana Demo." in [text for text, _ in sentences(of_dana)]
    assert "Administrator locked the user Dana Demo." in [text for text, _ in sentences(of_admin)]
