"""Client credentials (RFC 6749 4.4), JWT profile (RFC 7523 2.1): tokens without a sign-in."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from jwcrypto.jwk import JWKSet
from jwcrypto.jws import JWS

from idp.foundation import opaque_tokens
from idp.identity.users import lookup as user_lookup
from idp.records import APPLICATIONS, ORGANIZATIONS, USED_VALUES, USER_KEYS, USERS
from storage import Update
from tests.support.management.callers import new_caller
from tests.support.protocol.answers import assert_granted, assert_refused
from tests.support.protocol.asserting import JWT_BEARER, private_key, register_key
from tests.support.protocol.relying_party import RelyingParty
from tests.support.store.stored import everything

TOKEN = "/oauth/v2/token"
SECRET = "a-secret-of-a-service-user"


@pytest.fixture
def machine(io_loop, server, visitor) -> RelyingParty:
    """A service user with a secret, which manages its organization."""

    async def make():
        human = await user_lookup.find_by_login_name(server.service, server.user[0])
        organization = await server.store.get(ORGANIZATIONS, human.org_id)
        caller = await new_caller(server, visitor, organization, "ORG_OWNER")
        hash = opaque_tokens.digest(SECRET)
        await server.store.commit(Update(USERS, caller.user_id, set={"secret_hash": hash}))
        return RelyingParty(server.issuer, caller.user_id, SECRET, "")

    return io_loop.run_sync(make)


@pytest.fixture
def keyed(io_loop, server, machine):
    """The same service user with a key."""
    return io_loop.run_sync(
        lambda: register_key(server, machine.client_id, "key-1", collection=USER_KEYS)
    )


def by_secret(visitor, party, headers=None, **form):
    sent = {"grant_type": "client_credentials"} | form
    return visitor.post(TOKEN, sent, headers=party.basic() if headers is None else headers)


def by_assertion(visitor, assertion: str, headers=None, **form):
    sent = {"grant_type": JWT_BEARER, "assertion": assertion} | form
    return visitor.post(TOKEN, sent, headers=headers or {})


async def claims_of(visitor, token: str) -> dict:
    """A JWT's claims, by the published keys."""
    keys = JWKSet.from_json((await visitor.get("/oauth/v2/keys")).text)
    signed = JWS()
    signed.deserialize(token, keys)
    return json.loads(signed.payload)


@pytest.mark.promise(
    "client: access token type", "client credentials: grant_type", "client credentials: response"
)
@pytest.mark.parametrize("kind", ["opaque", "jwt"])
async def test_a_service_user_gets_a_token_by_its_secret(server, visitor, machine, kind):
    await server.store.commit(Update(USERS, machine.client_id, set={"access_token_type": kind}))
    before = await everything(server.store)
    body = assert_granted(await by_secret(visitor, machine, scope="openid profile"))

    assert set(body) == {"access_token", "token_type", "expires_in", "scope"}
    assert body["scope"] == "openid profile"
    assert await everything(server.store) == before
    told = (await machine.userinfo(visitor, body["access_token"])).json()
    assert told["sub"] == machine.client_id
    assert (body["access_token"].count(".") == 2 and kind == "jwt") or kind == "opaque"


@pytest.mark.promise("client credentials: authentication")
async def test_the_secret_may_come_in_the_form(visitor, machine):
    form = {"client_id": machine.client_id, "client_secret": SECRET}

    assert_granted(await by_secret(visitor, machine, {}, **form))


async def test_without_an_audience_the_token_is_for_this_service(server, visitor, machine):
    await server.store.commit(Update(USERS, machine.client_id, set={"access_token_type": "jwt"}))
    body = assert_granted(await by_secret(visitor, machine))
    said = await claims_of(visitor, body["access_token"])

    assert said["aud"] == [server.issuer, machine.client_id]
    assert said["sub"] == said["client_id"] == machine.client_id
    headers = {"Authorization": f"Bearer {body['access_token']}"}
    assert (await visitor.get("/v2/users/" + machine.client_id, headers=headers)).status == 200


