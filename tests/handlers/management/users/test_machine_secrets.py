"""Secrets and personal access tokens of service users, over HTTP: made, listed and taken away."""

from __future__ import annotations

import pytest

from idp.foundation import opaque_tokens
from idp.records import USERS
from tests.support.management.api_samples import MACHINES, MEMBERS, PROJECTS, SET_UP, organization
from tests.support.management.callers import Caller, refused
from tests.support.protocol.answers import assert_granted
from tests.support.protocol.relying_party import RelyingParty
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything


@pytest.fixture
def user(io_loop, owner) -> str:
    """The address of a service user."""

    async def make():
        made = await owner.post(MACHINES, {"userName": "nightly", "name": "Nightly script"})
        return f"/management/v1/users/{made.json()['userId']}"

    return io_loop.run_sync(make)


async def by_secret(server, visitor, made):
    party = RelyingParty(server.issuer, made["clientId"], made["clientSecret"], "")
    return await party.token(visitor, {"grant_type": "client_credentials", "scope": "openid"})


async def test_a_service_user_gets_tokens_by_its_secret(server, visitor, owner, user):
    made = (await owner.request("PUT", f"{user}/secret", {})).json()

    assert made["clientId"] == user.rpartition("/")[2]
    assert_granted(await by_secret(server, visitor, made))
    kept = await server.store.get(USERS, made["clientId"])
    assert opaque_tokens.matches(made["clientSecret"], kept.secret_hash)
    assert made["clientSecret"] not in str(await everything(server.store))
    shown = (await owner.get(f"/v2/users/{made['clientId']}")).json()["user"]["machine"]
    assert shown["hasSecret"] is True
    await events_agree(server.store)


async def test_a_new_secret_replaces_the_old_one_and_tokens_live_on(server, visitor, owner, user):
    old = (await owner.request("PUT", f"{user}/secret", {})).json()
    token = (await by_secret(server, visitor, old)).json()["access_token"]
    new = (await owner.request("PUT", f"{user}/secret", {})).json()

    assert (await by_secret(server, visitor, old)).status == 401
    assert_granted(await by_secret(server, visitor, new))
    party = RelyingParty(server.issuer, "", "", "")
    assert (await party.userinfo(visitor, token)).status == 200


async def test_a_secret_that_was_taken_away_opens_nothing(server, visitor, owner, user):
    made = (await owner.request("PUT", f"{user}/secret", {})).json()
    gone = await owner.request("DELETE", f"{user}/secret", None)

    assert gone.json()["details"]["sequence"] == "3"
    assert (await by_secret(server, visitor, made)).status == 401
    before = await everything(server.store)
    again = await owner.request("DELETE", f"{user}/secret", None)
    assert refused(again, 400, 9) == {"": "user.no_secret"}
    assert await everything(server.store) == before
    await events_agree(server.store)


async def test_a_person_has_no_secret(server, owner):
    made = (await owner.post(SET_UP, organization())).json()
    secret = f"/management/v1/users/{made['userId']}/secret"
    before = await everything(server.store)

    for method, body in (("PUT", {}), ("DELETE", None)):
        page = await owner.request(method, secret, body)
        assert refused(page, 400, 9) == {"": "user.not_machine"}
    assert await everything(server.store) == before


async def test_tokens_are_listed_without_what_opens_anything(owner, user):
    made = [(await owner.post(f"{user}/pats", {})).json() for _ in range(2)]
    page = await owner.get(f"{user}/pats")

    assert page.json()["details"] == {"totalResult": "2"}
    assert {one["id"] for one in page.json()["result"]} == {one["tokenId"] for one in made}
    for one in page.json()["result"]:
        assert set(one) == {"id", "details", "expirationDate"}
        assert (await owner.get(f"{user}/pats/{one['id']}")).json() == {"token": one}
    assert not [one for one in made if one["token"][30:] in page.text]


async def test_a_token_that_was_deleted_opens_nothing_and_the_others_do(
    server, visitor, owner, user
):
    await owner.post(MEMBERS, {"userId": user.rpartition("/")[2], "roles": ["ORG_OWNER"]})
    first, second = [(await owner.post(f"{user}/pats", {})).json() for _ in range(2)]
    path = f"{user}/pats/{first['tokenId']}"
    assert (await Caller(visitor, first["token"]).post(PROJECTS, {"name": "P"})).status == 200
    gone = await owner.request("DELETE", path, None)

    assert gone.json()["details"]["sequence"] == "2"
    refused(await Caller(visitor, first["token"]).post(PROJECTS, {"name": "P"}), 401, 16)
    assert (await Caller(visitor, second["token"]).post(PROJECTS, {"name": "P"})).status == 200
    assert refused(await owner.get(path), 404, 5) == {"": "pat.not_found"}
    assert refused(await owner.request("DELETE", path, None), 404, 5) == {"": "pat.not_found"}
    await events_agree(server.store)


async def test_a_token_is_its_own_users(owner, user):
    made = (await owner.post(f"{user}/pats", {})).json()
    other = (await owner.post(MACHINES, {"userName": "other", "name": "O"})).json()["userId"]
    path = f"/management/v1/users/{other}/pats/{made['tokenId']}"

    refused(await owner.get(path), 404, 5)
    refused(await owner.request("DELETE", path, None), 404, 5)
    assert (await owner.get(f"{user}/pats/{made['tokenId']}")).status == 200
