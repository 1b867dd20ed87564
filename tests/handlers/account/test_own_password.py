"""Changing the own password while signed in: what it takes, what it ends, what it keeps."""

import asyncio

import pytest

from idp.records import EVENTS, FAILURE_STREAKS, USERS
from storage import Update
from tests.support.management import console
from tests.support.management.callers import new_organization
from tests.support.sign_in import account
from tests.support.sign_in.steps import Seen, account_of, at_password, cancel, shape, text_of

ADDRESS = "/ui/account/password"
NEW = "a slow train to the sea"
CANCEL = ("decision", "cancel")


@pytest.fixture
def tokens(io_loop, visitor, demo, server):
    """The visitor is signed in to the demo with these."""
    found = io_loop.run_sync(lambda: demo.tokens(visitor, *server.user))
    server.clock.advance(60)
    return found


async def change(visitor, server, current=None, new=NEW):
    page = await visitor.open(ADDRESS)
    current = server.user[1] if current is None else current
    return await visitor.submit(page, currentPassword=current, newPassword=new)


async def test_password_managers_find_the_page(visitor, server, tokens):
    answer = await visitor.get("/.well-known/change-password")
    page = await visitor.follow(answer)

    assert (answer.status, answer.location) == (303, server.issuer + ADDRESS)
    assert page.status == 200
    assert shape(page) == (
        "account/password",
        ["loginName", "currentPassword", "newPassword"],
        [CANCEL],
    )
    assert page.inputs["loginName"] == "demo"


async def test_what_is_not_well_known_is_not_there(visitor):
    nothing = "resource-that-should-not-exist-whose-status-code-should-not-be-200"

    assert (await visitor.get(f"/.well-known/{nothing}")).status == 404


async def test_who_is_not_signed_in_signs_in_and_comes_back(visitor, server):
    for answer in (await visitor.get(ADDRESS), await visitor.post(ADDRESS, {"newPassword": NEW})):
        page = await visitor.follow(answer)

        assert (answer.status, page.name) == (303, "login-name")
    page = await visitor.submit(page, loginName=server.user[0])
    page = await visitor.submit(page, password=server.user[1])
    assert (page.name, page.url) == ("account/password", server.issuer + ADDRESS)


async def test_the_new_password_counts_and_the_old_one_does_not(
    visitor, new_visitor, demo, server, tokens
):
    page = await change(visitor, server)
    assert (page.status, page.name) == (200, "account/security")
    assert "Your password was changed." in text_of(page)
    other = new_visitor()
    old = await other.submit(await at_password(other, demo, "demo"), password=server.user[1])

    assert old.status == 400
    assert "code" in (await other.submit(old, password=NEW)).answer


async def test_this_browser_stays_signed_in_with_a_new_cookie(
    visitor, new_visitor, demo, server, tokens
):
    thief = new_visitor()
    thief.cookies.update(visitor.cookies)
    await change(visitor, server)

    assert "code" in await demo.silently(visitor)
    assert (await demo.silently(thief))["error"] == "login_required"


async def test_every_other_session_and_token_ends(visitor, new_visitor, demo, server, tokens):
    other = new_visitor()
    await demo.tokens(other, *server.user)
    await change(visitor, server)

    assert (await demo.silently(other))["error"] == "login_required"
    assert (await demo.userinfo(visitor, tokens["access_token"])).status == 401
    assert (await demo.refresh(visitor, tokens["refresh_token"])).status == 400


async def test_the_renewed_session_counts_as_a_sign_in(visitor, demo, server, tokens):
    await change(visitor, server)

    assert "code" in await demo.silently(visitor, max_age="30")


async def test_the_change_is_written_down(visitor, server, tokens):
    await change(visitor, server)
    changes = [e async for e in server.store.scan(EVENTS) if e.type == "user.password_changed"]

    assert len(changes) == 1
    assert changes[0].actor == changes[0].record_id


