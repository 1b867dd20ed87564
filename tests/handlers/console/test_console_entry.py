"""Who gets into the console, as whom, and into which organization."""

import re
from datetime import timedelta

import pytest

from idp.audit import sealing
from idp.records import AUDIT_HEADS
from storage import Update
from tests.support.management import console


async def test_a_stranger_signs_in_and_comes_back_to_the_requested_page(server, visitor):
    page = await console.admin(server, visitor, "/ui/console/users?text=a")

    assert (page.status, page.name) == (200, "console/list")
    assert page.url == f"{server.issuer}/ui/console/users?text=a"


async def test_who_cancels_the_sign_in_does_not_get_in(server, visitor):
    page = await visitor.open("/ui/console")
    page = await visitor.submit(page, decision="cancel")

    assert page.name == "signed-in"
    assert (await visitor.get("/ui/console")).status == 303


async def test_a_user_who_manages_nothing_sees_so_and_can_sign_out(server, visitor):
    page = await console.sign_in(visitor, *server.user)

    assert (page.status, page.name) == (403, "console/message")
    assert "manage any organization" in page.text
    assert "/oidc/v1/end_session" in page.text


@pytest.mark.promise("security: console")
async def test_the_address_with_a_slash_at_its_end_is_the_one_without(server, visitor):
    plain = await visitor.get("/ui/console/")
    asking = await visitor.get("/ui/console/?org=1")

    assert (plain.status, plain.location) == (308, f"{server.issuer}/ui/console")
    assert (asking.status, asking.location) == (308, f"{server.issuer}/ui/console?org=1")


@pytest.mark.full
async def test_of_two_people_in_a_browser_one_is_chosen(server, visitor):
    await console.admin(server, visitor)
    await visitor.open("/ui/console/account")
    page = await console.manager(
        server, visitor, "ORG_USER_MANAGER", path="/ui/console/account", name="minnie"
    )
    assert "Minnie" in page.text
    assert page.url == f"{server.issuer}/ui/console"

    chooser = await visitor.open("/ui/console/account")
    sessions = [value for _, value in chooser.buttons if value not in ("other", "cancel")]
    names = set()
    for session in sessions:
        chooser = await visitor.open("/ui/console/account")
        page = await visitor.submit(chooser, account=session)
        names.add(re.search("<bdi>(.*?)</bdi></summary>", page.text)[1].split()[0])

    assert names == {"Minnie", "Administrator"}


async def test_another_site_chooses_nobody(server, visitor):
    await console.admin(server, visitor)
    await console.manager(
        server, visitor, "ORG_USER_MANAGER", path="/ui/console/account", name="minnie"
    )
    chooser = await visitor.open("/ui/console/account")
    session = next(value for _, value in chooser.buttons if value not in ("other", "cancel"))

    answer = await visitor.get(
        f"/ui/console?session={session}", headers={"Sec-Fetch-Site": "cross-site"}
    )

    assert answer.status == 303
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize(
    ("role", "sees"),
    [
        ("ORG_USER_MANAGER", {"organizations", "users"}),
        ("ORG_PROJECT_CREATOR", {"projects", "applications"}),
    ],
)
async def test_the_navigation_has_what_the_roles_allow(server, visitor, role, sees):
    page = await console.manager(server, visitor, role)

    shown = {"organizations", "users", "projects", "applications"}
    assert {name for name in shown if f'href="/ui/console/{name}"' in page.text} == sees
    for name in shown - sees:
        assert (await visitor.get(f"/ui/console/{name}")).status == 403


@pytest.mark.full
async def test_nobody_sees_an_organization_that_they_do_not_manage(server, visitor, new_visitor):
    admin = new_visitor()
    await console.admin(server, admin)
    page = await admin.open("/ui/console/organizations/new")
    filled = {
        "org.name": "Acme",
        "human.userName": "anna",
        "human.profile.firstName": "Anna",
        "human.profile.lastName": "Owner",
        "human.email.email": "anna@acme.example",
    }
    made = await admin.submit(page, **filled)
    acme = made.url.partition("/organizations/")[2].partition("?")[0]
    await console.manager(server, visitor, "ORG_OWNER")

    there = await visitor.get(f"/ui/console/organizations/{acme}")
    nowhere = await visitor.get("/ui/console/organizations/nothing-like-that")
    users = await visitor.get(f"/ui/console/users?org={acme}")
    listed = await visitor.get("/ui/console/organizations")

    assert (there.status, nowhere.status, users.status) == (404, 404, 404)
    assert _but_for_ids(there.text) == _but_for_ids(nowhere.text)
    assert "Acme" not in listed.text


