"""Several people, one browser: who is asked, who is remembered, who is meant."""

import pytest

from idp.records import USERS
from storage import Update
from tests.support.sign_in.steps import account_of, at_password, cancel, shape, text_of

CANCEL = ("decision", "cancel")


@pytest.fixture
def two(io_loop, server, visitor, demo):
    """A browser where Dana (demo) and Minnie have signed in; Minnie was the last."""

    async def sign_in():
        minnie = await server.copy_user("minnie")
        await demo.tokens(visitor, *server.user)
        server.clock.advance(60)
        page = await at_password(visitor, demo, minnie[0], prompt="select_account")
        await visitor.submit(page, password=minnie[1])
        server.clock.advance(60)

    io_loop.run_sync(sign_in)
    return visitor


async def who_is(visitor, party, page):
    tokens = (await party.redeem(visitor, page.answer["code"])).json()
    return (await party.userinfo(visitor, tokens["access_token"])).json()["preferred_username"]


async def test_two_people_are_both_offered_and_somebody_else_too(two, demo):
    page = await two.open(demo.authorize_url())

    assert (page.status, page.name, page.inputs) == (200, "accounts", {})
    assert [name for name, _ in page.buttons] == ["account", "account", "account", "decision"]
    assert page.buttons[2:] == [("account", "other"), CANCEL]
    assert "to continue to Demo application" in text_of(page)
    assert "Dana Demo demo" in text_of(page)


@pytest.mark.parametrize("login_name", ["demo", "minnie"])
async def test_the_chosen_account_signs_in_without_a_password(two, demo, login_name):
    page = await two.open(demo.authorize_url())
    page = await two.submit(page, account=account_of(page, login_name))

    assert await who_is(two, demo, page) == login_name


async def test_the_last_one_comes_first(two, demo):
    page = await two.open(demo.authorize_url())

    assert page.text.index(">minnie<") < page.text.index(">demo<")


async def test_another_account_begins_with_its_name(two, demo, server):
    page = await two.submit(await two.open(demo.authorize_url()), account="other")

    assert shape(page) == ("login-name", ["loginName"], [CANCEL])
    mickey = await server.copy_user("mickey")
    page = await two.submit(page, loginName=mickey[0])
    page = await two.submit(page, password=mickey[1])
    assert await who_is(two, demo, page) == "mickey"
    assert len((await two.open(demo.authorize_url())).buttons) == 5


async def test_the_choice_can_be_cancelled(two, demo):
    page = await cancel(two, await two.open(demo.authorize_url()))

    assert page.answer["error"] == "access_denied"


@pytest.mark.full
@pytest.mark.parametrize("account", ["", "unknown", "\0", "x" * 300])
async def test_an_account_that_is_not_there_is_asked_for_again(two, demo, account):
    page = await two.submit(await two.open(demo.authorize_url()), account=account)

    assert (page.status, page.name) == (200, "accounts")


async def test_the_account_of_another_browser_can_not_be_chosen(two, demo, server, new_visitor):
    stranger = new_visitor()
    await server.copy_user("mickey")
    await demo.tokens(stranger, "mickey", server.user[1])
    server.clock.advance(60)
    theirs = await stranger.open(demo.authorize_url(prompt="select_account"))
    page = await two.open(demo.authorize_url())
    page = await two.submit(page, account=account_of(theirs, "mickey"))

    assert (page.status, page.name) == (200, "accounts")


async def test_an_account_that_signs_out_meanwhile_can_not_be_chosen(two, demo):
    page = await two.open(demo.authorize_url())
    answer = (await two.get(demo.authorize_url(login_hint="minnie"))).answer
    tokens = (await demo.redeem(two, answer["code"])).json()
    await two.get(demo.logout_url(id_token_hint=tokens["id_token"]))
    page = await two.submit(page, account=account_of(page, "minnie"))

    assert await who_is(two, demo, page) == "demo"  # the only one left is meant


@pytest.mark.promise("authorization: login_hint")
@pytest.mark.parametrize("login_name", ["demo", "minnie"])
async def test_a_login_hint_chooses_for_the_person(two, demo, login_name):
    page = await two.get(demo.authorize_url(login_hint=login_name))

    assert await who_is(two, demo, page) == login_name


async def test_an_id_token_hint_chooses_for_the_person(two, demo, server):
    page = await two.get(demo.authorize_url(login_hint="demo"))
    tokens = (await demo.redeem(two, page.answer["code"])).json()
    page = await two.get(demo.authorize_url(id_token_hint=tokens["id_token"]))

    assert await who_is(two, demo, page) == "demo"


async def test_a_hint_at_nobody_here_leaves_the_choice(two, demo):
    page = await two.open(demo.authorize_url(login_hint="mickey"))
    assert page.name == "accounts"
    page = await two.submit(page, account="other")

    assert page.inputs == {"loginName": "mickey"}


async def test_silence_is_refused_when_somebody_has_to_choose(two, demo):
    assert (await demo.silently(two))["error"] == "interaction_required"
    assert "code" in await demo.silently(two, login_hint="minnie")


async def test_the_account_is_asked_for_when_the_application_wants_it(visitor, demo, server):
    await demo.tokens(visitor, *server.user)
    server.clock.advance(1)
    page = await visitor.open(demo.authorize_url(prompt="select_account"))
    assert page.name == "accounts"
    page = await visitor.submit(page, account=account_of(page, "demo"))

    assert await who_is(visitor, demo, page) == "demo"


async def test_the_account_and_its_password_can_both_be_asked_for(visitor, demo, server):
    await demo.tokens(visitor, *server.user)
    server.clock.advance(1)
    page = await visitor.open(demo.authorize_url(prompt="select_account login"))
    page = await visitor.submit(page, account=account_of(page, "demo"))
    assert (page.name, page.inputs["loginName"]) == ("password", "demo")

    assert "code" in (await visitor.submit(page, password=server.user[1])).answer


async def test_nobody_signed_in_means_nobody_to_choose(visitor, demo):
    page = await visitor.open(demo.authorize_url(prompt="select_account"))

    assert page.name == "login-name"


async def test_the_address_of_the_choice_leads_on_when_there_is_none(visitor, demo):
    page = await visitor.open(demo.authorize_url())
    page = await visitor.open(page.url.replace("/ui/login?", "/ui/login/accounts?"))

    assert (page.status, page.name) == (200, "login-name")


async def test_signing_in_again_makes_no_second_entry(two, demo, server):
    page = await two.submit(await two.open(demo.authorize_url()), account="other")
    page = await two.submit(page, loginName="demo")
    page = await two.submit(page, password=server.user[1])

    assert await who_is(two, demo, page) == "demo"
    assert len((await two.open(demo.authorize_url())).buttons) == 4


async def test_an_account_that_may_not_sign_in_any_more_is_not_offered(two, demo, server):
    found = await server.store.find(USERS, {"login_key": "minnie"})
    stamp = server.service.random.token(64)
    changed = {"state": "inactive", "stamp": stamp}
    await server.store.commit(Update(USERS, found.records[0].id, set=changed))
    page = await two.get(demo.authorize_url())

    assert await who_is(two, demo, page) == "demo"