@pytest.mark.parametrize(
    ("current", "new", "said"),
    [
        ("wrong", NEW, ["Enter your current password. This one is wrong."]),
        ("", NEW, ["Enter your current password. This one is wrong."]),
        (
            "wrong",
            "kurz",
            ["Enter your current password. This one is wrong.", "Use at least 8 characters."],
        ),
        (None, "kurz", ["Use at least 8 characters."]),
        (None, "", ["Use at least 8 characters."]),
        (None, "password1", ["too common"]),
        (None, "dana@example.com", ["little more than your name"]),
        (None, "x" * 201, ["Use at most 200 characters."]),
        (None, "slow\0train to the sea", ["characters that can't be used"]),
    ],
)
async def test_everything_wrong_is_reported_at_once(
    visitor, demo, server, tokens, current, new, said
):
    page = await change(visitor, server, current, new)

    assert (page.status, page.name) == (400, "account/password")
    assert all(text_of(page).count(one) == 1 for one in said), text_of(page)
    assert page.inputs["currentPassword"] == page.inputs["newPassword"] == ""
    assert (await demo.userinfo(visitor, tokens["access_token"])).status == 200


async def test_the_present_password_is_no_new_one(visitor, server, tokens):
    page = await change(visitor, server, new=server.user[1])

    assert page.status == 400
    assert "This is your current one." in text_of(page)


async def test_guessing_the_current_password_is_slowed_as_at_the_sign_in(
    visitor, new_visitor, demo, server, tokens
):
    for _ in range(10 + 6):  # as of a known browser, and then of an unknown one
        assert (await change(visitor, server, "wrong")).status == 400
    page = await change(visitor, server)
    elsewhere = new_visitor()
    sign_in = await elsewhere.sign_in(demo.authorize_url(), *server.user)

    assert (page.status, page.headers["Retry-After"]) == (429, "2")
    assert "Too many attempts. Try again in 2 seconds." in text_of(page)
    assert sign_in.status == 429
    server.clock.advance(2)
    assert "Your password was changed." in text_of(await change(visitor, server))


async def test_a_name_that_finds_somebody_else_keeps_nobody_from_their_own_password(
    visitor, server, tokens
):
    """The name is older than the domain of the organization in which it finds another person."""
    other, _ = await server.copy_user("bob")
    home = await new_organization(server, "b.example")
    bob, me = await account.user(server, other), await account.user(server)
    name = {"user_name": "bob@b.example", "login_key": "bob@b.example"}
    await server.store.commit(
        Update(USERS, bob.id, set={"org_id": home.id}), Update(USERS, me.id, set=name)
    )
    wrong = await change(visitor, server, "wrong")
    counted = await server.store.get_many([(FAILURE_STREAKS, each.id) for each in (me, bob)])
    page = await change(visitor, server)

    assert wrong.status == 400
    assert [each.known if each else 0 for each in counted] == [1, 0]
    assert "Your password was changed." in text_of(page)


@pytest.mark.parametrize("token", [None, "", "wrong"])
async def test_a_form_without_its_token_changes_nothing(visitor, demo, server, tokens, token):
    form = {"currentPassword": server.user[1], "newPassword": NEW}
    refused = await visitor.post(ADDRESS, form | ({} if token is None else {"token": token}))

    assert refused.status == 403
    again = next(link for link in Seen(refused).links if ADDRESS in link)
    assert (await visitor.open(again)).name == "account/password"
    assert (await demo.userinfo(visitor, tokens["access_token"])).status == 200


async def test_another_browsers_form_changes_nothing(visitor, new_visitor, demo, server, tokens):
    stranger = new_visitor()
    await demo.tokens(stranger, *server.user)
    theirs = await stranger.open(ADDRESS)
    refused = await visitor.send(theirs, currentPassword=server.user[1], newPassword=NEW)

    assert refused.status == 403
    assert "code" in await demo.silently(stranger)


async def test_another_sites_form_changes_nothing(visitor, server, tokens):
    page = await visitor.open(ADDRESS)
    form = {**page.hidden, "currentPassword": server.user[1], "newPassword": NEW}
    refused = await visitor.post(ADDRESS, form, headers={"Sec-Fetch-Site": "cross-site"})

    assert refused.status == 403


async def test_cancel_leads_back(visitor, demo, server, tokens):
    page = await cancel(visitor, await visitor.open(ADDRESS))

    assert page.name == "account/security"
    assert (await demo.userinfo(visitor, tokens["access_token"])).status == 200


