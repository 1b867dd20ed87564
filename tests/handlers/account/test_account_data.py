"""What somebody takes along of their account: all of it, no secret, and nobody else's."""

from __future__ import annotations

import json

import pytest
from msgspec import structs

from idp.records import EVENTS
from storage import Insert
from tests.support.sign_in import account

DOWNLOAD = "/ui/account/data/download"


async def taken(server, visitor):
    await account.enter(server, visitor)
    answer = await visitor.get(DOWNLOAD)
    assert (answer.status, answer.headers["Content-Type"]) == (
        200,
        "application/json; charset=utf-8",
    )
    return answer


async def test_the_page_leads_to_a_file(server, visitor):
    page = await account.enter(server, visitor, "/data")

    answer = await visitor.get(DOWNLOAD)

    assert f'href="{DOWNLOAD}"' in page.text
    assert answer.headers["Content-Disposition"] == 'attachment; filename="account.json"'
    assert answer.headers["Cache-Control"] == "no-store"


async def test_it_has_what_is_stored_of_the_person(server, visitor, demo):
    await demo.tokens(visitor, *server.user)

    told = json.loads((await taken(server, visitor)).text)

    user = await account.user(server)
    assert told["issuer"] == server.issuer
    assert told["account"]["userId"] == user.id
    assert told["account"]["human"]["profile"]["displayName"] == "Dana Demo"
    assert [one["name"] for one in told["connectedApplications"]] == ["Demo application"]
    assert len(told["sessions"]) == 1
    types = [one["type"] for one in told["events"]]
    assert {"user.created", "session.opened"} <= set(types)
    assert {one["byYou"] for one in told["events"]} == {True, False}


async def test_no_secret_and_nobody_else_is_in_it(server, visitor, new_visitor, demo):
    tokens = await demo.tokens(visitor, *server.user)
    other = new_visitor()
    await server.copy_user("minnie")
    await account.enter(server, other, "", ("minnie", server.user[1]))

    text = (await taken(server, visitor)).text

    user, minnie = await account.user(server), await account.user(server, "minnie")
    hidden = [user.password.hash, user.stamp, *tokens.values(), minnie.id, "minnie", "a test"]
    assert not [one for one in hidden if isinstance(one, str) and len(one) > 5 and one in text]


@pytest.mark.full
async def test_however_much_was_done_comes_in_pieces(server, visitor):
    await account.enter(server, visitor)
    user = await account.user(server)
    found = [one async for one in server.store.scan(EVENTS) if one.record_id == user.id]
    made = [structs.replace(found[0], id=f"{found[0].id}{n}") for n in range(3000)]
    await server.store.commit_each([[Insert(EVENTS, one)] for one in made])

    told = json.loads((await visitor.get(DOWNLOAD)).text)

    assert len([one for one in told["events"] if one["type"] == "user.created"]) == 3001


async def test_it_asks_for_the_password_of_late(server, visitor):
    await account.enter(server, visitor)
    server.clock.advance(601)

    asked = await visitor.open(DOWNLOAD)
    answer = await visitor.submit(asked, password=server.user[1])

    assert asked.name == "password"
    assert json.loads(answer.text)["account"]["username"] == "demo"


async def test_who_is_not_signed_in_gets_nothing(visitor):
    assert (await visitor.open(DOWNLOAD)).name == "login-name"
