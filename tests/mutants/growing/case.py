"""What a program with one more grant does; run in a copy that has it."""

from __future__ import annotations

import json

from idp.cli.commands import explain
from tests.support.management.callers import instance_owner
from tests.support.protocol.answers import assert_granted, assert_refused

PLEASE = "urn:example:please"


async def test_the_new_grant_is_known_everywhere(server, visitor):
    owner = await instance_owner(server, visitor)
    project = (await owner.post("/management/v1/projects", {"name": "P"})).json()["id"]
    body = {"name": "Polite", "grantTypes": ["OIDC_GRANT_TYPE_PLEASE"]}
    made = (await owner.post(f"/management/v1/projects/{project}/apps/oidc", body)).json()
    party = await server.register("Other")
    party.client_id, party.client_secret = made["clientId"], made["clientSecret"]

    document = (await visitor.get("/.well-known/openid-configuration")).json()
    assert PLEASE in document["grant_types_supported"]
    assert_granted(await party.token(visitor, {"grant_type": PLEASE, "word": "please"}))

    refused = await party.token(visitor, {"grant_type": PLEASE, "word": "now"})
    assert_refused(refused, 400, "invalid_grant")
    found = await explain.find(server.service, refused.headers["X-Request-Id"])
    (told,) = json.loads(explain.in_json(found))["refusals"]
    assert [check["name"] for check in told["checks"]][-2:] == ["grant_allowed", "polite"]


async def test_who_did_not_register_it_may_not_use_it(server, visitor):
    party = await server.register("Rude")
    page = await party.token(visitor, {"grant_type": PLEASE, "word": "please"})

    assert_refused(page, 400, "unauthorized_client")
