"""The login name and the password: what the two pages show, take and refuse."""

import base64
import json

import pytest
from msgspec import structs

from idp.identity.users import lookup
from idp.records import SESSIONS, USERS
from storage import Update
from tests.support.sign_in.steps import (
    Seen,
    at_password,
    cancel,
    leads_on,
    shape,
    text_of,
    without_secrets,
)

CANCEL = ("decision", "cancel")
WRONG = (
    "Check your email or username and your password: they don't match, or the account can't be"
    " used right now."
)
TAB_AND_NAMES = [
    " demo ",
    "\u200bdemo\ufeff",
    "\u202ademo\u202c\u00a0",
    "DEMO",
    "ｄｅｍｏ",
    "demo@localhost",
    "dana@example.com",
]


async def test_a_sign_in_begins_with_the_login_name(visitor, demo):
    answer = await visitor.get(demo.authorize_url())
    page = await visitor.follow(answer)

    assert answer.status == 303
    assert answer.location.startswith(f"{visitor.base}/ui/login?flow=")
    assert page.status == 200
    assert shape(page) == ("login-name", ["loginName"], [CANCEL])
    assert "to continue to Demo application" in text_of(page)


async def test_the_password_has_a_page_of_its_own(visitor, demo, server):
    page = await visitor.open(demo.authorize_url())
    answer = await visitor.send(page, loginName="demo")
    page = await visitor.follow(answer)

    assert answer.status == 303
    assert shape(page) == ("password", ["loginName", "password"], [CANCEL])
    assert page.inputs == {"loginName": "demo", "password": ""}
    assert page.url.startswith(f"{server.issuer}/ui/login/password?")


async def test_an_accepted_password_leads_to_the_application_by_303_alone(visitor, demo, server):
    page = await at_password(visitor, demo, "demo")
    answer = await visitor.send(page, password=server.user[1])
    statuses = [answer.status]
    while answer.location and answer.location.startswith(f"{server.issuer}/ui/"):
        answer = await visitor.get(answer.location)
        statuses.append(answer.status)

    assert set(statuses) == {303}
    assert answer.location.startswith(demo.redirect_uri)
    assert answer.answer["state"] == "state-1"
    assert answer.answer["iss"] == server.issuer


@pytest.mark.parametrize("typed", TAB_AND_NAMES)
async def test_every_form_of_the_login_name_means_the_same_person(visitor, demo, server, typed):
    page = await visitor.sign_in(demo.authorize_url(), typed, server.user[1])

    assert "code" in page.answer


@pytest.mark.parametrize("typed", ["dana@münchen.example", "dana@xn--mnchen-3ya.example"])
async def test_an_address_signs_in_in_either_spelling_of_its_domain(visitor, demo, server, typed):
    (user,) = [each async for each in server.store.scan(USERS) if each.login_key == "demo"]
    email = structs.replace(user.email, address="dana@münchen.example")
    keys = lookup.keys(user.user_name, email, user.profile, user.org_id)
    await server.store.commit(Update(USERS, user.id, set={"email": email, **keys}))

    page = await visitor.sign_in(demo.authorize_url(), typed, server.user[1])

    assert "code" in page.answer


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Enter your email or username."),
        ("   ", "Enter your email or username."),
        ("x" * 201, "Enter at most 200 characters."),
        ("de\0mo", "Remove the characters that can't be displayed."),
    ],
)
async def test_a_login_name_that_can_not_be_one_is_asked_for_again(visitor, demo, typed, said):
    page = await visitor.open(demo.authorize_url())
    page = await visitor.submit(page, loginName=typed)

    assert (page.status, page.name) == (400, "login-name")
    assert text_of(page).count(said) == 1  # at the field
    assert "<title>Error: " in page.text
    assert page.inputs["loginName"] == typed.strip()


async def test_a_login_name_may_have_two_hundred_characters(visitor, demo):
    page = await at_password(visitor, demo, "x" * 200)

    assert page.inputs["loginName"] == "x" * 200


