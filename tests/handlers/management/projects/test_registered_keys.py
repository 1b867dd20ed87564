"""Keys of applications and of service users: made or sent, used, listed, and gone."""

from __future__ import annotations

import base64
import json
from datetime import timedelta
from typing import NamedTuple

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa
from jwcrypto.jwk import JWK

from idp.records import APP_KEYS, USER_KEYS
from tests.support.management.api_samples import MACHINES, PROJECTS, SET_UP, organization
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.protocol.answers import assert_granted
from tests.support.protocol.asserting import JWT_BEARER, Asserting, private_key, public_pem
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

METHOD = "API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT"


class Holder(NamedTuple):
    """An application or a service user: its id, the address of its keys, and where they lie."""

    id: str
    keys: str
    collection: object
    kind: str


@pytest.fixture(params=["application", "serviceaccount"])
def holder(io_loop, request, owner) -> Holder:
    async def application():
        project = (await owner.post(PROJECTS, {"name": "P"})).json()["id"]
        apps = f"{PROJECTS}/{project}/apps"
        body = {"name": "A", "authMethodType": METHOD}
        app = (await owner.post(f"{apps}/api", body)).json()
        return Holder(app["clientId"], f"{apps}/{app['appId']}/keys", APP_KEYS, "application")

    async def service_user():
        made = await owner.post(MACHINES, {"userName": "nightly", "name": "Nightly script"})
        id = made.json()["userId"]
        return Holder(id, f"/management/v1/users/{id}/keys", USER_KEYS, "serviceaccount")

    return io_loop.run_sync(application if request.param == "application" else service_user)


async def is_known(server, visitor, holder, kid, private, algorithm="RS256") -> bool:
    """Whether an assertion by this key proves its holder, at the endpoint that is theirs."""
    asserting = Asserting(server, holder.id, kid, algorithm, private)
    if holder.collection is APP_KEYS:
        form = {"token": "x"} | asserting.client_form()
        return (await visitor.post("/oauth/v2/introspect", form)).status == 200
    form = {"grant_type": JWT_BEARER, "assertion": asserting.assertion(), "scope": "openid"}
    page = await visitor.post("/oauth/v2/token", form)
    if page.status == 200:
        assert_granted(page)
    return page.status == 200


def encoded(pem: str) -> str:
    return base64.b64encode(pem.encode()).decode()


async def test_a_pair_is_made_whose_private_half_is_in_the_answer_alone(
    server, visitor, owner, holder
):
    made = (await owner.post(holder.keys, {"type": "KEY_TYPE_JSON"})).json()

    file = json.loads(base64.b64decode(made["keyDetails"]))
    names = {"appId": holder.id, "clientId": holder.id}
    names = names if holder.kind == "application" else {"userId": holder.id}
    assert file.pop("key").startswith("-----BEGIN RSA PRIVATE KEY-----")
    expires = "9999-12-31T23:59:59Z"
    expected = {"type": holder.kind, "keyId": made["keyId"], "expirationDate": expires}
    assert file == expected | names
    assert ("id" in made) == (holder.kind == "application")
    assert "PRIVATE" not in str(await everything(server.store))
    await events_agree(server.store)


async def test_the_key_file_authenticates_its_holder(server, visitor, owner, holder):
    made = (await owner.post(holder.keys, {})).json()
    file = json.loads(base64.b64decode(made["keyDetails"]))
    private = serialization.load_pem_private_key(file["key"].encode(), None)

    assert private.key_size == 2048
    assert await is_known(server, visitor, holder, made["keyId"], private)


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_a_key_that_was_sent_authenticates_its_holder(
    server, visitor, owner, holder, algorithm
):
    private = private_key(algorithm, 7)
    body = {"publicKey": encoded(public_pem(private))}
    made = (await owner.post(holder.keys, body)).json()

    assert "keyDetails" not in made
    assert await is_known(server, visitor, holder, made["keyId"], private, algorithm)


async def test_a_key_counts_until_its_date_and_no_longer(server, visitor, owner, holder):
    until = server.clock.now() + timedelta(hours=2)
    private = private_key("ES256", 1)
    body = {"publicKey": encoded(public_pem(private)), "expirationDate": until.isoformat()}
    kid = (await owner.post(holder.keys, body)).json()["keyId"]

    server.clock.advance(timedelta(hours=2, seconds=-1))
    assert await is_known(server, visitor, holder, kid, private, "ES256")
    server.clock.advance(1)
    assert not await is_known(server, visitor, holder, kid, private, "ES256")
    refused(await owner.get(f"{holder.keys}/{kid}"), 404, 5)


