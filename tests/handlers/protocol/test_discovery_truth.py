"""The discovery document states what is accepted: all that it states is, and nothing else that
the standards know."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from jwcrypto.jwa import JWA
from jwcrypto.jwk import JWK

from idp.management.projects import oidc_apps
from idp.oauth import key_rotation
from idp.records import APPLICATIONS
from storage import Update
from tests.fuzz.world import GRANTS, TYPES
from tests.support.attacks.forged import encode, part
from tests.support.protocol import exchanging
from tests.support.protocol.answers import assert_refused
from tests.support.protocol.asserting import ASSERTION_TYPE, JWT_BEARER, private_key, register_key
from tests.support.protocol.device import GRANT as DEVICE
from tests.support.sign_in.passkeys import enrol
from tests.support.store.stored import everything

DOCUMENT = "/.well-known/openid-configuration"
INTROSPECTION = "introspection_endpoint_auth"
ENDPOINTS = {
    "token_endpoint_auth": "token_endpoint",
    INTROSPECTION: "introspection_endpoint",
    "revocation_endpoint_auth": "revocation_endpoint",
}

# What the standards know, of which the document states a part.
RESPONSE_TYPES = [
    *["code", "id_token", "token", "none", "id_token token", "code id_token", "code token"],
    *["code id_token token", "vp_token", "vp_token id_token"],
]
MODES = [
    *["query", "fragment", "form_post", "jwt", "query.jwt", "fragment.jwt", "form_post.jwt"],
    *["web_message", "okta_post_message", "direct_post"],
]
PROMPTS = ["none", "login", "consent", "select_account", "create", "enroll", "LOGIN"]
CHALLENGES = ["S256", "plain", "S512", "s256"]
SCOPES = [
    *["openid", "profile", "email", "phone", "address", "offline_access", "groups", "roles"],
    *["device_sso", "online_access", "PROFILE", "https://www.googleapis.com/auth/plus.me"],
]
GRANT_TYPES = [
    *["authorization_code", "implicit", "refresh_token", "client_credentials", "password"],
    *[JWT_BEARER, DEVICE, exchanging.GRANT, "urn:ietf:params:oauth:grant-type:saml2-bearer"],
    *["urn:openid:params:grant-type:ciba", "urn:ietf:params:oauth:grant-type:uma-ticket"],
    "urn:ietf:params:oauth:grant-type:pre-authorized_code",
]
AUTH_METHODS = [
    *["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "none"],
    *["tls_client_auth", "self_signed_tls_client_auth"],
]
ALGORITHMS = [
    *["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "ES256K"],
    *["EdDSA", "HS256", "HS384", "HS512", "none"],
]


@pytest.fixture
def document(io_loop, server, visitor) -> dict:
    io_loop.run_sync(lambda: exchanging.switch(server, allows_token_exchange=True))
    return io_loop.run_sync(lambda: visitor.get(DOCUMENT)).json()


@pytest.fixture
def register(server):
    """Makes applications that may do everything."""

    def register(method: str = "client_secret_basic", **changes):
        values = {"grant_types": GRANTS, "response_types": TYPES, "auth_method": method}
        return server.register(method, **(values | changes))

    return register


@pytest.fixture
def client(io_loop, register):
    return io_loop.run_sync(register)


@pytest.fixture
def signed_in(io_loop, server, visitor, client):
    """The demo user's browser."""
    io_loop.run_sync(lambda: client.tokens(visitor, *server.user))
    return visitor


def stated(document: dict, name: str, known: list[str]) -> dict[str, bool]:
    """Everything that is known, and whether the document states it. It may state nothing else."""
    assert set(document[name]) <= set(known), name
    return {each: each in document[name] for each in known}


async def error_of(browser, client, **changes) -> str | None:
    """What an authorization request is refused with; None when it goes on."""
    page = await browser.get(client.authorize_url(**changes))
    if page.name == "form-post":
        return page.hidden.get("error")
    assert page.status == 303, page.text
    return page.answer.get("error")


# Authorization


