"""The accounts that a browser remembers: of its own record alone, and until they are removed."""

import asyncio

import pytest
from msgspec import structs

from idp.identity.sessions import browsers
from idp.records import BROWSERS, USERS
from storage import Update
from tests.support.sign_in import account
from tests.support.sign_in.steps import Seen, text_of
from tests.support.store import stored


@pytest.fixture
def dana(io_loop, server, visitor, demo):
    """A browser in which Dana was signed in, and is no more."""

    async def sign_in_and_out():
        tokens = await demo.tokens(visitor, *server.user)
        await visitor.get(demo.logout_url(id_token_hint=tokens["id_token"]))

    io_loop.run_sync(sign_in_and_out)
    return visitor


async def choice(visitor, demo, **more):
    return await visitor.open(demo.authorize_url(prompt="select_account", **more))


async def removal(visitor, demo):
    """The page that removes accounts from the list."""
    page = await choice(visitor, demo)
    (link,) = [one for one in Seen(page).links if "edit=1" in one]
    return await visitor.open(link)


def button(page, name):
    return [value for each, value in page.buttons if each == name]


@pytest.mark.promise("authorization: prompt select_account")
async def test_who_is_signed_out_is_still_offered(server, dana, demo):
    page = await choice(dana, demo)

    user = await account.user(server)
    assert page.name == "accounts"
    assert "Dana Demo demo Signed out" in text_of(page)
    assert button(page, "signedOut") == [user.id]
    assert button(page, "forget") == []


async def test_their_password_is_asked_for_with_the_name_filled_in(server, dana, demo):
    page = await choice(dana, demo)
    (user_id,) = button(page, "signedOut")

    page = await dana.submit(page, signedOut=user_id)

    assert (page.name, page.inputs["loginName"]) == ("password", "demo")
    assert "code" in (await dana.submit(page, password=server.user[1])).answer


async def test_a_user_who_was_there_too_long_ago_is_signed_out(server, visitor, demo):
    await demo.tokens(visitor, *server.user)
    server.clock.advance(100 * 24 * 3600)

    page = await choice(visitor, demo)

    assert "Signed out" in text_of(page)


async def test_without_a_request_for_a_choice_the_name_is_asked_for(dana, demo):
    page = await dana.open(demo.authorize_url())
    assert page.name == "login-name"

    page = await dana.open(page.url.replace("/ui/login?", "/ui/login/accounts?"))

    assert (page.name, "Signed out" in text_of(page)) == ("accounts", True)


async def test_who_is_removed_is_remembered_no_more(server, dana, demo):
    page = await removal(dana, demo)
    (user_id,) = button(page, "forget")
    assert button(page, "signedOut") == button(page, "account") == []

    page = await dana.submit(page, forget=user_id)

    assert page.name == "login-name"
    assert (await choice(dana, demo)).name == "login-name"
    (agent,) = [one async for one in server.store.scan(BROWSERS)]
    assert agent.remembered == []


async def test_a_login_hint_comes_first_and_has_the_focus(server, dana, demo):
    await server.copy_user("minnie")
    page = await dana.sign_in(demo.authorize_url(), "minnie", server.user[1])
    assert "code" in page.answer

    page = await choice(dana, demo, login_hint="demo")

    text = text_of(page)
    assert text.index("Dana") < text.index("Minnie")
    assert page.text.count("autofocus") == 1
    assert page.text.index("autofocus") < page.text.index("Minnie")


@pytest.mark.parametrize("field", ["account", "signedOut", "forget"])
@pytest.mark.parametrize("value", ["", "unknown", "\0", "x" * 300, "<svg>"])
async def test_who_was_never_there_is_not_chosen(server, dana, demo, field, value):
    page = await choice(dana, demo)
    before = await stored.everything(server.store)

    page = await dana.submit(page, **{field: value})

    assert (page.status, page.name) == (200, "accounts")
    assert await stored.everything(server.store) == before


async def test_nobody_of_another_browser_is_offered_or_chosen(server, dana, demo, new_visitor):
    await server.copy_user("minnie")
    stranger = new_visitor()
    await demo.tokens(stranger, "minnie", server.user[1])
    minnie = await account.user(server, "minnie")
    page = await choice(dana, demo)

    for field in ("signedOut", "forget"):
        page = await dana.submit(page, **{field: minnie.id})
        assert (page.name, "Minnie" in page.text) == ("accounts", False)
    known = {tuple(one.remembered) async for one in server.store.scan(BROWSERS)}
    assert (minnie.id,) in known


async def test_of_twins_one_removes_and_none_fails(dana, demo):
    page = await removal(dana, demo)
    (user_id,) = button(page, "forget")

    answers = await asyncio.gather(*[dana.send(page, forget=user_id) for _ in range(3)])

    assert {answer.status for answer in answers} <= {303, 403}
    assert (await choice(dana, demo)).name == "login-name"


async def test_an_account_that_was_deleted_is_not_listed(server, dana, demo):
    (agent,) = [one async for one in server.store.scan(BROWSERS)]
    gone = [*agent.remembered, "deleted"]
    await server.store.commit(Update(BROWSERS, agent.id, set={"remembered": gone}))

    assert len(button(await choice(dana, demo), "signedOut")) == 1


async def test_a_deactivated_account_gets_the_same_answer(server, dana, demo):
    before = text_of(await choice(dana, demo))
    user = await account.user(server)
    await server.store.commit(Update(USERS, user.id, set={"state": "inactive"}))

    assert text_of(await choice(dana, demo)) == before


async def test_a_browser_remembers_so_many_and_the_last_first(server, visitor):
    now, dana = server.clock.now(), await account.user(server)

    def named(id):
        return structs.replace(dana, id=id)

    agent = browsers.new(server.service).browser
    for n in range(browsers.REMEMBERED + 3):
        _, cookie = browsers.rotation(server.service.random, agent, now, named(f"user-{n}"))
        agent = cookie.browser

    assert len(agent.remembered) == browsers.REMEMBERED
    assert agent.remembered[0] == f"user-{browsers.REMEMBERED + 2}"