@pytest.mark.promise("JWT profile: response", "client credentials: response")
async def test_there_is_no_refresh_token_whatever_is_asked(visitor, machine, keyed):
    scope = "openid offline_access"
    for page in (
        await by_secret(visitor, machine, scope=scope),
        await by_assertion(visitor, keyed.assertion(), scope=scope),
    ):
        body = assert_granted(page)
        assert body["scope"] == "openid"
        assert "refresh_token" not in body


@pytest.mark.promise("JWT profile: scope", "client credentials: scope")
@pytest.mark.parametrize("scope", ["nonsense", "openid nonsense", "Openid", 'a"b', "\x7f"])
async def test_a_scope_that_does_not_exist_is_invalid(server, visitor, machine, keyed, scope):
    before = await everything(server.store)

    assert_refused(await by_secret(visitor, machine, scope=scope), 400, "invalid_scope")
    page = await by_assertion(visitor, keyed.assertion(jti=None), scope=scope)
    assert_refused(page, 400, "invalid_scope")
    after = await everything(server.store)
    assert len(after["replay"]) == 1  # the assertion itself is used up
    assert after | {"replay": {}} == before


@pytest.mark.promise(
    "service: users",
    "client: registered public key",
    "token: id_token",
    "JWT profile: grant_type",
    "JWT profile: response",
)
@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA", "PS256"])
async def test_a_service_user_gets_tokens_by_its_key(server, visitor, machine, algorithm):
    keyed = await register_key(
        server, machine.client_id, "key", collection=USER_KEYS, algorithm=algorithm
    )
    body = assert_granted(await by_assertion(visitor, keyed.assertion(), scope="openid profile"))

    said = await claims_of(visitor, body["id_token"])
    assert said["sub"] == said["aud"] == machine.client_id
    assert said["iss"] == server.issuer
    assert said["at_hash"]
    told = (await machine.userinfo(visitor, body["access_token"])).json()
    assert told["sub"] == machine.client_id


@pytest.mark.promise("JWT profile: scope")
async def test_without_openid_there_is_no_id_token(visitor, keyed):
    body = assert_granted(await by_assertion(visitor, keyed.assertion(), scope="profile"))

    assert "id_token" not in body


@pytest.mark.promise("JWT profile: assertion", "security: assertion")
@pytest.mark.parametrize("jti", [{}, {"jti": None}], ids=["with jti", "without"])
async def test_an_assertion_counts_once(server, visitor, keyed, jti):
    assertion = keyed.assertion(**jti)
    server.clock.advance(1)
    another = keyed.assertion(**jti)

    assert_granted(await by_assertion(visitor, assertion))
    assert_refused(await by_assertion(visitor, assertion), 400, "invalid_grant")
    assert_granted(await by_assertion(visitor, another))


@pytest.mark.promise("security: assertion")
async def test_an_assertion_without_a_jti_is_stored_until_it_expires(server, visitor, keyed):
    assertion = keyed.assertion(jti=None)
    assert_granted(await by_assertion(visitor, assertion))
    (kept,) = [one async for one in server.store.scan(USED_VALUES)]

    assert kept.expires_at >= server.clock.now() + timedelta(seconds=300)
    for seconds in (299, 2):
        server.clock.advance(seconds)
        assert_refused(await by_assertion(visitor, assertion), 400, "invalid_grant")


WRONG = {
    "no JWT": lambda k: "assertion",
    "signed by another key": lambda k: k.sign(k.claims(), key=private_key("RS256", 5)),
    "another kid": lambda k: k.sign(k.claims(), kid="key-2"),
    "another user": lambda k: k.assertion(iss="other", sub="other"),
    "sub another": lambda k: k.assertion(sub="other"),
    "for another issuer": lambda k: k.assertion(aud="https://other.example"),
    "without exp": lambda k: k.assertion(exp=None),
    "expired": lambda k: k.assertion(exp=1),
    "without aud": lambda k: k.assertion(aud=None),
}


@pytest.mark.promise("JWT profile: assertion")
@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG.keys())
async def test_a_wrong_assertion_is_no_grant(server, visitor, keyed, make):
    before = await everything(server.store)

    assert_refused(await by_assertion(visitor, make(keyed)), 400, "invalid_grant")
    assert await everything(server.store) == before