@pytest.mark.promise("discovery: supported values")
async def test_the_response_types_are_those_that_are_stated(document, client, signed_in):
    refused = {
        each: await error_of(signed_in, client, response_type=each, prompt="none")
        for each in RESPONSE_TYPES
    }

    assert refused == {
        each: None if is_stated else "unsupported_response_type"
        for each, is_stated in stated(document, "response_types_supported", RESPONSE_TYPES).items()
    }


@pytest.mark.promise("discovery: optional members")
@pytest.mark.parametrize("response_type", TYPES)
async def test_the_response_modes_are_those_that_are_stated(
    document, client, signed_in, response_type
):
    changes = {"response_type": response_type, "prompt": "none"}
    refused = {
        each: await error_of(signed_in, client, response_mode=each, **changes) for each in MODES
    }
    expected = {
        each: None if is_stated else "invalid_request"
        for each, is_stated in stated(document, "response_modes_supported", MODES).items()
    }
    if response_type != "code":
        expected["query"] = "invalid_request"  # Multiple Response Types, 3: no token in a query

    assert refused == expected


@pytest.mark.promise("discovery: optional members")
async def test_the_prompts_are_those_that_are_stated(document, client, signed_in):
    refused = {each: await error_of(signed_in, client, prompt=each) for each in PROMPTS}

    assert refused == {
        each: None if is_stated else "invalid_request"
        for each, is_stated in stated(document, "prompt_values_supported", PROMPTS).items()
    }


@pytest.mark.promise("discovery: optional members")
async def test_the_challenge_methods_are_those_that_are_stated(document, client, signed_in):
    refused = {
        each: await error_of(signed_in, client, code_challenge_method=each, prompt="none")
        for each in [*CHALLENGES, None]
    }
    known = stated(document, "code_challenge_methods_supported", CHALLENGES)

    assert refused == {
        each: None if is_stated else "invalid_request"
        for each, is_stated in {**known, None: False}.items()
    }


@pytest.mark.promise("discovery: supported values")
async def test_the_scopes_are_those_that_are_stated(document, client, signed_in):
    page = await signed_in.get(client.authorize_url(scope=" ".join(SCOPES), prompt="none"))
    answered = (await client.redeem(signed_in, page.answer["code"])).json()["scope"].split(" ")
    form = {"grant_type": "client_credentials", "scope": "openid departments"}
    own = await client.token(signed_in, form)

    known = stated(document, "scopes_supported", SCOPES)
    assert answered == [each for each, is_stated in known.items() if is_stated]
    assert_refused(own, 400, "invalid_scope")


async def test_each_class_of_sign_in_that_is_stated_is_reached_and_returned(
    document, client, signed_in, server
):
    told = []
    await enrol(signed_in, server)
    for acr in document["acr_values_supported"]:
        claims = {"id_token": {"acr": {"essential": True, "value": acr}}}
        url = client.authorize_url(prompt="none", claims=json.dumps(claims))
        code = (await signed_in.get(url)).answer["code"]
        told.append(part((await client.redeem(signed_in, code)).json()["id_token"], 1)["acr"])
    other = {"id_token": {"acr": {"essential": True, "value": "urn:idp:acr:other"}}}

    assert told == document["acr_values_supported"] != []
    assert await error_of(signed_in, client, claims=json.dumps(other)) == "login_required"


async def test_every_language_that_is_stated_is_spoken_and_no_other(document, client, visitor):
    tags = document["ui_locales_supported"]
    spoken = [(await visitor.open(client.authorize_url(ui_locales=tag))) for tag in tags]
    other = await visitor.open(client.authorize_url(ui_locales="tlh cy"))

    assert [page.headers["Content-Language"] for page in spoken] == tags
    assert other.headers["Content-Language"] in tags


@pytest.mark.promise("discovery: optional members")
async def test_objects_that_are_not_supported_are_refused_by_their_own_errors(
    document, client, signed_in
):
    names = ["request_parameter_supported", "request_uri_parameter_supported"]
    sent = {"request": "eyJhbGciOiJub25lIn0.e30.", "request_uri": "https://client.example/r"}

    assert [document[name] for name in names] == [False, False]
    assert [await error_of(signed_in, client, **{name: sent[name]}) for name in sent] == [
        "request_not_supported",
        "request_uri_not_supported",
    ]
    assert document["require_pushed_authorization_requests"] is False
    assert await error_of(signed_in, client) is None