async def test_an_unknown_user_and_a_wrong_password_can_not_be_distinguished(
    new_visitor, demo, server
):
    await server.copy_user("q-known")
    seen = []
    for login_name, password in [("q-none", "wrong"), ("q-known", "wrong"), ("q-known", "")]:
        visitor = new_visitor()
        first = await at_password(visitor, demo, login_name)
        answer = await visitor.send(first, password=password)
        flow = answer.url.split("flow=")[1].split("&")[0]
        seen.append((answer.status, without_secrets(answer, login_name, flow)))
        assert WRONG in text_of(answer)
        assert answer.inputs["password"] == ""

    assert seen[0][0] == 400
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("state", ["inactive", "locked"])
async def test_an_account_that_can_not_be_used_is_answered_alike(visitor, demo, server, state):
    found = await server.store.find(USERS, {"login_key": "demo"})
    await server.store.commit(Update(USERS, found.records[0].id, set={"state": state}))
    page = await visitor.submit(await at_password(visitor, demo, "demo"), password=server.user[1])

    assert (page.status, page.name) == (400, "password")
    assert WRONG in text_of(page)


@pytest.mark.parametrize("change", ["{} ", " {}", "{}\n", "{}\0", "{}x", "{}" * 20])
async def test_a_password_counts_exactly_as_it_was_sent(visitor, demo, server, change):
    user = (await server.store.find(USERS, {"login_key": "demo"})).records[0]
    encoded = await server.service.hasher.hash("a quiet afternoon")
    await server.store.commit(Update(USERS, user.id, set={"password.hash": encoded}))
    page = await at_password(visitor, demo, "demo")
    page = await visitor.submit(page, password=change.format(*["a quiet afternoon"] * 20))

    assert (page.status, page.name) == (400, "password")
    assert WRONG in text_of(page)


async def test_spaces_around_a_password_are_part_of_it(new_visitor, demo, server):
    admin, visitor = server.start.admin, new_visitor()
    page = await visitor.sign_in(demo.authorize_url(), admin.login_name, admin.password)
    await visitor.submit(page, newPassword="  a quiet afternoon\t")
    other = new_visitor()
    page = await at_password(other, demo, admin.login_name)
    trimmed = await other.submit(page, password="a quiet afternoon")
    whole = await other.submit(trimmed, password="  a quiet afternoon\t")

    assert trimmed.status == 400
    assert "code" in whole.answer


async def test_how_a_keyboard_composes_letters_does_not_matter(new_visitor, demo, server):
    admin, visitor = server.start.admin, new_visitor()
    page = await visitor.sign_in(demo.authorize_url(), admin.login_name, admin.password)
    await visitor.submit(page, newPassword="Mu\u0308nchner Fru\u0308hling")
    page = await new_visitor().sign_in(
        demo.authorize_url(), admin.login_name, "M\u00fcnchner Fr\u00fchling"
    )

    assert "code" in page.answer


async def test_the_name_sent_with_the_password_is_not_believed(visitor, demo, server):
    await server.copy_user("minnie")
    page = await at_password(visitor, demo, "demo")
    page = await visitor.submit(page, password=server.user[1], loginName="minnie")
    tokens = (await demo.redeem(visitor, page.answer["code"])).json()
    userinfo = await demo.userinfo(visitor, tokens["access_token"])

    assert userinfo.json()["preferred_username"] == "demo"


@pytest.mark.promise("session: pages")
@pytest.mark.parametrize("step", ["login-name", "password"])
async def test_cancelling_informs_the_application(visitor, demo, server, step):
    page = await visitor.open(demo.authorize_url())
    if step == "password":
        page = await visitor.submit(page, loginName="demo")
    page = await cancel(visitor, page)

    assert page.status == 303
    assert page.location.startswith(demo.redirect_uri)
    assert page.answer["error"] == "access_denied"
    assert page.answer["state"] == "state-1"
    assert [one async for one in server.store.scan(SESSIONS)] == []


@pytest.mark.promise("authorization: login_hint", "session: login_hint and ui_locales")
async def test_a_login_hint_fills_the_field(visitor, demo):
    page = await visitor.open(demo.authorize_url(login_hint="dana@example.com"))

    assert page.inputs["loginName"] == "dana@example.com"


