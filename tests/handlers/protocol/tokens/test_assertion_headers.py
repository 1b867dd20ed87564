"""Header parameters of signed JWTs that the service does not read (RFC 7515 4)."""

from __future__ import annotations

import json

import pytest

from idp.identity.users import lookup as user_lookup
from idp.outgoing.http import Outgoing
from idp.records import ORGANIZATIONS, USER_KEYS
from tests.support.management.callers import new_caller
from tests.support.protocol.answers import assert_granted, assert_refused
from tests.support.protocol.asserting import (
    JWT_BEARER,
    jwk_of,
    private_key,
    register_key,
    sign_raw,
)
from tests.support.protocol.exchanging import JWT

TOKEN = "/oauth/v2/token"
KEYED = {"auth_method": "private_key_jwt", "grant_types": ["client_credentials"]}
UNREAD = {
    "x5t": "uyyT6xBKKV9xhE_mPS0d1kKJFTg",
    "x5t#S256": "8Y0bK3Vv5y4xWl1sJr2dC3v5b8b4Xq7xkTzqkqYJ2yE",
    "x5c": ["MIIB"],
    "cty": "JWT",
    "jku": "http://127.0.0.1:1/keys",
    "x5u": "http://127.0.0.1:1/certificate",
    "jwk": {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
    "zip": "DEF",
    "b64": False,
    "https://client.example/tenant": {"a": [1, None]},
}


@pytest.fixture
def keyed(io_loop, server):
    """An application that authenticates by its key."""

    async def make():
        party = await server.register("Keyed", **KEYED)
        return await register_key(server, party.client_id, "key-1")

    return io_loop.run_sync(make)


@pytest.fixture
def no_calls(monkeypatch):
    """Addresses that the service connects to fail the test."""

    async def refused(*values):
        raise AssertionError("the service looked up an address")

    monkeypatch.setattr(Outgoing, "_addresses", refused)


def signed(keyed, claims: dict, **header) -> str:
    """A JWT with any header parameters, also some that jwcrypto refuses."""
    protected = {"alg": "RS256", "kid": keyed.kid} | header
    return sign_raw(keyed.private, json.dumps(protected).encode(), json.dumps(claims).encode())


def by_assertion(visitor, keyed, assertion: str):
    form = keyed.client_form() | {"client_assertion": assertion}
    return visitor.post(TOKEN, {"grant_type": "client_credentials"} | form)


@pytest.mark.promise("token endpoint: header parameters")
@pytest.mark.parametrize("name", UNREAD)
async def test_a_client_may_send_header_parameters_that_are_not_read(
    visitor, keyed, no_calls, name
):
    assertion = signed(keyed, keyed.claims(), **{name: UNREAD[name]})

    assert_granted(await by_assertion(visitor, keyed, assertion))


@pytest.mark.promise("token endpoint: header parameters")
async def test_a_service_user_may_send_header_parameters_that_are_not_read(
    server, visitor, no_calls
):
    human = await user_lookup.find_by_login_name(server.service, server.user[0])
    organization = await server.store.get(ORGANIZATIONS, human.org_id)
    caller = await new_caller(server, visitor, organization, "ORG_OWNER")
    keyed = await register_key(server, caller.user_id, "key-1", collection=USER_KEYS)
    form = {"grant_type": JWT_BEARER, "assertion": signed(keyed, keyed.claims(), **UNREAD)}

    assert_granted(await visitor.post(TOKEN, form))


@pytest.mark.promise("token endpoint: header parameters")
async def test_a_jwt_that_is_exchanged_may_have_header_parameters_that_are_not_read(
    server, ground, no_calls
):
    token = signed(ground.keyed, ground.keyed.claims(sub=ground.ann), **UNREAD)

    assert_granted(await ground.broker.exchange(token, JWT, **ground.by_bob))


@pytest.mark.promise("token endpoint: header parameters")
@pytest.mark.parametrize("place", ["jwk", "jku"])
async def test_a_key_that_an_assertion_brings_does_not_authenticate(
    visitor, keyed, no_calls, place
):
    other = private_key("RS256", 7)
    brought = {"jwk": json.loads(jwk_of(other).export_public()), "jku": "http://127.0.0.1:1/"}
    assertion = keyed.sign(keyed.claims(), key=other, **{place: brought[place]})

    assert_refused(await by_assertion(visitor, keyed, assertion), 400, "invalid_client")