@pytest.mark.parametrize("mode", ["query", "fragment", "form_post"])
@pytest.mark.parametrize("scope", ["openid", "profile"])
async def test_the_issuer_is_in_every_answer_as_stated(document, client, signed_in, mode, scope):
    page = await signed_in.get(client.authorize_url(scope=scope, response_mode=mode))
    answer = page.hidden if mode == "form_post" else page.answer

    assert document["authorization_response_iss_parameter_supported"] is True
    assert ("error" in answer) == (scope != "openid")
    assert answer["iss"] == document["issuer"]


async def test_no_claim_is_returned_that_is_not_stated(document, client, signed_in):
    scope = " ".join(document["scopes_supported"])
    page = await signed_in.get(client.authorize_url(scope=scope, prompt="none", max_age=1000))
    tokens = (await client.redeem(signed_in, page.answer["code"])).json()
    told = (await client.userinfo(signed_in, tokens["access_token"])).json()
    said = part(tokens["id_token"], 1)

    assert document["claims_parameter_supported"] is True
    assert {"email", "name"} <= set(told) <= set(document["claims_supported"])
    assert {"auth_time", "at_hash"} <= set(said) <= set(document["claims_supported"])


@pytest.mark.promise("discovery: supported values")
async def test_id_tokens_are_signed_by_every_algorithm_that_is_stated_and_no_other(
    server, document, client, signed_in
):
    signed = {}
    for algorithm in document["id_token_signing_alg_values_supported"]:
        await key_rotation.ensure(server.service, algorithm, actor="a test")
        changes = {"signing_algorithm": algorithm}
        await server.store.commit(Update(APPLICATIONS, client.client_id, set=changes))
        code = (await signed_in.get(client.authorize_url(prompt="none"))).answer["code"]
        token = (await client.redeem(signed_in, code)).json()["id_token"]
        signed[algorithm] = part(token, 0)["alg"]

    assert signed == {each: each for each in oidc_apps.ALGORITHMS.values()}


# Grants


@pytest.mark.promise("discovery: supported values")
async def test_the_grants_are_those_that_are_stated(server, document, client, visitor):
    before = await everything(server.store)
    known = stated(document, "grant_types_supported", GRANT_TYPES)
    errors = {}
    for each in GRANT_TYPES:
        headers = {} if each == JWT_BEARER else None
        page = await client.token(visitor, {"grant_type": each}, headers)
        errors[each] = page.json().get("error")

    # implicit has no request of its own at the token endpoint
    unsupported = {each for each, error in errors.items() if error == "unsupported_grant_type"}
    assert unsupported == {each for each in known if not known[each]} | {"implicit"}
    assert errors.pop("client_credentials") is None
    assert {errors[each] for each in errors if each not in unsupported} == {"invalid_request"}
    assert await everything(server.store) == before
    assert await error_of(visitor, client, response_type="id_token token") is None


async def test_a_grant_that_is_switched_off_is_neither_stated_nor_supported(
    server, document, client, visitor
):
    await exchanging.switch(server, allows_token_exchange=False)
    after = (await visitor.get(DOCUMENT)).json()
    page = await client.token(visitor, {"grant_type": exchanging.GRANT})

    assert_refused(page, 400, "unsupported_grant_type")
    assert set(document["grant_types_supported"]) - set(after["grant_types_supported"]) == {
        exchanging.GRANT
    }


# How clients authenticate


async def credentials_by(server, client, method: str) -> tuple[dict, dict]:
    """The headers and the form fields of a method; it need not be one of this service."""
    named = {"client_id": client.client_id}
    if method == "client_secret_basic":
        return client.basic(), {}
    if method == "client_secret_post":
        return {}, named | {"client_secret": client.client_secret}
    if method == "private_key_jwt":
        key = await register_key(server, client.client_id, server.service.random.id())
        return {}, key.client_form()
    if method == "client_secret_jwt":
        return {}, named | by_algorithm(server, client.client_id, "HS256", client.client_secret)
    return {}, named


