"""Token exchange over every store and two processes: one winner, and an end that all know of."""

from __future__ import annotations

import asyncio
import base64

import httpx
import pytest

from idp.records import APPLICATIONS, ORGANIZATIONS, USERS
from tests.flows.conftest import PLACES
from tests.flows.flows import person
from tests.support.management.callers import new_caller
from tests.support.protocol.asserting import Asserting, private_key, public_pem
from tests.support.protocol.exchanging import ACCESS, GRANTS, JWT, USER_ID, Broker

AT_ONCE = 16
NO_REUSE = httpx.Limits(max_keepalive_connections=0)


async def _registered(place, owner, client_id: str) -> Asserting:
    """A key of the client, as its owner registers it."""
    client = await place.store.get(APPLICATIONS, client_id)
    private = private_key()
    pem = base64.b64encode(public_pem(private).encode()).decode()
    path = f"/management/v1/projects/{client.project_id}/apps/{client_id}/keys"
    page = await owner.post(path, {"type": "KEY_TYPE_JSON", "publicKey": pem})
    return Asserting(place, client_id, page.json()["keyId"], private=private)


@pytest.fixture
def start(open_browser):
    """A client that may exchange, a person and their tokens, and a script that may act for them.

    Both switches are set as an administrator does it.
    """

    async def start(place):
        browser = open_browser(place, limits=NO_REUSE)
        party, login = await place.register(grant_types=GRANTS), await person(place)
        user = (await place.store.find(USERS, {"login_key": login[0]})).records[0]
        home = await place.store.get(ORGANIZATIONS, user.org_id)
        owner = await new_caller(place, browser, home, "IAM_OWNER", everywhere=True)
        for path, body in (
            ("/v2/features/instance", {"oidcTokenExchange": True}),
            ("/admin/v1/policies/security", {"enableImpersonation": True}),
        ):
            assert (await owner.request("PUT", path, body)).status == 200
        role = "IAM_END_USER_IMPERSONATOR"
        script = await new_caller(place, browser, home, role, everywhere=True)
        acting = {"actor_token": script.token, "actor_token_type": ACCESS}
        tokens = await party.tokens(open_browser(place), *login)
        keyed = await _registered(place, owner, party.client_id)
        return Broker(place, browser, party, None), user.id, tokens, acting, keyed

    return start


@pytest.mark.full
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_it_is_given_and_ends_with_what_it_came_of(place, start):
    broker, user_id, tokens, acting, _ = await start(place)
    own = await broker.granted(tokens["access_token"])
    named = await broker.granted(user_id, USER_ID, **acting)
    both = await broker.granted(tokens["access_token"], **acting)
    told = await broker.introspect(named["access_token"])
    fresh = (await broker.party.refresh(broker.visitor, own["refresh_token"])).json()

    assert (told["sub"], told["act"]["iss"]) == (user_id, place.issuer)
    form = {"token": tokens["access_token"]}
    await broker.visitor.post("/oauth/v2/revoke", form, headers=broker.party.basic())
    for body in (fresh, both):
        assert not await broker.is_active(body["access_token"])
    again = await broker.party.refresh(broker.visitor, fresh["refresh_token"])
    assert again.json()["error"] == "invalid_grant"
    assert await broker.is_active(named["access_token"])


@pytest.mark.full
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_of_many_who_bring_the_same_jwt_one_gets_a_token(place, start):
    broker, user_id, _, acting, keyed = await start(place)
    jwt = keyed.assertion(sub=user_id)
    pages = await asyncio.gather(*[broker.exchange(jwt, JWT, **acting) for _ in range(AT_ONCE)])

    assert sorted(page.status for page in pages) == [200] + [400] * (AT_ONCE - 1)
    told = {page.json()["error_description"] for page in pages if page.status == 400}
    assert told == {"subject_token invalid"}
