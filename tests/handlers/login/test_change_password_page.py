"""The one-time password: it opens nothing but the page where its owner chooses another."""

import pytest

from idp.records import EVENTS, INSTANCE_ID, INSTANCES, SESSIONS, USERS
from storage import Update
from tests.support.sign_in.steps import (
    ADMIN_PASSWORD,
    at_change,
    at_password,
    cancel,
    shape,
    text_of,
)

CANCEL = ("decision", "cancel")


@pytest.fixture
def admin(server):
    return server.start.admin


async def sessions_of(server):
    return [one async for one in server.store.scan(SESSIONS)]


async def test_a_one_time_password_leads_to_the_choice_of_another(visitor, demo, server, admin):
    page = await at_change(visitor, demo, admin)

    assert page.status == 200
    assert shape(page) == ("change-password", ["loginName", "newPassword"], [CANCEL])
    assert page.inputs["loginName"] == admin.login_name
    assert "works only once" in text_of(page)
    assert await sessions_of(server) == []


async def test_the_new_password_signs_in_at_once_and_later(visitor, new_visitor, demo, admin):
    page = await visitor.submit(await at_change(visitor, demo, admin), newPassword=ADMIN_PASSWORD)
    assert "code" in page.answer
    page = await new_visitor().sign_in(demo.authorize_url(), admin.login_name, ADMIN_PASSWORD)

    assert "code" in page.answer


async def test_a_one_time_password_counts_once(visitor, new_visitor, demo, admin):
    await visitor.submit(await at_change(visitor, demo, admin), newPassword=ADMIN_PASSWORD)
    page = await new_visitor().sign_in(demo.authorize_url(), admin.login_name, admin.password)

    assert (page.status, page.name) == (400, "password")


async def test_of_two_browsers_with_the_one_time_password_one_chooses(
    new_visitor, demo, server, admin
):
    first, second = new_visitor(), new_visitor()
    pages = [await at_change(one, demo, admin) for one in (first, second)]
    chosen = await first.submit(pages[0], newPassword=ADMIN_PASSWORD)
    late = await second.submit(pages[1], newPassword="another quiet afternoon")

    assert "code" in chosen.answer
    assert (late.status, late.name) == (200, "password")
    assert len(await sessions_of(server)) == 1
    again = await second.submit(late, password=ADMIN_PASSWORD)
    assert "code" in again.answer


async def test_a_one_time_password_expires(visitor, demo, server, admin):
    page = await at_password(visitor, demo, admin.login_name)
    server.clock.advance(3600 - 1)
    in_time = await visitor.submit(page, password=admin.password)
    server.clock.advance(1)
    page = await visitor.sign_in(demo.authorize_url(), admin.login_name, admin.password)

    assert in_time.name == "change-password"
    assert (page.status, page.name) == (400, "password")


async def test_the_step_can_not_be_left_out(visitor, demo, admin):
    page = await at_change(visitor, demo, admin)
    for path in ("/ui/login", "/ui/login/password", "/ui/login/accounts"):
        other = await visitor.open(page.url.replace("/ui/login/change-password", path))
        assert other.name == "change-password"

    assert (await demo.silently(visitor))["error"] == "login_required"


async def test_the_step_can_not_be_reached_without_the_password(visitor, demo, admin):
    page = await at_password(visitor, demo, admin.login_name)
    address = page.url.replace("/ui/login/password", "/ui/login/change-password")
    shown = await visitor.open(address)
    sent = await visitor.post(address, {**page.hidden, "newPassword": ADMIN_PASSWORD})
    sent = await visitor.follow(sent)

    assert (shown.name, sent.name) == ("password", "password")
    assert (await visitor.submit(shown, password=ADMIN_PASSWORD)).status == 400


async def test_an_abandoned_choice_can_be_begun_again(visitor, new_visitor, demo, admin):
    await at_change(visitor, demo, admin)
    page = await visitor.open(demo.authorize_url())
    assert page.name == "login-name"
    page = await at_change(visitor, demo, admin)
    other = await at_change(new_visitor(), demo, admin)
    page = await visitor.submit(page, newPassword=ADMIN_PASSWORD)

    assert other.name == "change-password"
    assert "code" in page.answer