@pytest.mark.promise("discovery: supported values")
@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_the_methods_of_clients_are_those_that_are_stated(
    server, document, register, visitor, endpoint
):
    known = stated(document, f"{endpoint}_methods_supported", AUTH_METHODS)
    registered = document["token_endpoint_auth_methods_supported"]
    refused = {}
    for method in known:
        client = await register(method if method in registered else "client_secret_post")
        headers, form = await credentials_by(server, client, method)
        form |= {"grant_type": "refresh_token", "refresh_token": "x"}
        page = await visitor.post(
            document[ENDPOINTS[endpoint]], form | {"token": "x"}, headers=headers
        )
        refused[method] = "invalid_client" in page.text

    assert refused == {method: not is_stated for method, is_stated in known.items()}


@pytest.mark.full
@pytest.mark.promise("discovery: supported values")
@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_the_algorithms_of_assertions_are_those_that_are_stated(
    server, document, register, visitor, endpoint
):
    client = await register("private_key_jwt")
    known = stated(document, f"{endpoint}_signing_alg_values_supported", ALGORITHMS)
    refused = {}
    for algorithm in known:
        kind = algorithm if algorithm in ("ES256", "EdDSA") else "RS256"
        await register_key(server, client.client_id, algorithm, algorithm=kind)
        form = by_algorithm(server, client.client_id, algorithm)
        form |= {"token": "x", "grant_type": "refresh_token", "refresh_token": "x"}
        page = await visitor.post(document[ENDPOINTS[endpoint]], form)
        refused[algorithm] = "invalid_client" in page.text

    assert refused == {algorithm: not is_stated for algorithm, is_stated in known.items()}


def by_algorithm(server, client_id: str, algorithm: str, secret: str | None = None) -> dict:
    """The fields of an assertion that says it was signed by this algorithm, as well as can be."""
    now = server.clock.now()
    claims = {
        "iss": client_id,
        "sub": client_id,
        "aud": server.issuer,
        "iat": int(now.timestamp()),
        "exp": int((now + timedelta(minutes=1)).timestamp()),
        "jti": f"{algorithm}-{server.service.random.id()}",
    }
    header = {"alg": algorithm, "kid": algorithm}
    assertion = f"{encode(json.dumps(header).encode())}.{encode(json.dumps(claims).encode())}"
    signature = _signature(algorithm, assertion.encode(), secret)
    return {
        "client_assertion_type": ASSERTION_TYPE,
        "client_assertion": f"{assertion}.{encode(signature)}",
    }


def _signature(algorithm: str, octets: bytes, secret: str | None) -> bytes:
    """By jwcrypto, which knows them all."""
    if algorithm == "none":
        return b""
    return JWA.signing_alg(algorithm).sign(_key_for(algorithm, secret), octets)


def _key_for(algorithm: str, secret: str | None) -> JWK:
    if algorithm.startswith("HS"):
        return JWK(kty="oct", k=encode((secret or "s" * 64).encode()))
    curves = {"ES384": "P-384", "ES512": "P-521", "ES256K": "secp256k1"}
    if algorithm in curves:
        return JWK.generate(kty="EC", crv=curves[algorithm])
    return JWK.from_pyca(private_key("RS256" if algorithm[0] in "RP" else algorithm, 0))


async def test_a_client_that_has_the_document_is_told_when_it_has_changed(server, visitor):
    await exchanging.switch(server, allows_token_exchange=True)
    before = (await visitor.get(DOCUMENT)).headers["ETag"]
    unchanged = await visitor.get(DOCUMENT, headers={"If-None-Match": before})
    await exchanging.switch(server, allows_token_exchange=False)
    changed = await visitor.get(DOCUMENT, headers={"If-None-Match": before})

    assert (unchanged.status, unchanged.text) == (304, "")
    assert unchanged.headers["ETag"] == before
    assert changed.status == 200
    assert changed.headers["ETag"] != before