async def test_a_deleted_key_stops_at_once(server, visitor, owner, holder):
    private = private_key("ES256", 1)
    body = {"publicKey": encoded(public_pem(private))}
    kid = (await owner.post(holder.keys, body)).json()["keyId"]
    assert await is_known(server, visitor, holder, kid, private, "ES256")
    gone = await owner.request("DELETE", f"{holder.keys}/{kid}", None)

    assert gone.json()["details"]["sequence"] == "2"
    assert not await is_known(server, visitor, holder, kid, private, "ES256")
    again = await owner.request("DELETE", f"{holder.keys}/{kid}", None)
    assert refused(again, 404, 5) == {"": "key.not_found"}
    await events_agree(server.store)


async def test_keys_are_listed_and_shown_without_what_they_are(server, owner, holder):
    kids = {(await owner.post(holder.keys, {})).json()["keyId"] for _ in range(3)}
    page = await owner.get(holder.keys)

    assert page.json()["details"] == {"totalResult": "3"}
    assert {key["id"] for key in page.json()["result"]} == kids
    for key in page.json()["result"]:
        assert set(key) == {"id", "details", "type", "expirationDate"}
        assert (await owner.get(f"{holder.keys}/{key['id']}")).json() == {"key": key}
    assert "BEGIN" not in page.text


async def test_a_key_is_its_own_holders(owner, holder):
    kid = (await owner.post(holder.keys, {})).json()["keyId"]
    made = await owner.post(MACHINES, {"userName": "other", "name": "O"})
    other = f"/management/v1/users/{made.json()['userId']}/keys"

    assert refused(await owner.get(f"{other}/{kid}"), 404, 5) == {"": "key.not_found"}
    refused(await owner.request("DELETE", f"{other}/{kid}", None), 404, 5)
    assert (await owner.get(f"{holder.keys}/{kid}")).status == 200


def short_pem() -> str:
    return public_pem(rsa.generate_private_key(public_exponent=65537, key_size=1024))


def private_pem() -> str:
    form = serialization.PrivateFormat.PKCS8
    none = serialization.NoEncryption()
    return private_key("RS256", 0).private_bytes(serialization.Encoding.PEM, form, none).decode()


UNUSABLE = {
    "a short RSA key": lambda: public_pem(
        rsa.generate_private_key(public_exponent=65537, key_size=1024)
    ),
    "a key on P-384": lambda: public_pem(ec.generate_private_key(ec.SECP384R1())),
    "an Ed448 key": lambda: public_pem(ed448.Ed448PrivateKey.generate()),
    "a private key": private_pem,
    "a JWK": lambda: JWK.from_pyca(private_key("ES256").public_key()).export(),
    "a certificate's head": lambda: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
    "half of one": lambda: public_pem(private_key("ES256"))[:80],
    "no key": lambda: "nonsense",
    "octets": lambda: "\xff\x00\xfe",
}


@pytest.mark.parametrize("what", UNUSABLE)
async def test_what_verifies_nothing_is_refused(server, owner, holder, monkeypatch, what):
    monkeypatch.undo()  # the service shares its RSA keys in tests
    octets = UNUSABLE[what]().encode("latin-1")
    before = await everything(server.store)
    page = await owner.post(holder.keys, {"publicKey": base64.b64encode(octets).decode()})

    assert refused(page, 400, 3) == {"publicKey": "key.public_key"}
    assert await everything(server.store) == before


@pytest.mark.full
async def test_nothing_beside_a_public_key_is_stored(server, owner, holder):
    text = public_pem(private_key("ES256")) + private_pem()
    made = (await owner.post(holder.keys, {"publicKey": encoded(text)})).json()

    key = await server.store.get(holder.collection, made["keyId"])
    assert key.public == public_pem(private_key("ES256"))


async def test_a_date_in_the_past_is_refused(server, owner, holder):
    before = await everything(server.store)
    now = server.clock.now().isoformat()
    page = await owner.post(holder.keys, {"expirationDate": now})

    assert refused(page, 400, 3) == {"expirationDate": "key.expiration_past"}
    assert await everything(server.store) == before


async def test_a_person_has_no_keys(server, owner):
    made = (await owner.post(SET_UP, organization())).json()
    keys = f"/management/v1/users/{made['userId']}/keys"
    before = await everything(server.store)

    assert refused(await owner.post(keys, {}), 400, 9) == {"": "user.not_machine"}
    assert refused(await owner.get(keys), 400, 9) == {"": "user.not_machine"}
    assert await everything(server.store) == before


async def test_nobody_makes_credentials_of_who_may_do_more_than_they(server, visitor):
    here = await new_organization(server, "here.example")
    manager = await new_caller(server, visitor, here, "ORG_USER_MANAGER")
    chief = await new_caller(server, visitor, here, "ORG_OWNER")
    user = f"/management/v1/users/{chief.user_id}"
    before = await everything(server.store)
    pages = [
        await manager.post(f"{user}/keys", {}),
        await manager.request("PUT", f"{user}/secret", {}),
        await manager.post(f"{user}/pats", {}),
    ]

    for page in pages:
        assert refused(page, 403, 7) == {"": "permission_denied"}
    assert await everything(server.store) == before