async def test_a_cancelled_choice_leaves_the_password_as_it_was(visitor, demo, admin):
    page = await cancel(visitor, await at_change(visitor, demo, admin))

    assert page.answer["error"] == "access_denied"
    assert (await at_change(visitor, demo, admin)).status == 200


async def test_another_user_begins_with_the_name(visitor, demo, server, admin):
    page = await at_change(visitor, demo, admin)
    page = await visitor.open(page.url.replace("/change-password", "/name"))
    page = await visitor.submit(page, loginName="demo")
    page = await visitor.submit(page, password=server.user[1])

    assert "code" in page.answer


@pytest.mark.parametrize(
    ("password", "said"),
    [
        ("", ["Use at least 8 characters."]),
        ("kurz", ["Use at least 8 characters."]),
        ("pass", ["Use at least 8 characters.", "too common"]),
        ("password1", ["too common"]),
        ("admin", ["Use at least 8 characters.", "too common", "little more than"]),
        ("admin@localhost", ["little more than your name"]),
        ("x" * 201, ["Use at most 200 characters."]),
        ("a quiet\0afternoon", ["characters that can't be used"]),
    ],
)
async def test_everything_wrong_with_a_password_is_reported_at_once(
    visitor, demo, admin, password, said
):
    page = await at_change(visitor, demo, admin)
    refused = await visitor.submit(page, newPassword=password)

    assert (refused.status, refused.name) == (400, "change-password")
    assert all(text_of(refused).count(one) == 1 for one in said), text_of(refused)
    assert 'class="summary"' not in refused.text
    assert refused.inputs["newPassword"] == ""
    assert "code" in (await visitor.submit(refused, newPassword=ADMIN_PASSWORD)).answer


@pytest.mark.parametrize("password", ["x7 " * 66 + "yz", "𝒜" * 200, "        "])
async def test_long_foreign_and_spacious_passwords_are_taken(
    visitor, new_visitor, demo, admin, password
):
    await visitor.submit(await at_change(visitor, demo, admin), newPassword=password)
    page = await new_visitor().sign_in(demo.authorize_url(), admin.login_name, password)

    assert "code" in page.answer


async def test_the_choice_is_written_down_and_forgets_what_was_printed(
    visitor, demo, server, admin
):
    await visitor.submit(await at_change(visitor, demo, admin), newPassword=ADMIN_PASSWORD)
    types = [event.type async for event in server.store.scan(EVENTS)]
    instance = await server.store.get(INSTANCES, INSTANCE_ID)

    assert types.count("user.password_changed") == 1
    assert types.count("session.opened") == 1
    assert instance.first_admin is None


async def test_a_deactivated_person_chooses_nothing(visitor, demo, server, admin):
    page = await at_change(visitor, demo, admin)
    found = await server.store.find(USERS, {"login_key": admin.login_name})
    await server.store.commit(Update(USERS, found.records[0].id, set={"state": "inactive"}))
    page = await visitor.submit(page, newPassword=ADMIN_PASSWORD)

    assert page.name == "password"
    assert (await visitor.submit(page, password=admin.password)).status == 400
    assert await sessions_of(server) == []


async def test_the_page_sent_twice_leads_on(visitor, demo, admin):
    page = await at_change(visitor, demo, admin)
    first = await visitor.send(page, newPassword=ADMIN_PASSWORD)
    second = await visitor.submit(page, newPassword=ADMIN_PASSWORD)

    assert first.status == 303
    assert "code" in second.answer


async def test_a_logout_ends_the_progress_after_a_one_time_password(server, visitor, demo):
    admin = server.start.admin
    page = await visitor.sign_in(demo.authorize_url(), admin.login_name, admin.password)
    assert page.name == "change-password"
    await visitor.open("/oidc/v1/end_session")
    again = await visitor.submit(page, newPassword="correct horse battery staple")

    assert again.name in ("password", "expired")
    assert "code" not in again.answer