@pytest.mark.promise("JWT profile: assertion")
async def test_a_persons_key_gives_nothing(server, visitor):
    human = await user_lookup.find_by_login_name(server.service, server.user[0])
    keyed = await register_key(server, human.id, "key", collection=USER_KEYS)

    page = await by_assertion(visitor, keyed.assertion(jti=None))
    assert_refused(page, 400, "invalid_grant")


async def test_an_applications_key_is_no_service_users(server, visitor, machine):
    keyed = await register_key(server, machine.client_id, "app-key")

    assert_refused(await by_assertion(visitor, keyed.assertion()), 400, "invalid_grant")


@pytest.mark.promise("JWT profile: assertion")
async def test_an_assertion_is_missing(server, visitor):
    page = await visitor.post(TOKEN, {"grant_type": JWT_BEARER})

    assert_refused(page, 400, "invalid_request")


@pytest.mark.promise("client authentication: JWT profile")
@pytest.mark.parametrize("more", [{"client_secret": "s"}, {"client_assertion": "e30.e30.e30"}])
async def test_a_client_does_not_authenticate_beside_an_assertion(visitor, machine, keyed, more):
    page = await by_assertion(visitor, keyed.assertion(), **more)

    assert_refused(page, 400, "invalid_request")
    page = await by_assertion(visitor, keyed.assertion(), machine.basic())
    assert_refused(page, 400, "invalid_request")


@pytest.mark.parametrize(
    ("collection", "change"),
    [
        (USERS, {"state": "inactive"}),
        (USERS, {"state": "locked"}),
        (ORGANIZATIONS, {"state": "inactive"}),
    ],
)
async def test_who_is_not_active_gets_nothing(server, visitor, machine, keyed, collection, change):
    user = await server.store.get(USERS, machine.client_id)
    id = user.id if collection is USERS else user.org_id
    await server.store.commit(Update(collection, id, set=change))

    assert_refused(await by_secret(visitor, machine), 401, "invalid_client")
    page = await by_assertion(visitor, keyed.assertion())
    assert_refused(page, 400, "invalid_grant")


@pytest.mark.parametrize("change", [{"state": "inactive"}, {"stamp": "new"}])
async def test_a_token_ends_with_its_service_user(server, visitor, machine, change):
    body = assert_granted(await by_secret(visitor, machine, scope="openid"))
    assert (await machine.userinfo(visitor, body["access_token"])).status == 200
    await server.store.commit(Update(USERS, machine.client_id, set=change))

    assert (await machine.userinfo(visitor, body["access_token"])).status == 401


@pytest.mark.promise("client credentials: authentication")
@pytest.mark.parametrize("secret", ["", "wrong", SECRET + " ", SECRET[:-1]])
async def test_a_wrong_secret_gives_nothing(server, visitor, machine, secret):
    before = await everything(server.store)
    machine.client_secret = secret

    assert_refused(await by_secret(visitor, machine), 401, "invalid_client")
    assert await everything(server.store) == before


async def test_a_service_user_without_a_secret_gets_nothing(server, visitor, machine):
    await server.store.commit(Update(USERS, machine.client_id, set={"secret_hash": None}))

    assert_refused(await by_secret(visitor, machine), 401, "invalid_client")


async def test_a_service_user_is_no_client_of_other_grants(visitor, machine):
    form = {"grant_type": "refresh_token", "refresh_token": "r" * 108}

    page = await visitor.post(TOKEN, form, headers=machine.basic())
    assert_refused(page, 401, "invalid_client")


@pytest.fixture
def backend(io_loop, server) -> RelyingParty:
    """An application that gets tokens for itself."""
    return io_loop.run_sync(lambda: server.register("Backend", grant_types=["client_credentials"]))


@pytest.mark.promise("client credentials: grant_type")
async def test_an_application_gets_a_token_for_itself(server, visitor, backend):
    await server.store.commit(
        Update(APPLICATIONS, backend.client_id, set={"access_token_type": "jwt"})
    )
    body = assert_granted(await by_secret(visitor, backend))
    said = await claims_of(visitor, body["access_token"])

    assert said["sub"] == f"client:{backend.client_id}"
    assert said["client_id"] == backend.client_id
    assert server.issuer not in said["aud"]
    asked = await visitor.post(
        "/oauth/v2/introspect", {"token": body["access_token"]}, headers=backend.basic()
    )
    assert asked.json()["active"]
    assert "username" not in asked.json()


