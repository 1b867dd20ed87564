"""The parameter `claims` and `acr_values` at the authorization endpoint: who must be signed in,
how strongly, and what is kept of it (OpenID Connect Core 5.5)."""

from __future__ import annotations

import json

import pytest

from idp.records import AUTHORIZATIONS
from tests.support.attacks.forged import part
from tests.support.store.stored import everything, only

PASSWORD = "urn:idp:acr:password"
PASSKEY = "urn:idp:acr:passkey"


def sub_of(tokens):
    return part(tokens["id_token"], 1)["sub"]


def demanding(name, how):
    return {"claims": json.dumps({"id_token": {name: how}})}


async def id_token(visitor, client, **changes):
    page = await visitor.get(client.authorize_url(**changes))
    redeemed = await client.redeem(visitor, page.answer["code"])
    return part(redeemed.json()["id_token"], 1)


@pytest.mark.parametrize("form", ["value", "values"])
async def test_the_user_whom_claims_names_is_answered_for(visitor, demo, tokens, form):
    sub = sub_of(tokens)
    how = {"value": sub} if form == "value" else {"values": [sub]}

    assert (await id_token(visitor, demo, **demanding("sub", how)))["sub"] == sub


@pytest.mark.promise("authorization: claims")
@pytest.mark.parametrize("sub", ["somebody", "", "x" * 300])
async def test_nobody_else_is_answered_for(server, visitor, demo, tokens, sub):
    before = await everything(server.store)
    silent = await demo.silently(visitor, **demanding("sub", {"value": sub}))
    after = await everything(server.store)
    page = await visitor.open(demo.authorize_url(**demanding("sub", {"value": sub})))
    signed_in = await visitor.sign_in(page.url, *server.user)

    assert silent["error"] == "login_required"
    assert after == before
    assert page.name == "login-name"
    assert signed_in.answer["error"] == "login_required"


async def test_of_several_people_the_one_whom_claims_names_is_chosen(
    server, visitor, demo, tokens
):
    other = await server.copy_user("otto")
    await demo.sign_in(visitor, *other, prompt="select_account")
    claims = await id_token(visitor, demo, **demanding("sub", {"value": sub_of(tokens)}))

    assert claims["sub"] == sub_of(tokens)


async def test_a_hint_and_claims_that_name_different_users_are_refused(
    server, visitor, demo, tokens
):
    before = await everything(server.store)
    changes = demanding("sub", {"value": "somebody"}) | {"id_token_hint": tokens["id_token"]}
    page = await visitor.get(demo.authorize_url(**changes))

    assert page.answer["error"] == "login_required"
    assert await everything(server.store) == before


@pytest.mark.promise(
    "authorization: optional parameters",
    "authorization: claims",
    "session: login_hint and ui_locales",
)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"acr_values": PASSWORD},
        {"acr_values": f"urn:x {PASSWORD}"},
        {"acr_values": PASSKEY},
        {"acr_values": "phr phrh"},
        demanding("acr", None),
        demanding("acr", {"essential": True}),
        demanding("acr", {"value": PASSKEY}),
        demanding("acr", {"essential": True, "values": [PASSKEY, PASSWORD]}),
        demanding("acr", {"essential": True, "value": PASSWORD}),
    ],
)
async def test_the_acr_says_what_was_done_whatever_was_asked(visitor, demo, tokens, changes):
    claims = await id_token(visitor, demo, **changes)

    assert (claims["acr"], claims["amr"]) == (PASSWORD, ["pwd"])


@pytest.mark.promise("authorization: claims")
@pytest.mark.parametrize("values", [["urn:x"], ["urn:x", 5, None]])
async def test_an_essential_acr_that_nobody_can_have_fails_at_once(
    server, visitor, demo, tokens, values
):
    before = await everything(server.store)
    changes = demanding("acr", {"essential": True, "values": values})
    silent = await demo.silently(visitor, **changes)
    page = await visitor.get(demo.authorize_url(**changes))

    assert silent["error"] == "login_required"
    assert page.answer["error"] == "login_required"
    assert await everything(server.store) == before


@pytest.mark.promise("authorization: claims")
async def test_what_can_be_used_of_claims_is_stored_with_the_authorization(
    server, visitor, demo, tokens
):
    asked = {
        "userinfo": {"name": {"essential": True}, "email": None, "bad": 5},
        "id_token": {"locale": {"values": ["de", "en"]}},
        "other": {"name": None},
    }
    page = await visitor.get(demo.authorize_url(claims=json.dumps(asked)))
    stored = await everything(server.store)
    kept = stored[AUTHORIZATIONS.name][page.answer["code"][:22]].claims

    assert json.loads(kept) == {
        "userinfo": {"name": {"essential": True}, "email": {}},
        "id_token": {"locale": {"values": ["de", "en"]}},
    }


UNUSABLE = [
    *["", "{", "[]", "5", "null", '"x"', "{}", '{"userinfo": []}', '{"userinfo": {}}'],
    *['{"userinfo": {"a": 1}}', '{"userinfo": {"name": null}, "userinfo": {"email": null}}'],
    *['{"userinfo": {"name": {"value": NaN}}}', '{"userinfo": {"name": {"value": 1e400}}}'],
    *['{"userinfo": {"\\ud800": null}}', '{"userinfo": {"a\\u0000": null}}', "[" * 2000],
    *['{"userinfo": {"name": null}}' + " " * 5000, '{"id_token": {"x": {"value": ' + "9" * 999],
]


@pytest.mark.promise("authorization: claims")
@pytest.mark.parametrize("claims", UNUSABLE, ids=lambda claims: claims[:40])
async def test_claims_that_can_not_be_used_are_passed_over(server, visitor, demo, claims):
    await demo.sign_in(visitor, *server.user, claims=claims)
    record = await only(server.store, AUTHORIZATIONS)

    assert record.claims is None