async def test_of_several_people_one_is_chosen(visitor, demo, server, tokens):
    minnie = await server.copy_user("minnie")
    page = await at_password(visitor, demo, minnie[0], prompt="select_account")
    await visitor.submit(page, password=minnie[1])
    asked = await visitor.open(ADDRESS)
    mine = await visitor.submit(asked, account=account_of(asked, "minnie"))
    done = await visitor.submit(mine, currentPassword=minnie[1], newPassword=NEW)

    assert (asked.name, mine.inputs["loginName"]) == ("accounts", "minnie")
    assert (done.name, "Minnie" in done.text) == ("account/security", True)
    assert "code" in await demo.silently(visitor, login_hint="demo")
    assert (await demo.userinfo(visitor, tokens["access_token"])).status == 200


@pytest.mark.parametrize("session", ["unknown", "%00", "x" * 300, "%F0%9F%92%A9"])
async def test_a_session_that_is_not_there_is_not_chosen(visitor, tokens, session):
    page = await visitor.open(f"{ADDRESS}?session={session}")

    assert page.inputs["loginName"] == "demo"


async def test_two_changes_at_one_moment_one_wins(visitor, new_visitor, demo, server, tokens):
    page = await visitor.open(ADDRESS)
    forms = [{"currentPassword": server.user[1], "newPassword": f"{NEW} {n}"} for n in range(3)]
    answers = await asyncio.gather(*[visitor.send(page, **form) for form in forms])
    changes = [e async for e in server.store.scan(EVENTS) if e.type == "user.password_changed"]

    assert len(changes) == 1
    assert sum("done=password" in (answer.location or "") for answer in answers) == 1
    for answer in answers:
        assert (await visitor.follow(answer)).name in ("account/security", "account/password")


async def test_a_deactivated_person_changes_nothing(visitor, server, tokens):
    page = await visitor.open(ADDRESS)
    found = await server.store.find(USERS, {"login_key": "demo"})
    await server.store.commit(Update(USERS, found.records[0].id, set={"state": "inactive"}))
    page = await visitor.submit(page, currentPassword=server.user[1], newPassword=NEW)

    assert page.name == "login-name"
    assert "Dana" not in page.text


async def test_the_one_time_password_can_not_be_chosen_again(visitor, demo, server):
    admin = server.start.admin
    page = await visitor.sign_in(demo.authorize_url(), admin.login_name, admin.password)
    page = await visitor.submit(page, newPassword=admin.password)

    assert (page.status, page.name) == (400, "change-password")
    assert "This is your current one." in text_of(page)


async def test_who_has_no_password_chooses_a_first_one(visitor, new_visitor, demo, server, tokens):
    found = await server.store.find(USERS, {"login_key": "demo"})
    await server.store.commit(Update(USERS, found.records[0].id, set={"password": None}))
    page = await visitor.open(ADDRESS)
    assert list(page.inputs) == ["loginName", "newPassword"]

    page = await visitor.submit(page, newPassword=NEW)

    assert "Your password was changed." in text_of(page)
    answer = await new_visitor().sign_in(demo.authorize_url(), "demo", NEW)
    assert "code" in answer.answer


async def test_a_first_password_is_for_a_user_who_signed_in_recently(visitor, server, tokens):
    page = await visitor.open(ADDRESS)
    found = await server.store.find(USERS, {"login_key": "demo"})
    await server.store.commit(Update(USERS, found.records[0].id, set={"password": None}))
    server.clock.advance(601)

    late = await visitor.submit(page, newPassword=NEW)

    assert late.name == "password"
    found = await server.store.find(USERS, {"login_key": "demo"})
    assert found.records[0].password is None


async def test_the_account_and_the_console_lead_to_each_other(
    visitor, new_visitor, server, tokens
):
    admin = new_visitor()
    console_page = await console.admin(server, admin)
    account_page = await admin.open("/ui/account")

    assert 'href="/ui/account"' in console_page.text
    assert 'href="/ui/console"' in account_page.text
    assert 'href="/ui/console"' not in (await visitor.open("/ui/account")).text
