"""The discovery document (OpenID Connect Discovery 1.0): it tells the truth, all of it."""

from __future__ import annotations

import pytest
from babel import Locale

from idp.foundation import ttl_cache
from idp.records import INSTANCE_ID, INSTANCES
from storage import Update
from tests.support.protocol import exchanging

DOCUMENT = "/.well-known/openid-configuration"
METHODS = ["client_secret_basic", "client_secret_post", "none", "private_key_jwt"]
ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
GRANT_TYPES = [
    "authorization_code",
    "refresh_token",
    "client_credentials",
    "urn:ietf:params:oauth:grant-type:jwt-bearer",
    "urn:ietf:params:oauth:grant-type:device_code",
    "implicit",
]


@pytest.fixture
def document(io_loop, server, visitor) -> dict:
    return io_loop.run_sync(lambda: visitor.get(DOCUMENT)).json()


@pytest.mark.promise("discovery: path", "discovery: issuer")
async def test_the_document_is_json_that_may_be_cached_and_read_by_any_origin(visitor):
    page = await visitor.get(DOCUMENT)

    assert page.status == 200
    assert page.headers["Content-Type"] == "application/json"
    assert page.headers["Cache-Control"] == "public, max-age=300"
    assert page.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in page.headers


@pytest.mark.promise(
    "service: discovery document",
    "discovery: path",
    "discovery: content",
    "discovery: issuer",
    "discovery: supported values",
    "discovery: optional members",
    "discovery: no private members",
)
def test_the_document_holds_exactly_these_values(server, document):
    base = server.issuer
    locales = document.pop("ui_locales_supported")
    claims = document.pop("claims_supported")

    assert "en" in locales
    assert {"sub", "name", "email", "phone_number", "address", "auth_time"} <= set(claims)
    assert document == {
        "issuer": base,
        "authorization_endpoint": f"{base}/oauth/v2/authorize",
        "pushed_authorization_request_endpoint": f"{base}/oauth/v2/par",
        "require_pushed_authorization_requests": False,
        "device_authorization_endpoint": f"{base}/oauth/v2/device_authorization",
        "token_endpoint": f"{base}/oauth/v2/token",
        "introspection_endpoint": f"{base}/oauth/v2/introspect",
        "revocation_endpoint": f"{base}/oauth/v2/revoke",
        "userinfo_endpoint": f"{base}/oidc/v1/userinfo",
        "end_session_endpoint": f"{base}/oidc/v1/end_session",
        "jwks_uri": f"{base}/oauth/v2/keys",
        "scopes_supported": [
            *("openid", "profile", "email", "phone", "address", "groups", "offline_access")
        ],
        "response_types_supported": ["code", "id_token", "id_token token"],
        "response_modes_supported": ["query", "fragment", "form_post"],
        "grant_types_supported": GRANT_TYPES,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256", "ES256", "EdDSA"],
        "token_endpoint_auth_methods_supported": METHODS,
        "token_endpoint_auth_signing_alg_values_supported": ALGORITHMS,
        "introspection_endpoint_auth_methods_supported": [METHODS[0], METHODS[3]],
        "introspection_endpoint_auth_signing_alg_values_supported": ALGORITHMS,
        "revocation_endpoint_auth_methods_supported": METHODS,
        "revocation_endpoint_auth_signing_alg_values_supported": ALGORITHMS,
        "code_challenge_methods_supported": ["S256"],
        "acr_values_supported": [
            "urn:idp:acr:password",
            "urn:idp:acr:two-factors",
            "urn:idp:acr:passkey",
        ],
        "claim_types_supported": ["normal"],
        "claims_parameter_supported": True,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
        "prompt_values_supported": ["none", "login", "select_account", "create", "consent"],
        "authorization_response_iss_parameter_supported": True,
        "backchannel_logout_supported": True,
        "backchannel_logout_session_supported": True,
        "frontchannel_logout_supported": True,
        "frontchannel_logout_session_supported": True,
    }


@pytest.mark.promise("discovery: content", "discovery: optional members")
async def test_every_address_in_the_document_answers(visitor, document):
    addresses = [url for name, url in document.items() if name.endswith(("_endpoint", "_uri"))]
    statuses = [(await visitor.get(url)).status for url in addresses]

    assert len(addresses) == 9
    assert 404 not in statuses


@pytest.mark.promise("discovery: no private members")
def test_the_locales_are_registered_tags_in_canonical_case(document):
    tags = document["ui_locales_supported"]

    assert [str(Locale.parse(tag, sep="-")).replace("_", "-") for tag in tags] == tags
    assert len(set(tags)) == len(tags)


@pytest.mark.promise("discovery: addresses")
async def test_the_addresses_come_from_the_settings_not_from_the_request(server, visitor):
    headers = {
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "https",
        "Forwarded": "host=evil.example;proto=https",
    }
    page = await visitor.get(DOCUMENT, headers=headers)

    assert "evil.example" not in page.text
    assert page.json()["issuer"] == server.issuer


@pytest.mark.promise("discovery: addresses")
async def test_a_request_for_another_host_is_refused(visitor):
    page = await visitor.get(DOCUMENT, headers={"Host": "evil.example"})

    assert page.status == 421
    assert page.json()["error"] == "invalid_request"


@pytest.mark.parametrize("path", [DOCUMENT, "/oauth/v2/keys"])
async def test_head_is_get_without_the_body(visitor, path):
    head, got = await visitor.request("HEAD", path), await visitor.get(path)

    assert (head.status, head.text) == (200, "")
    assert head.headers["Content-Length"] == str(len(got.text))


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        (DOCUMENT, "GET, HEAD"),
        ("/oauth/v2/keys", "GET, HEAD"),
        ("/oauth/v2/token", "POST"),
        ("/oauth/v2/par", "POST"),
        ("/oauth/v2/device_authorization", "POST"),
        ("/oauth/v2/introspect", "POST"),
        ("/oauth/v2/revoke", "POST"),
        ("/oidc/v1/userinfo", "GET, POST"),
        ("/oauth/v2/authorize", "GET, POST"),
        ("/oidc/v1/end_session", "GET, POST"),
    ],
)
async def test_any_other_method_is_refused_with_the_methods_there_are(visitor, path, allowed):
    methods = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
    others = sorted(methods - set(allowed.split(", ")))
    answers = [await visitor.request(method, path) for method in others]

    assert {page.status for page in answers} == {405}
    assert {page.headers["Allow"] for page in answers} == {allowed}


@pytest.mark.promise("service: no metadata endpoint")
async def test_there_is_no_authorization_server_metadata_endpoint(visitor):
    page = await visitor.get("/.well-known/oauth-authorization-server")

    assert page.status == 404


async def test_a_grant_that_another_process_switches_on_is_stated_after_five_seconds(
    server, visitor
):
    async def states_it():
        return exchanging.GRANT in (await visitor.get(DOCUMENT)).json()["grant_types_supported"]

    before = await states_it()
    switched = {"allows_token_exchange": True}
    await server.store.commit(Update(INSTANCES, INSTANCE_ID, set=switched))
    at_once = await states_it()
    server.clock.advance(ttl_cache.MAX_AGE_SECONDS + 0.1)

    assert (before, at_once, await states_it()) == (False, False, True)
