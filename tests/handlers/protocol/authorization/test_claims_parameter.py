"""The parameter `claims` (OpenID Connect Core 5.5): single claims, asked for by their names."""

from __future__ import annotations

import json

import pytest

from idp.records import APPLICATIONS
from storage import Update
from tests.support.attacks.forged import part
from tests.support.protocol.claiming import introspected, tokens_of, user_of

EMAIL = "dana@example.com"


@pytest.fixture
def asked(server, visitor, demo):
    """What userinfo and the ID token say beyond `openid` to a request with this parameter."""

    async def asked(claims, party=None, scope: str = "openid") -> tuple[dict, dict]:
        party = party or demo
        text = claims if isinstance(claims, str) else json.dumps(claims)
        tokens = await tokens_of(server, visitor, party, scope, claims=text)
        told = (await party.userinfo(visitor, tokens["access_token"])).json()
        plain = await tokens_of(server, visitor, party, "openid")
        usual = {"sub", *part(plain["id_token"], 1)}
        said = part(tokens["id_token"], 1)
        return (
            {name: value for name, value in told.items() if name != "sub"},
            {name: value for name, value in said.items() if name not in usual},
        )

    return asked


@pytest.mark.promise("authorization: claims")
@pytest.mark.parametrize(
    "how",
    [
        None,
        {"essential": True},
        {"essential": False},
        {"value": EMAIL},
        {"value": "else@example.com"},
        {"values": ["else@example.com", EMAIL]},
        {"essential": True, "unknown": 1},
        {},
    ],
)
async def test_a_claim_comes_without_its_scope_however_it_is_asked_for(asked, how):
    assert await asked({"userinfo": {"email": how}}) == ({"email": EMAIL}, {})
    assert await asked({"id_token": {"email": how}}) == ({}, {"email": EMAIL})


@pytest.mark.promise("authorization: claims")
async def test_each_place_has_its_own_claims(asked):
    wanted = {"userinfo": {"name": None, "email_verified": None}, "id_token": {"given_name": None}}

    assert await asked(wanted) == (
        {"name": "Dana Demo", "email_verified": True},
        {"given_name": "Dana"},
    )


@pytest.mark.promise("authorization: claims")
async def test_what_is_not_known_is_not_returned(asked):
    names = ["zoneinfo", "birthdate", "shoe_size", "roles", "urn:idp:iam:user:metadata"]

    assert await asked({"userinfo": dict.fromkeys(names), "id_token": dict.fromkeys(names)}) == (
        {},
        {},
    )


@pytest.mark.promise("authorization: claims")
async def test_what_the_protocol_says_can_not_be_asked_away(server, asked, demo):
    names = ["sub", "iss", "aud", "exp", "nonce", "acr", "auth_time", "azp"]
    wanted = dict.fromkeys(names, {"value": "else"})
    del wanted["sub"]

    assert await asked({"id_token": wanted, "userinfo": wanted}) == ({}, {})


async def test_claims_come_beside_those_of_the_scopes(server, asked):
    told, said = await asked({"userinfo": {"name": None}}, scope="openid email")

    assert told == {"email": EMAIL, "email_verified": True, "name": "Dana Demo"}
    assert said == {}


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", '"name"', '{"userinfo": []}', '{"userinfo": null}', "\ud7ff", "{}"]
    + ['{"userinfo": {"name": 1}}', '{"userinfo": {"name": "x"}}', "[" * 1000, '{"else": {}}'],
)
async def test_what_can_not_be_used_asks_for_nothing(asked, text):
    assert await asked(text) == ({}, {})


@pytest.mark.promise("authorization: claims")
async def test_claims_are_still_returned_after_a_refresh(server, visitor, demo):
    wanted = json.dumps({"userinfo": {"name": None}, "id_token": {"email": None}})
    scope = "openid offline_access"
    tokens = await tokens_of(server, visitor, demo, scope, claims=wanted)
    fresh = (await demo.refresh(visitor, tokens["refresh_token"])).json()

    told = (await demo.userinfo(visitor, fresh["access_token"])).json()
    assert told["name"] == "Dana Demo"
    assert part(fresh["id_token"], 1)["email"] == EMAIL


@pytest.mark.promise("ID token: response_type id_token")
@pytest.mark.parametrize("response_type", ["id_token", "id_token token"])
async def test_an_id_token_of_the_implicit_flow_has_what_was_asked_for(
    server, visitor, response_type
):
    party = await server.register(response_types=[response_type], grant_types=["implicit"])
    unused = {"code_challenge": None, "code_challenge_method": None}
    wanted = json.dumps({"id_token": {"email": {"essential": True}}})
    url = party.authorize_url(
        response_type=response_type, scope="openid phone", claims=wanted, **unused
    )
    said = part((await visitor.sign_in(url, *server.user)).answer["id_token"], 1)

    assert said["email"] == EMAIL
    assert ("phone_number" in said) == (response_type == "id_token")
    assert "name" not in said


async def test_introspection_returns_what_the_scopes_release(server, visitor, demo):
    wanted = json.dumps({"userinfo": {"name": None}})
    tokens = await tokens_of(server, visitor, demo, "openid", claims=wanted)

    assert "name" not in await introspected(visitor, demo, tokens["access_token"])


@pytest.mark.promise("authorization: claims")
async def test_an_application_that_changed_its_owner_gets_no_more_than_its_scopes(
    server, visitor, demo
):
    wanted = json.dumps(
        {"userinfo": {"name": None, "email": None}, "id_token": {"name": None, "email": None}}
    )
    page = await demo.sign_in(visitor, *server.user, scope="openid email", claims=wanted)
    await server.store.commit(Update(APPLICATIONS, demo.client_id, set={"is_third_party": True}))
    tokens = (await demo.redeem(visitor, page.answer["code"])).json()
    told = (await demo.userinfo(visitor, tokens["access_token"])).json()
    said = part(tokens["id_token"], 1)

    user = await user_of(server)
    assert told == {"sub": user.id, "email": EMAIL, "email_verified": True}
    assert said["email"] == EMAIL
    assert "name" not in said