async def test_an_applications_token_is_of_no_user(visitor, backend):
    body = assert_granted(await by_secret(visitor, backend, scope="openid"))
    page = await backend.userinfo(visitor, body["access_token"])

    assert (page.status, page.json()["error"]) == (403, "insufficient_scope")
    headers = {"Authorization": f"Bearer {body['access_token']}"}
    assert (await visitor.get("/v2/users/x", headers=headers)).status == 401


async def test_an_application_needs_the_grant(server, visitor, demo):
    before = await everything(server.store)
    page = await by_secret(visitor, demo)

    assert_refused(page, 400, "unauthorized_client")
    assert await everything(server.store) == before


async def test_an_applications_token_ends_with_it(server, visitor, backend):
    body = assert_granted(await by_secret(visitor, backend))
    reader = await server.register("API", app_type="api")
    await server.store.commit(Update(APPLICATIONS, backend.client_id, set={"stamp": "new"}))

    asked = await visitor.post(
        "/oauth/v2/introspect", {"token": body["access_token"]}, headers=reader.basic()
    )
    assert asked.text == '{"active":false}'


@pytest.mark.promise("introspection: revoked")
async def test_a_token_of_its_own_can_be_revoked_by_its_application(server, visitor, backend):
    body = assert_granted(await by_secret(visitor, backend))
    form = {"token": body["access_token"]}
    await visitor.post("/oauth/v2/revoke", form, headers=backend.basic())

    asked = await visitor.post("/oauth/v2/introspect", form, headers=backend.basic())
    assert asked.text == '{"active":false}'


async def test_a_service_users_token_expires(server, visitor, machine):
    body = assert_granted(await by_secret(visitor, machine, scope="openid"))
    server.clock.advance(timedelta(seconds=body["expires_in"]))

    assert (await machine.userinfo(visitor, body["access_token"])).status == 401


@pytest.mark.parametrize("kind", ["opaque", "jwt"])
async def test_a_service_user_asks_about_its_own_token_and_gives_it_back(
    server, visitor, machine, kind
):
    await server.store.commit(Update(USERS, machine.client_id, set={"access_token_type": kind}))
    body = assert_granted(await by_secret(visitor, machine, scope="openid"))
    form = {"token": body["access_token"]}

    asked = await visitor.post("/oauth/v2/introspect", form, headers=machine.basic())
    assert asked.json()["active"]
    revoked = await visitor.post("/oauth/v2/revoke", form, headers=machine.basic())
    assert (revoked.status, revoked.text) == (200, "")
    asked = await visitor.post("/oauth/v2/introspect", form, headers=machine.basic())
    assert asked.text == '{"active":false}'
    assert (await machine.userinfo(visitor, body["access_token"])).status == 401


async def test_a_service_user_learns_nothing_of_anybody_elses_token(
    server, visitor, machine, demo
):
    tokens = await demo.tokens(visitor, *server.user)
    form = {"token": tokens["access_token"]}

    asked = await visitor.post("/oauth/v2/introspect", form, headers=machine.basic())
    assert asked.text == '{"active":false}'
    await visitor.post("/oauth/v2/revoke", form, headers=machine.basic())
    assert (await demo.userinfo(visitor, tokens["access_token"])).status == 200


async def test_a_service_users_secret_in_the_form_does_not_introspect(visitor, machine):
    form = {"token": "t", "client_id": machine.client_id, "client_secret": SECRET}

    page = await visitor.post("/oauth/v2/introspect", form)
    assert_refused(page, 401, "invalid_client", is_challenged=False)


async def test_the_id_token_is_lean_beside_the_access_token(visitor, keyed):
    scope = "openid profile email urn:idp:iam:user:resourceowner"
    body = assert_granted(await by_assertion(visitor, keyed.assertion(), scope=scope))
    said = await claims_of(visitor, body["id_token"])

    usual = {"iss", "sub", "aud", "azp", "exp", "iat", "auth_time", "amr", "at_hash"}
    assert set(said) == usual
