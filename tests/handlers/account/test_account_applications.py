"""What somebody lets applications have, and how they take it back."""

import asyncio
from datetime import timedelta

import pytest
from msgspec import structs

from idp.background import deferred_work
from idp.oauth.sign_in import authorized_applications
from idp.records import AUTHORIZATIONS, CONSENTS, DEFERRED_WORK, USERS
from storage import Insert, Update
from tests.support.sign_in import account
from tests.support.sign_in.steps import text_of
from tests.support.store import stored

PATH = "/ui/account/applications"


@pytest.fixture
def planner(io_loop, server):
    """An application of others."""
    return io_loop.run_sync(lambda: server.register("Trip planner", is_third_party=True))


async def let_in(server, visitor, party):
    """The tokens of an application that the person has let in."""
    page = await visitor.open(party.authorize_url())
    if page.name == "login-name":
        page = await visitor.submit(page, loginName=server.user[0])
        page = await visitor.submit(page, password=server.user[1])
    if page.name == "consent":
        page = await visitor.submit(page, decision="allow", account=page.hidden["account"])
    return (await party.redeem(visitor, page.answer["code"])).json()


def buttons(page):
    return [value for name, value in page.buttons if name == "application"]


async def test_a_user_who_allowed_no_application_anything_sees_so(server, visitor):
    page = await account.enter(server, visitor, "/applications")

    assert (page.name, buttons(page)) == ("account/applications", [])
    assert "No application has access to your account." in text_of(page)


async def test_an_application_is_listed_with_its_name_and_what_it_may_have(
    server, visitor, planner
):
    await let_in(server, visitor, planner)

    page = await visitor.open(PATH)

    assert buttons(page) == [planner.client_id]
    for said in (
        "Trip planner",
        "See your email address",
        "when you're not using it",
        "Since",
    ):
        assert said in text_of(page)


async def test_what_is_taken_back_counts_no_more(server, visitor, demo, planner):
    tokens = await let_in(server, visitor, planner)
    mine = await let_in(server, visitor, demo)
    page = await visitor.open(PATH)

    done = await visitor.submit(page, application=planner.client_id)

    assert "Removed." in text_of(done)
    assert buttons(done) == [demo.client_id]
    assert (await planner.userinfo(visitor, tokens["access_token"])).status == 401
    assert (await planner.refresh(visitor, tokens["refresh_token"])).status == 400
    assert (await demo.refresh(visitor, mine["refresh_token"])).status == 200
    user = await account.user(server)
    for type in ("consent.deleted", "authorization.revoked"):
        (event,) = await account.events_of(server, type)
        assert event.actor == user.id
    assert await server.store.count(DEFERRED_WORK) == 0


async def test_afterwards_the_application_asks_again_and_may_be_let_in(server, visitor, planner):
    await let_in(server, visitor, planner)
    await visitor.submit(await visitor.open(PATH), application=planner.client_id)
    server.clock.advance(1)

    page = await visitor.open(planner.authorize_url())
    assert page.name == "consent"
    page = await visitor.submit(page, decision="allow", account=page.hidden["account"])
    tokens = (await planner.redeem(visitor, page.answer["code"])).json()

    await deferred_work.process_due(server.service)
    assert (await planner.refresh(visitor, tokens["refresh_token"])).status == 200


async def many(server, client_id, n):
    """As many more authorizations as somebody who signs in very often has."""
    (one,) = [one async for one in server.store.scan(AUTHORIZATIONS)]
    made = [structs.replace(one, id=f"{one.id[:-4]}{k:04}") for k in range(n)]
    await server.store.commit_each([[Insert(AUTHORIZATIONS, each)] for each in made])


@pytest.mark.full
async def test_however_much_was_issued_ends_bit_by_bit(server, visitor, planner, monkeypatch):
    await let_in(server, visitor, planner)
    await many(server, planner.client_id, 1300)
    monkeypatch.setattr(authorized_applications, "_STEPS", 1)

    done = await visitor.submit(await visitor.open(PATH), application=planner.client_id)
    assert done.status == 200
    assert await server.store.count(DEFERRED_WORK) == 1
    await deferred_work.process_due(server.service)

    left = [one async for one in server.store.scan(AUTHORIZATIONS) if one.revoked_at is None]
    assert (left, await server.store.count(DEFERRED_WORK)) == ([], 0)
    assert len(await account.events_of(server, "authorization.revoked")) == 1301


async def test_of_twins_one_takes_back(server, visitor, planner):
    await let_in(server, visitor, planner)
    page = await visitor.open(PATH)

    form = {"application": planner.client_id}
    answers = await asyncio.gather(*[visitor.send(page, **form) for _ in range(3)])

    assert {answer.status for answer in answers} <= {303, 404}
    assert len(await account.events_of(server, "authorization.revoked")) == 1
    assert len(await account.events_of(server, "consent.deleted")) == 1


@pytest.mark.parametrize("wanted", ["", "unknown", "\0", "x" * 300, "console"])
async def test_what_is_not_connected_is_not_taken_back(server, visitor, demo, wanted):
    await let_in(server, visitor, demo)
    page = await visitor.open(PATH)
    before = await stored.everything(server.store)

    refused = await visitor.submit(page, application=wanted)

    assert (refused.status, refused.name) == (404, "account/message")
    assert await stored.everything(server.store) == before


async def test_nobody_takes_back_what_another_gave(server, visitor, new_visitor, demo, planner):
    tokens = await let_in(server, visitor, planner)
    stranger = new_visitor()
    await server.copy_user("minnie")
    minnie = ("minnie", server.user[1])
    await demo.tokens(stranger, *minnie)
    page = await account.enter(server, stranger, "/applications", minnie)

    refused = await stranger.submit(page, application=planner.client_id)

    assert (buttons(page), refused.status) == ([demo.client_id], 404)
    assert (await planner.refresh(visitor, tokens["refresh_token"])).status == 200


async def test_what_ended_otherwise_is_not_listed(server, visitor, demo):
    await let_in(server, visitor, demo)
    assert buttons(await visitor.open(PATH)) == [demo.client_id]
    user = await account.user(server)
    await server.store.commit(Update(USERS, user.id, set={"stamp": "another"}))

    page = await account.enter(server, visitor, "/applications")

    assert buttons(page) == []


async def test_a_consent_to_another_application_of_the_same_id_is_none(server, visitor, planner):
    await let_in(server, visitor, planner)
    (consent,) = [one async for one in server.store.scan(CONSENTS)]
    (issued,) = [one async for one in server.store.scan(AUTHORIZATIONS)]
    before = consent.created_at - timedelta(days=999)
    await server.store.commit(
        Update(CONSENTS, consent.id, set={"changed_at": before}),
        Update(AUTHORIZATIONS, issued.id, set={"revoked_at": before}),
    )

    assert buttons(await visitor.open(PATH)) == []
