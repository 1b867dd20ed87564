"""What scripts register for themselves, over every store and two processes."""

from __future__ import annotations

import asyncio
import base64
import json

import httpx
import pytest
from cryptography.hazmat.primitives import serialization

from idp.records import MEMBERSHIPS, ORGANIZATIONS, PROJECT_ROLES, ROLE_ASSIGNMENTS
from tests.flows.conftest import PLACES
from tests.support.management.api_samples import MACHINES, PROJECTS
from tests.support.management.callers import new_caller, refused
from tests.support.protocol.asserting import JWT_BEARER, Asserting
from tests.support.protocol.relying_party import RelyingParty

AT_ONCE = 16
NO_REUSE = httpx.Limits(max_keepalive_connections=0)


@pytest.fixture
def start(open_browser):
    """A service user who may do everything, another who may do nothing, and a project."""

    async def start(place):
        browser = open_browser(place, limits=NO_REUSE)
        page = await place.store.find(ORGANIZATIONS, {"primary_domain": "localhost"})
        script = await new_caller(place, browser, page.records[0], "IAM_OWNER", everywhere=True)
        body = {"userName": f"nightly-{place.service.random.id()}", "name": "Nightly script"}
        user = (await script.post(MACHINES, body)).json()["userId"]
        project = (await script.post(PROJECTS, {"name": "Shop"})).json()["id"]
        return script, f"/management/v1/users/{user}", f"{PROJECTS}/{project}"

    return start


@pytest.mark.full
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_a_script_gets_tokens_by_its_key_and_by_its_secret(place, start):
    script, user, _ = await start(place)
    made = (await script.post(f"{user}/keys", {})).json()
    file = json.loads(base64.b64decode(made["keyDetails"]))
    private = serialization.load_pem_private_key(file["key"].encode(), None)
    asserting = Asserting(place, file["userId"], file["keyId"], "RS256", private)
    form = {"grant_type": JWT_BEARER, "assertion": asserting.assertion(), "scope": "openid"}
    secret = (await script.request("PUT", f"{user}/secret", {})).json()
    party = RelyingParty(place.issuer, secret["clientId"], secret["clientSecret"], "")

    by_key = await script.visitor.post("/oauth/v2/token", form)
    by_secret = await party.token(script.visitor, {"grant_type": "client_credentials"})

    assert (by_key.status, by_secret.status) == (200, 200), by_key.text
    assert (await script.request("DELETE", f"{user}/keys/{made['keyId']}", None)).status == 200
    form["assertion"] = asserting.assertion()
    assert (await script.visitor.post("/oauth/v2/token", form)).json()["error"] == "invalid_grant"


@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_with_a_role_goes_what_was_given_of_it_and_owners_stay(place, start):
    script, user, project = await start(place)
    for key in ("buyer", "seller"):
        body = {"roleKey": key, "displayName": key}
        assert (await script.post(f"{project}/roles", body)).status == 200
    body = {"projectId": project.rpartition("/")[2], "roleKeys": ["buyer", "seller"]}
    grant = (await script.post(f"{user}/grants", body)).json()["userGrantId"]

    assert (await script.request("DELETE", f"{project}/roles/seller", None)).status == 200

    assert (await place.store.get(ROLE_ASSIGNMENTS, grant)).role_keys == ["buyer"]
    listed = (await script.get(f"{project}/roles")).json()
    assert [role["key"] for role in listed["result"]] == ["buyer"]
    others = [one async for one in place.store.scan(MEMBERSHIPS) if one.org_id is None]
    assert len(others) > 1
    path = f"/v2/users/{script.user_id}"
    assert (await script.post(f"{path}/deactivate", {})).status == 200
    refused(await script.get(path), 401, 16)


@pytest.mark.parametrize("place", ["sqlite", "mongodb"], indirect=True)
async def test_of_many_who_do_the_same_at_once_each_gets_the_result(place, start):
    script, user, project = await start(place)
    roles = [
        script.post(f"{project}/roles", {"roleKey": "buyer", "displayName": "B"})
        for _ in range(AT_ONCE)
    ]
    made = [page.status for page in await asyncio.gather(*roles)]
    body = {"projectId": project.rpartition("/")[2], "roleKeys": ["buyer"]}
    grants = [script.post(f"{user}/grants", body) for _ in range(AT_ONCE)]
    given = [page.status for page in await asyncio.gather(*grants)]
    entries = [
        script.post(f"{user}/metadata/k", {"value": base64.b64encode(b"%d" % n).decode()})
        for n in range(AT_ONCE)
    ]
    kept = [page.status for page in await asyncio.gather(*entries)]
    gone = [script.request("DELETE", f"{user}/metadata/k", None) for _ in range(AT_ONCE)]
    removed = [page.status for page in await asyncio.gather(*gone)]

    once = [200] + [409] * (AT_ONCE - 1)
    assert sorted(made) == sorted(given) == once
    assert kept == [200] * AT_ONCE
    assert sorted(removed) == [200] + [404] * (AT_ONCE - 1)


@pytest.mark.parametrize("place", ["sqlite", "mongodb"], indirect=True)
async def test_no_role_is_given_that_went_at_the_same_moment(place, start):
    script, user, project = await start(place)
    for n in range(AT_ONCE):
        key = f"role-{n}"
        await script.post(f"{project}/roles", {"roleKey": key, "displayName": "R"})
        body = {"projectId": project.rpartition("/")[2], "roleKeys": [key]}
        given, gone = await asyncio.gather(
            script.post(f"{user}/grants", body),
            script.request("DELETE", f"{project}/roles/{key}", None),
        )

        assert gone.status == 200, gone.text
        assert given.status in (200, 400), given.text
        held = [one.role_keys async for one in place.store.scan(ROLE_ASSIGNMENTS)]
        assert key not in sum(held, [])
    id = project.rpartition("/")[2]
    assert await place.store.count(PROJECT_ROLES, {"project_id": id}) == 0
