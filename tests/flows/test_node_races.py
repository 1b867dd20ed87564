"""What one process has used up or revoked counts at no other, over each store."""

from __future__ import annotations

import asyncio
from urllib.parse import urlencode, urlsplit

import httpx
import pytest

from idp.foundation import opaque_tokens
from idp.records import AUTHORIZATIONS, ORGANIZATIONS, USER_KEYS
from tests.flows.flows import person
from tests.support.management.callers import new_caller
from tests.support.protocol.asserting import JWT_BEARER, register_key

AT_ONCE = 32
NO_REUSE = httpx.Limits(max_keepalive_connections=0)  # so that both processes take part

over_stores = pytest.mark.parametrize("place", ["sqlite", "mongodb"], indirect=True)


@over_stores
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


@pytest.mark.promise("security: assertion")
@over_stores
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
async def test_a_revoked_token_is_invalid_at_once_wherever_it_is_presented(place, open_browser):
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


async def lose_the_answer(place, party, refresh_token):
    """Send a refresh and hang up without reading; return once the token has been rotated."""
    parts = urlsplit(place.issuer)
    body = urlencode({"grant_type": "refresh_token", "refresh_token": refresh_token})
    head = [
        "POST /oauth/v2/token HTTP/1.1",
        f"Host: {parts.netloc}",
        f"Authorization: {party.basic()['Authorization']}",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(body)}",
        *("", body),
    ]
    _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write("\r\n".join(head).encode())
    await writer.drain()
    id, _, secret = opaque_tokens.split(refresh_token, 2)
    for _ in range(200):
        known = await place.store.get(AUTHORIZATIONS, id)
        if not opaque_tokens.matches(secret, known.refresh.current_hash):
            break
        await asyncio.sleep(0.02)
    writer.close()
    await writer.wait_closed()


@pytest.mark.promise("security: refresh")
@over_stores
async def test_a_lost_refresh_answer_signs_nobody_out(place, open_browser):
    party = await place.register(refresh_token_reuse_seconds=10)
    browser = open_browser(place, limits=NO_REUSE)
    tokens = await party.tokens(browser, *await person(place))
    for _ in range(6):
        await lose_the_answer(place, party, tokens["refresh_token"])
        again = await party.refresh(browser, tokens["refresh_token"])
        assert again.status == 200, again.text
        tokens = again.json()

    assert (await party.userinfo(browser, tokens["access_token"])).status == 200