async def test_an_id_token_hint_fills_the_field(visitor, new_visitor, demo, server):
    tokens = await demo.tokens(visitor, *server.user)
    page = await new_visitor().open(demo.authorize_url(id_token_hint=tokens["id_token"]))

    assert page.inputs["loginName"] == "demo"


async def test_who_mistyped_the_name_finds_it_again(visitor, demo):
    page = await at_password(visitor, demo, "demmo")
    (back,) = [link for link in Seen(page).links if "/ui/login/name" in link]
    page = await visitor.open(back)

    assert shape(page) == ("login-name", ["loginName"], [CANCEL])
    assert page.inputs["loginName"] == "demmo"
    assert (await visitor.submit(page, loginName="demo")).inputs["loginName"] == "demo"


async def test_a_wrong_password_can_be_mended_on_the_page(visitor, demo, server):
    page = await visitor.submit(await at_password(visitor, demo, "demo"), password="wrong")
    page = await visitor.submit(page, password=server.user[1])

    assert "code" in page.answer


def claims_of(id_token):
    part = id_token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


@pytest.mark.parametrize("asking", [{"prompt": "login"}, {"max_age": "0"}, {"max_age": "30"}])
async def test_the_password_is_asked_again_when_the_application_wants_it(
    visitor, demo, server, asking
):
    before = claims_of((await demo.tokens(visitor, *server.user))["id_token"])
    server.clock.advance(31)
    page = await visitor.open(demo.authorize_url(**asking))
    assert (page.name, page.inputs["loginName"]) == ("password", "demo")
    page = await visitor.submit(page, password=server.user[1])
    after = claims_of((await demo.redeem(visitor, page.answer["code"])).json()["id_token"])

    assert after["auth_time"] == before["auth_time"] + 31
    assert after["sid"] == before["sid"]


async def test_a_young_enough_sign_in_counts(visitor, demo, server):
    await demo.tokens(visitor, *server.user)
    server.clock.advance(29)

    assert "code" in (await visitor.get(demo.authorize_url(max_age="30"))).answer


async def test_a_wrong_password_at_a_step_up_changes_nothing(visitor, demo, server):
    await demo.tokens(visitor, *server.user)
    server.clock.advance(10)
    page = await visitor.open(demo.authorize_url(prompt="login"))
    page = await visitor.submit(page, password="wrong")

    assert (page.status, page.name) == (400, "password")
    assert "code" in await demo.silently(visitor)


async def test_at_a_step_up_somebody_else_may_sign_in(visitor, demo, server):
    await demo.tokens(visitor, *server.user)
    minnie = await server.copy_user("minnie")
    server.clock.advance(10)
    page = await visitor.open(demo.authorize_url(prompt="login"))
    page = await visitor.open(Seen(page).links[0])
    page = await visitor.submit(page, loginName=minnie[0])
    page = await visitor.submit(page, password=minnie[1])
    tokens = (await demo.redeem(visitor, page.answer["code"])).json()
    userinfo = await demo.userinfo(visitor, tokens["access_token"])

    assert userinfo.json()["preferred_username"] == "minnie"


async def test_after_ten_days_the_password_is_asked_again(visitor, demo, server):
    await demo.tokens(visitor, *server.user)
    for _ in range(24):
        server.clock.advance(10 * 3600)
        assert "code" in await demo.silently(visitor)
    server.clock.advance(1)
    page = await visitor.open(demo.authorize_url())

    assert (page.name, page.inputs["loginName"]) == ("password", "demo")


async def test_an_idle_session_signs_nobody_in(visitor, demo, server):
    await demo.tokens(visitor, *server.user)
    server.clock.advance(12 * 3600 + 1)

    assert (await visitor.open(demo.authorize_url())).name == "login-name"


async def test_a_sign_in_without_an_application_says_what_to_do(visitor, demo, server):
    before = await visitor.open("/")
    await demo.tokens(visitor, *server.user)
    after = await visitor.open("/")

    assert (before.status, before.name) == (200, "signed-in")
    assert (after.status, after.name) == (200, "signed-in")
    assert "Dana Demo" not in before.text
    assert "Dana Demo" in text_of(after)
    assert leads_on(before)
    assert leads_on(after)
