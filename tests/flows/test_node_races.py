"""What one process has used up or revoked counts at no other, over each store."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from idp.records import ORGANIZATIONS, USER_KEYS
from tests.flows.flows import person
from tests.support.asserting import JWT_BEARER, register_key
from tests.support.callers import new_caller

AT_ONCE = 32
NO_REUSE = httpx.Limits(max_keepalive_connections=0)  # so that both processes take part

over_stores = pytest.mark.parametrize("place", ["sqlite", "mongodb"], indirect=True)


@over_stores
@pytest.mark.gen_test(timeout=120)
async def test_of_many_who_send_one_assertion_one_is_believed(place, open_browser):
    browser = open_browser(place, limits=NO_REUSE)
    client = await place.register(auth_method="private_key_jwt")
    key = await register_key(place, client.client_id, place.service.random.id(), sequence=0)
    for _ in range(3):
        form = key.client_form() | {"grant_type": "refresh_token", "refresh_token": "x"}
        sent = [browser.post("/oauth/v2/token", form) for _ in range(AT_ONCE)]
        errors = [each.json()["error"] for each in await asyncio.gather(*sent)]

        assert errors.count("invalid_grant") == 1  # believed, and its token is none
        assert errors.count("invalid_client") == AT_ONCE - 1


@over_stores
@pytest.mark.gen_test(timeout=120)
async def test_of_many_who_send_one_assertion_without_jti_one_gets_tokens(place, open_browser):
    browser = open_browser(place, limits=NO_REUSE)
    page = await place.store.find(ORGANIZATIONS, {"primary_domain": "localhost"})
    script = await new_caller(place, browser, page.records[0])
    kid = place.service.random.id()
    key = await register_key(place, script.user_id, kid, collection=USER_KEYS, sequence=0)
    form = {"grant_type": JWT_BEARER, "scope": "openid"}
    for number in range(3):
        form["assertion"] = key.assertion(jti=None, nonce=number)
        sent = [browser.post("/oauth/v2/token", form) for _ in range(AT_ONCE)]
        answers = [each.json() for each in await asyncio.gather(*sent)]

        assert sum("access_token" in each for each in answers) == 1
        assert sum(each.get("error") == "invalid_grant" for each in answers) == AT_ONCE - 1


@over_stores
@pytest.mark.gen_test(timeout=120)
async def test_a_revoked_token_is_dead_at_once_wherever_it_is_shown(place, open_browser):
    party, browser = await place.register(), open_browser(place, limits=NO_REUSE)
    somebody = await person(place)
    for name in ("refresh_token", "access_token"):
        tokens = await party.tokens(browser, *somebody, prompt="login")
        form = {"token": tokens[name]}
        revoked = await browser.post("/oauth/v2/revoke", form, headers=party.basic())
        shown = [party.userinfo(browser, tokens["access_token"]) for _ in range(AT_ONCE)]
        statuses = {page.status for page in await asyncio.gather(*shown)}

        assert (revoked.status, revoked.text) == (200, "")
        assert statuses == {401}
