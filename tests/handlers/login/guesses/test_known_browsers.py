"""A browser in which somebody has signed in is known to their account, until something ends it."""

from __future__ import annotations

import pytest

from idp.identity.sessions import browsers, known_browsers
from idp.identity.users import admin_recovery
from idp.records import BROWSERS, PASSKEYS, USERS
from storage import Update
from tests.support.management.callers import instance_owner
from tests.support.sign_in import account
from tests.support.sign_in.factors import give_app
from tests.support.sign_in.passkeys import enrol


async def knows(server) -> bool:
    """Whether the account knows the browser that was made first."""
    user = await account.user(server)
    found = [one async for one in server.store.scan(BROWSERS)]
    found.sort(key=lambda one: one.created_at)
    return known_browsers.is_known(found[0], user)


async def signed_in(new_visitor, demo, server):
    visitor = new_visitor()
    page = await visitor.sign_in(demo.authorize_url(), *server.user)
    assert "code" in page.answer
    server.clock.advance(1)
    return visitor


async def a_new_password(server, visitor, new_visitor, demo):
    await admin_recovery.reset_password(server.service, server.user[0], actor="a test")


async def a_lock(server, visitor, new_visitor, demo):
    owner = await instance_owner(server, new_visitor())
    user = await account.user(server)
    assert (await owner.post(f"/v2/users/{user.id}/lock", {})).status == 200
    assert (await owner.post(f"/v2/users/{user.id}/unlock", {})).status == 200


async def signing_out_everywhere(server, visitor, new_visitor, demo):
    other = await signed_in(new_visitor, demo, server)
    page = await other.open("/ui/account/sessions")
    assert (await other.submit(page, decision="others")).status == 200


async def removing_the_account(server, visitor, new_visitor, demo):
    tokens = await demo.tokens(visitor, *server.user, prompt="login")
    await visitor.get(demo.logout_url(id_token_hint=tokens["id_token"]))
    page = await visitor.open(demo.authorize_url(prompt="select_account"))
    page = await visitor.get(f"{page.url}&edit=1")
    (gone,) = [value for name, value in page.buttons if name == "forget"]
    await visitor.submit(page, forget=gone)


ENDS = [a_new_password, a_lock, signing_out_everywhere, removing_the_account]


@pytest.mark.promise("guessing: known browsers")
@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
async def test_it_ends_that_the_account_knows_the_browser(server, new_visitor, demo, end):
    visitor = await signed_in(new_visitor, demo, server)
    before = await knows(server)
    await end(server, visitor, new_visitor, demo)

    assert (before, await knows(server)) == (True, False)


async def test_signing_out_everywhere_else_leaves_this_browser_known(server, new_visitor, demo):
    visitor = await signed_in(new_visitor, demo, server)
    page = await visitor.open("/ui/account/sessions")
    await visitor.submit(page, decision="others")

    assert await knows(server)


async def test_a_user_who_changes_the_password_there_stays_known(server, new_visitor, demo):
    visitor = await signed_in(new_visitor, demo, server)
    page = await visitor.open("/ui/account/password")
    new = "an entirely new afternoon"
    await visitor.submit(page, currentPassword=server.user[1], newPassword=new)

    assert await knows(server)


async def an_app(server, visitor, demo):
    await give_app(server)
    return "/ui/account/authenticator/remove"


async def a_passkey(server, visitor, demo):
    await enrol(visitor, server)
    (passkey,) = [one async for one in server.store.scan(PASSKEYS)]
    return f"/ui/account/passkeys/{passkey.id}/remove"


@pytest.mark.parametrize("factor", [an_app, a_passkey], ids=lambda factor: factor.__name__)
async def test_a_user_who_removes_a_factor_there_stays_known(server, new_visitor, demo, factor):
    visitor = await signed_in(new_visitor, demo, server)
    path = await factor(server, visitor, demo)
    user, agents_before = await account.user(server), server.store.scan(BROWSERS)
    (agent,) = [one async for one in agents_before]
    other = browsers.new(server.service).browser
    other.known = known_browsers.with_user(other, user)
    assert known_browsers.is_known(agent, user)
    page = await visitor.open(path)
    assert page.name == "account/form", page.text
    assert (await visitor.submit(page)).status == 200

    after = await account.user(server)
    assert after.stamp != user.stamp
    assert await knows(server)
    assert not known_browsers.is_known(other, after)


async def test_a_browser_that_was_not_known_is_not_by_removing_a_factor(server, new_visitor, demo):
    visitor = await signed_in(new_visitor, demo, server)
    await give_app(server)
    (agent,) = [one async for one in server.store.scan(BROWSERS)]
    await server.store.commit(Update(BROWSERS, agent.id, set={"known": []}))
    page = await visitor.open("/ui/account/authenticator/remove")
    assert (await visitor.submit(page)).status == 200

    assert (await account.user(server)).totp is None
    assert not await knows(server)


async def test_a_browser_is_known_to_ten_accounts_the_last_first(server):
    agent = browsers.new(server.service).browser
    user = await account.user(server)
    for n in range(13):
        user.id = f"user-{n}"
        agent.known = known_browsers.with_user(agent, user)

    assert [one.user_id for one in agent.known] == [f"user-{n}" for n in range(12, 2, -1)]


async def test_a_stolen_cookie_of_another_account_is_not_known(server):
    user = await account.user(server)
    agent = browsers.new(server.service).browser
    other = await server.copy_user("minnie")
    page = await server.store.find(USERS, {"login_key": other[0]})
    agent.known = known_browsers.with_user(agent, page.records[0])

    assert not known_browsers.is_known(agent, user)
    assert not known_browsers.is_known(None, user)


async def test_a_browser_of_an_older_program_is_not_known(server, new_visitor, demo):
    await signed_in(new_visitor, demo, server)
    (agent,) = [one async for one in server.store.scan(BROWSERS)]
    await server.store.commit(Update(BROWSERS, agent.id, set={"known": []}))

    assert not await knows(server)
