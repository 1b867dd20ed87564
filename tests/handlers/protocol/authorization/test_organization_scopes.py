"""A request for the users of one organization: nobody else gets through (facts of its scopes)."""

from __future__ import annotations

import pytest

from idp.records import AUTHORIZATIONS, SESSIONS, USERS
from storage import Update
from tests.support.protocol.claiming import IAM, add_organization, organization_of, user_of
from tests.support.sign_in.steps import text_of

ANOTHER = f"openid {IAM}org:id:another"


@pytest.fixture
def otto(io_loop, server) -> tuple[str, str]:
    """A user of another organization: name and password."""

    async def make():
        other = await add_organization(server, "Other")
        login = await server.copy_user("otto")
        user = await user_of(server, "otto")
        await server.store.commit(Update(USERS, user.id, set={"org_id": other.id}))
        return login

    return io_loop.run_sync(make)


async def scope_of(server, login_name: str, kind: str) -> str:
    """The request for users of this user's organization, by its id or its domain."""
    home = await organization_of(server, login_name)
    named = {"id": f"org:id:{home.id}", "domain": f"org:domain:primary:{home.primary_domain}"}
    return f"openid {IAM}{named[kind]}"


def full(server) -> tuple[str, str]:
    """The demo's user by the name that counts everywhere."""
    name, password = server.user
    return f"{name}@localhost", password


async def authorizations(server) -> int:
    return len([one async for one in server.store.scan(AUTHORIZATIONS)])


@pytest.mark.parametrize("kind", ["id", "domain"])
async def test_a_user_of_the_organization_signs_in(server, visitor, demo, otto, kind):
    scope = await scope_of(server, "otto", kind)
    page = await demo.sign_in(visitor, *otto, scope=scope)
    body = (await demo.redeem(visitor, page.answer["code"])).json()

    assert body["scope"] == scope


@pytest.mark.parametrize("kind", ["id", "domain"])
async def test_a_user_of_another_one_gets_no_code(server, visitor, demo, otto, kind):
    scope = await scope_of(server, "otto", kind)
    page = await visitor.sign_in(demo.authorize_url(scope=scope), *full(server))

    assert (page.status, page.name) == (200, "accounts")
    assert await authorizations(server) == 0


@pytest.mark.full
async def test_who_signed_in_with_the_wrong_account_is_offered_another(
    server, visitor, demo, otto
):
    scope = await scope_of(server, "otto", "id")
    page = await visitor.sign_in(demo.authorize_url(scope=scope), *full(server))

    said = "demo can't be used for Demo application: it belongs to another organization."
    assert said in text_of(page)
    assert page.buttons == [("account", "other"), ("decision", "cancel")]
    assert (await demo.silently(visitor, scope=scope))["error"] == "login_required"
    page = await visitor.submit(page, account="other")
    page = await visitor.submit(page, loginName=otto[0])
    page = await visitor.submit(page, password=otto[1])
    assert "code" in page.answer


async def test_who_has_no_other_account_goes_back_without(server, visitor, demo, otto):
    scope = await scope_of(server, "otto", "id")
    page = await visitor.sign_in(demo.authorize_url(scope=scope), *full(server))

    page = await visitor.submit(page, decision="cancel")

    assert page.answer["error"] == "access_denied"
    assert await authorizations(server) == 0


async def test_the_wrong_account_is_not_picked_by_hand(server, visitor, demo, otto):
    scope = await scope_of(server, "otto", "id")
    page = await visitor.sign_in(demo.authorize_url(scope=scope), *full(server))
    (session,) = [one async for one in server.store.scan(SESSIONS)]

    for form in ({"account": session.id}, {"signedOut": session.user_id}):
        again = await visitor.submit(page, **form)
        assert again.name in ("accounts", "password")
    assert await authorizations(server) == 0


async def test_a_session_of_another_organization_answers_nothing(server, visitor, demo, otto):
    await demo.tokens(visitor, *server.user)
    scope = await scope_of(server, "otto", "id")

    answer = await demo.silently(visitor, scope=scope)
    assert answer["error"] == "login_required"
    page = await visitor.open(demo.authorize_url(scope=scope))
    assert page.name == "login-name"
    assert await authorizations(server) == 1


async def test_of_several_sessions_the_one_of_the_organization_is_taken(
    server, visitor, demo, otto
):
    await demo.tokens(visitor, *server.user)
    await demo.tokens(visitor, *otto, prompt="select_account")
    scope = await scope_of(server, "otto", "id")
    answer = await demo.silently(visitor, scope=scope)
    body = (await demo.redeem(visitor, answer["code"])).json()
    claims = (await demo.userinfo(visitor, body["access_token"])).json()

    assert claims["sub"] == (await user_of(server, "otto")).id


async def test_only_the_accounts_of_the_organization_are_offered(server, visitor, demo, otto):
    await demo.tokens(visitor, *server.user)
    await demo.tokens(visitor, *otto, prompt="select_account")
    scope = await scope_of(server, "otto", "id")
    page = await visitor.open(demo.authorize_url(scope=scope, prompt="select_account"))

    assert page.name == "accounts"
    assert [name for name, value in page.buttons if value not in ("other", "cancel")] == [
        "account"
    ]
    assert "Otto" in page.text
    assert "demo can't be used for Demo application" in text_of(page)


@pytest.mark.parametrize(
    "scope",
    [
        f"openid {IAM}org:id:unknown",
        f"openid {IAM}org:domain:primary:unknown.example",
        f"openid {IAM}org:domain:primary:%00",
    ],
)
async def test_for_an_organization_that_there_is_not_nobody_signs_in(server, visitor, demo, scope):
    page = await demo.sign_in(visitor, *server.user, scope=scope)

    assert page.name == "accounts"
    assert await authorizations(server) == 0


async def test_nobody_is_of_two_organizations(server, visitor, demo, otto):
    here = await scope_of(server, server.user[0], "id")
    there = (await scope_of(server, "otto", "id")).removeprefix("openid ")
    page = await demo.sign_in(visitor, *server.user, scope=f"{here} {there}")

    assert page.name == "accounts"
    assert await authorizations(server) == 0
