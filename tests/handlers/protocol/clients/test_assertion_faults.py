"""What a client learns of a refused assertion: which of its faults it is, and nothing stored."""

from __future__ import annotations

import json
import re

import pytest

from idp.identity.users import lookup as user_lookup
from idp.oauth.authentication.jwt_assertions import UNKNOWN_KEY
from idp.oauth.paths import INTROSPECT, TOKEN
from idp.records import APPLICATIONS, ORGANIZATIONS, USER_KEYS
from storage import Update
from tests.support.management.callers import new_caller
from tests.support.protocol.answers import assert_refused
from tests.support.protocol.asserting import (
    ASSERTION_TYPE,
    JWT_BEARER,
    private_key,
    register_key,
    sign_raw,
)
from tests.support.store.stored import refusals

KEYED = {"auth_method": "private_key_jwt", "grant_types": ["client_credentials"]}


def at(name: str, seconds: int):
    """A claim that is an instant, so many seconds from now."""
    return lambda k: k.assertion(**{name: int(k.server.clock.now().timestamp()) + seconds})


def said_to_be(keyed, algorithm: str) -> str:
    """A JWT with another `alg` than that of its signature."""
    header = json.dumps({"alg": algorithm, "kid": keyed.kid})
    return sign_raw(keyed.private, header.encode(), json.dumps(keyed.claims()).encode())


FAULTS = {
    "aud": (lambda k: k.assertion(aud="https://other.example"), "aud of the assertion has to be"),
    "expired": (at("exp", -60), "the assertion has expired"),
    "exp too far": (at("exp", 7200), "exp of the assertion is more than an hour ahead"),
    "iat ahead": (at("iat", 60), "iat of the assertion is [0-9]+ s ahead of the clock"),
    "iat too old": (at("iat", -7200), "iat of the assertion is more than an hour ago"),
    "nbf ahead": (at("nbf", 60), "nbf of the assertion is [0-9]+ s ahead of the clock"),
    "kid": (lambda k: k.sign(k.claims(), kid="other"), UNKNOWN_KEY),
    "alg": (
        lambda k: said_to_be(k, "RS384"),
        "the key with its kid does not verify the assertion: its alg is not one",
    ),
    "alg of another key": (
        lambda k: said_to_be(k, "ES256"),
        "the key with its kid does not verify the assertion: its alg does not fit the key",
    ),
    "claims": (
        lambda k: k.assertion(aud=None),
        "the assertion lacks one of iss, sub, aud and exp",
    ),
    "signature": (
        lambda k: k.sign(k.claims(), key=private_key("RS256", 7)),
        "the key with its kid does not verify the assertion: the signature does not verify",
    ),
    "no JWT": (lambda k: "assertion", "the assertion can not be read: not a compact JWS"),
    "crit": (
        lambda k: sign_raw(k.private, b'{"alg":"RS256","kid":"key-1","crit":["x"]}', b"{}"),
        "the assertion can not be read: its header has crit",
    ),
    "iss and sub": (lambda k: k.assertion(sub="other"), "iss and sub of the assertion differ"),
}


@pytest.fixture
def keyed(io_loop, server):
    """An application that authenticates by its key."""

    async def make():
        party = await server.register("Keyed", **KEYED)
        return await register_key(server, party.client_id, "key-1")

    return io_loop.run_sync(make)


async def told(visitor, assertion: str, path: str = TOKEN):
    form = {"client_assertion_type": ASSERTION_TYPE, "client_assertion": assertion, "token": "t"}
    page = await visitor.post(path, form | {"grant_type": "client_credentials"})
    status = 401 if path == INTROSPECT else 400
    assert_refused(page, status, "invalid_client", is_challenged=False)
    return page.json()["error_description"]


@pytest.mark.promise("client authentication: faults of an assertion")
@pytest.mark.parametrize("path", [TOKEN, INTROSPECT])
@pytest.mark.parametrize("name", FAULTS)
async def test_a_client_is_told_the_fault_of_its_assertion(server, visitor, keyed, name, path):
    make, fault = FAULTS[name]

    description = await told(visitor, make(keyed), path)

    assert re.match(f"client authentication failed: {fault}", description)


@pytest.mark.promise("client authentication: faults of an assertion")
@pytest.mark.parametrize("name", FAULTS)
async def test_a_service_user_is_told_the_fault_of_its_assertion(server, visitor, name):
    human = await user_lookup.find_by_login_name(server.service, server.user[0])
    organization = await server.store.get(ORGANIZATIONS, human.org_id)
    caller = await new_caller(server, visitor, organization)
    keyed = await register_key(server, caller.user_id, "key-1", collection=USER_KEYS)
    make, fault = FAULTS[name]

    page = await visitor.post(TOKEN, {"grant_type": JWT_BEARER, "assertion": make(keyed)})

    assert_refused(page, 400, "invalid_grant")
    assert re.match(fault, page.json()["error_description"])


@pytest.mark.promise("client authentication: faults of an assertion")
async def test_every_fault_has_a_description_and_details_of_its_own(server, visitor, keyed):
    descriptions = [await told(visitor, make(keyed)) for make, _ in FAULTS.values()]
    details = [record.sentence for record in await refusals(server.store)]

    assert len(set(descriptions)) == len(FAULTS)
    assert len(set(details)) == len(FAULTS)
    assert all(details)


async def test_an_assertion_that_was_used_before_is_told_so(visitor, keyed):
    form = keyed.client_form() | {"grant_type": "client_credentials"}
    await visitor.post(TOKEN, form)

    assert (await told(visitor, form["client_assertion"])).endswith("was used before")


@pytest.mark.promise("client authentication: faults of an assertion")
async def test_nobody_finds_out_by_assertions_which_clients_there_are(server, visitor, keyed):
    inactive = await server.register("Inactive", **KEYED)
    by_secret = await server.register("By secret")
    change = Update(APPLICATIONS, inactive.client_id, set={"state": "inactive"})
    await server.store.commit(change)
    issuers = ["nobody", inactive.client_id, by_secret.client_id, keyed.issuer]

    descriptions = {
        await told(visitor, keyed.sign(keyed.claims(iss=each, sub=each), kid="guessed"))
        for each in issuers
    }

    assert descriptions == {f"client authentication failed: {UNKNOWN_KEY}"}


async def test_a_description_names_no_stored_key_and_no_sent_value(server, visitor, keyed):
    descriptions = [
        await told(visitor, keyed.sign(keyed.claims(), key=private_key("ES256"), alg="ES256")),
        await told(visitor, keyed.assertion(aud="https://a-name.example")),
        await told(visitor, keyed.sign(keyed.claims(), kid="a-name")),
    ]

    for description in descriptions:
        assert not {"a-name", keyed.kid, "RSA"} & set(description.replace("/", " ").split())
