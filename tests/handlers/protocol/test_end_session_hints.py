"""Logging out with a hint that is older than what the browser holds now."""

from __future__ import annotations

import pytest
from msgspec import structs

from idp.records import SESSIONS
from storage import Insert


async def test_a_hint_of_an_earlier_session_signs_its_user_out_all_the_same(server, visitor, demo):
    old = await demo.tokens(visitor, *server.user)
    await visitor.get(demo.logout_url(id_token_hint=old["id_token"]))
    await demo.tokens(visitor, *server.user)
    page = await visitor.get(demo.logout_url(id_token_hint=old["id_token"]))

    assert page.location == demo.post_logout_redirect_uri
    assert (await demo.silently(visitor))["error"] == "login_required"


async def test_a_hint_of_a_user_without_session_asks_the_user_who_is_signed_in(
    server, visitor, demo
):
    old = await demo.tokens(visitor, *server.user)
    await visitor.get(demo.logout_url(id_token_hint=old["id_token"]))
    await demo.tokens(visitor, *await server.copy_user("minnie"))
    page = await visitor.open(demo.logout_url(id_token_hint=old["id_token"]))

    assert page.name == "logout-confirm"
    assert "code" in await demo.silently(visitor)


@pytest.mark.full
async def test_every_session_ends_even_of_a_browser_that_many_people_used(server, visitor, demo):
    await demo.tokens(visitor, *server.user)
    (mine,) = [one async for one in server.store.scan(SESSIONS)]
    for number in range(120):
        other = structs.replace(mine, id=f"{number:022}", user_id="somebody")
        await server.store.commit(Insert(SESSIONS, other))
    assert "code" in await demo.silently(visitor)

    page = await visitor.open("/oidc/v1/end_session")
    await visitor.submit(page, decision="logout")

    assert [one async for one in server.store.scan(SESSIONS) if one.ended_at is None] == []


async def test_a_post_from_another_site_ends_what_only_the_browser_knows(server, visitor, demo):
    old = await demo.tokens(visitor, *server.user)
    await visitor.get(demo.logout_url(id_token_hint=old["id_token"]))
    await demo.tokens(visitor, *server.user)
    cookies, elsewhere = dict(visitor.cookies), {"Sec-Fetch-Site": "cross-site"}
    form = {
        "id_token_hint": old["id_token"],
        "post_logout_redirect_uri": demo.post_logout_redirect_uri,
    }
    visitor.cookies.clear()
    answer = await visitor.post("/oidc/v1/end_session", form, headers=elsewhere)
    visitor.cookies.update(cookies)
    page = await visitor.get(answer.location)

    assert page.location == demo.post_logout_redirect_uri
    assert (await demo.silently(visitor))["error"] == "login_required"