def _but_for_ids(html):
    return [line for line in html.splitlines() if 'name="org"' not in line]


async def test_a_sign_in_that_took_too_long_begins_anew_at_the_console(server, visitor):
    page = await visitor.open("/ui/console/users")

    server.clock.advance(2 * 3600)
    late = await visitor.submit(page, loginName="admin@localhost")

    assert (late.status, late.name) == (410, "expired")
    assert 'href="/ui/console/users"' in late.text


async def test_what_concerns_the_installation_asks_for_a_password_of_late(server, visitor):
    await console.admin(server, visitor)
    server.clock.advance(3 * 3600)
    assert (await visitor.get("/ui/console/users")).status == 200

    asked = await visitor.open("/ui/console/organizations/new?lang=en")
    page = await visitor.submit(asked, password=console.PASSWORD)

    assert asked.name == "password"
    assert (page.name, page.url) == (
        "console/action",
        f"{server.issuer}/ui/console/organizations/new?lang=en",
    )


async def test_somebody_else_can_not_answer_for_the_owner(server, visitor):
    await console.admin(server, visitor)
    server.clock.advance(3 * 3600)
    asked = await visitor.open("/ui/console/organizations/new")
    name, password = server.user

    name_page = await visitor.open(asked.url.replace("/password?", "/name?"))
    page = await visitor.submit(name_page, loginName=name)
    page = await visitor.submit(page, password=password)

    assert page.name != "console/action"


async def test_a_malformed_address_of_the_console_is_answered_by_a_page(server, visitor):
    await console.admin(server, visitor)

    addresses = ("?a=%zz", "/users?text=a&text=b", "/users/%ff", "/users?org=%00", "?org=a&org=b")
    for address in addresses:
        page = await visitor.get(f"/ui/console{address}")

        assert 400 <= page.status < 500, address
        assert page.name in ("error", "console/message"), address
    assert (await visitor.request("PUT", "/ui/console/users")).status == 405


async def test_a_page_is_light_with_all_that_it_needs(server, visitor):
    await console.admin(server, visitor)
    org = await console.own_org(server)

    for path in ("", "/users", "/users/new", f"/organizations/{org.id}", "/organizations/new"):
        page = await visitor.open(f"/ui/console{path}")
        needed = set(re.findall(r'(?:href|src)="(/ui/static/[^"]+\.(?:css|js))"', page.text))
        sent = [await sent_bytes(visitor, each) for each in sorted(needed)]

        assert len(sent) == 4
        assert len(page.text.encode()) + sum(sent) < 40_000, path


async def sent_bytes(visitor, path):
    """How long a file is on the wire."""
    answer = await visitor.http.get(visitor.base + path, headers={"Accept-Encoding": "gzip"})
    return int(answer.headers["Content-Length"])


async def test_the_checklist_distinguishes_a_sign_in_to_an_application_from_one_to_the_demo(
    server, visitor, new_visitor, demo
):
    async def is_done():
        page = await visitor.open("/ui/console")
        task = page.text.partition("Test the sign-in")[2].partition("</li>")[0]
        return ">done<" in task

    await console.admin(server, visitor)
    await demo.tokens(new_visitor(), *server.user)
    before = await is_done()
    party = await server.register()
    await party.tokens(new_visitor(), *server.user)

    assert (before, await is_done()) == (False, True)


async def test_the_checklist_says_from_when_on_events_are_removed_after_an_upgrade(
    server, visitor
):
    await console.admin(server, visitor)
    await sealing.seal(server.service)
    before = await visitor.open("/ui/console")
    since = server.clock.now() + timedelta(days=30)
    await server.store.commit(Update(AUDIT_HEADS, "access", set={"removable_from": since}))
    coming = await visitor.open("/ui/console")
    await server.store.commit(
        Update(AUDIT_HEADS, "access", set={"removable_from": server.clock.now()})
    )
    begun = await visitor.open("/ui/console")

    sentence = f"From {since:%Y-%m-%d} on, old events are removed from the audit log"
    assert [sentence in each.text for each in (before, coming, begun)] == [False, True, False]
    assert (
        "authorizations: after 400 days; refused attempts: after 90; changes: after 0 (0: never)"
        in coming.text
    )
