"""What an application may ask for, field by field, and who may give it power over the service."""

from __future__ import annotations

import pytest

from idp.records import APPLICATIONS, ORGANIZATIONS, PROJECTS
from tests.support.management.callers import new_caller, refused
from tests.support.store.stored import everything

PATH = "/management/v1/projects"
URI = "https://shop.example/cb"
GRANTS = {
    "OIDC_GRANT_TYPE_AUTHORIZATION_CODE": "authorization_code",
    "OIDC_GRANT_TYPE_IMPLICIT": "implicit",
    "OIDC_GRANT_TYPE_REFRESH_TOKEN": "refresh_token",
    "OIDC_GRANT_TYPE_DEVICE_CODE": "urn:ietf:params:oauth:grant-type:device_code",
    "OIDC_GRANT_TYPE_TOKEN_EXCHANGE": "urn:ietf:params:oauth:grant-type:token-exchange",
    "OIDC_GRANT_TYPE_CLIENT_CREDENTIALS": "client_credentials",
}
IMPLICIT = ["OIDC_RESPONSE_TYPE_ID_TOKEN", "OIDC_RESPONSE_TYPE_ID_TOKEN_TOKEN"]


@pytest.fixture
def apps(io_loop, owner) -> str:
    """The address of a project's applications."""

    async def make():
        return f"{PATH}/{(await owner.post(PATH, {'name': 'Shop'})).json()['id']}/apps"

    return io_loop.run_sync(make)


@pytest.fixture
def chief(io_loop, server, visitor, apps):
    """An owner of the organization that has the project."""

    async def make():
        project = await server.store.get(PROJECTS, apps.split("/")[-2])
        home = await server.store.get(ORGANIZATIONS, project.org_id)
        return await new_caller(server, visitor, home, "ORG_OWNER")

    return io_loop.run_sync(make)


@pytest.fixture
def register(owner, apps):
    async def register(**settings):
        return await owner.post(f"{apps}/oidc", {"name": "A", "redirectUris": [URI]} | settings)

    return register


@pytest.fixture
def kept(server, register):
    """The stored application that these settings make."""

    async def kept(**settings):
        made = await register(**settings)
        assert made.status == 200, made.text
        return await server.store.get(APPLICATIONS, made.json()["clientId"])

    return kept


@pytest.mark.parametrize("name", GRANTS)
async def test_a_grant_is_stored_by_its_protocol_name(kept, name):
    client = await kept(grantTypes=[name, name])

    assert client.grant_types == [GRANTS[name]]


async def test_only_who_may_redeem_codes_has_their_response_type_without_asking(kept):
    assert (await kept()).response_types == ["code"]
    assert (await kept(grantTypes=["OIDC_GRANT_TYPE_DEVICE_CODE"])).response_types == []
    explicit = await kept(
        grantTypes=["OIDC_GRANT_TYPE_DEVICE_CODE"], responseTypes=["OIDC_RESPONSE_TYPE_CODE"]
    )
    assert explicit.response_types == ["code"]


async def test_implicit_response_types_are_stored_with_their_grant(kept):
    client = await kept(responseTypes=IMPLICIT, grantTypes=["OIDC_GRANT_TYPE_IMPLICIT"])

    assert client.response_types == ["id_token", "id_token token"]
    assert client.grant_types == ["implicit"]


@pytest.mark.parametrize("response", IMPLICIT)
async def test_an_implicit_response_type_needs_its_grant(server, register, response):
    before = await everything(server.store)
    page = await register(responseTypes=["OIDC_RESPONSE_TYPE_CODE", response])

    assert refused(page, 400, 3) == {"grantTypes": "app.grant_types.implicit_missing"}
    assert await everything(server.store) == before


async def test_an_application_without_credentials_gets_no_tokens_by_them(server, register):
    before = await everything(server.store)
    page = await register(
        authMethodType="OIDC_AUTH_METHOD_TYPE_NONE",
        grantTypes=["OIDC_GRANT_TYPE_CLIENT_CREDENTIALS"],
    )

    assert refused(page, 400, 3) == {"grantTypes": "app.grant_types.no_credentials"}
    assert await everything(server.store) == before


async def test_an_application_with_a_key_has_no_secret(server, register):
    made = (await register(authMethodType="OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT")).json()

    client = await server.store.get(APPLICATIONS, made["clientId"])
    assert "clientSecret" not in made
    assert (client.auth_method, client.secret_hash) == ("private_key_jwt", None)


TAKEN = {
    "clockSkew": {"0s": 0, "1s": 1, "5s": 5, "5000ms": 5, "0m5s": 5},
    "refreshTokenReuseSeconds": {0: 0, 60: 60, "60": 60},
    "groupsClaim": {"groups": "groups", "https://shop.example/groups": None, "roles": "roles"},
    "idTokenSignedResponseAlg": {"RS256": "RS256", "ES256": "ES256", "EdDSA": "EdDSA"},
}
STORED = {
    "clockSkew": "clock_skew_seconds",
    "refreshTokenReuseSeconds": "refresh_token_reuse_seconds",
    "groupsClaim": "groups_claim",
    "idTokenSignedResponseAlg": "signing_algorithm",
}


@pytest.mark.parametrize(("field", "sent"), [(f, sent) for f in TAKEN for sent in TAKEN[f]])
async def test_a_value_within_its_bounds_is_stored(kept, field, sent):
    client = await kept(**{field: sent})

    expected = TAKEN[field][sent]
    assert getattr(client, STORED[field]) == (sent if expected is None else expected)


REFUSED = [
    ("clockSkew", "6s", "app.clock_skew"),
    ("clockSkew", "5001ms", "app.clock_skew"),
    ("clockSkew", "1.5s", "app.clock_skew"),
    ("clockSkew", "-1s", "app.clock_skew"),
    ("clockSkew", "5", "app.clock_skew"),
    ("clockSkew", "", "app.clock_skew"),
    ("clockSkew", "NaN", "app.clock_skew"),
    ("clockSkew", 5, "field.wrong_type"),
    ("refreshTokenReuseSeconds", 61, "field.out_of_range"),
    ("refreshTokenReuseSeconds", -1, "field.out_of_range"),
    ("groupsClaim", "sub", "app.groups_claim.taken"),
    ("groupsClaim", "email", "app.groups_claim.taken"),
    ("groupsClaim", "aud", "app.groups_claim.taken"),
    ("groupsClaim", "urn:idp:iam:org:project:roles", "app.groups_claim.taken"),
    ("groupsClaim", "__proto__", "app.groups_claim.taken"),
    ("groupsClaim", "my groups", "app.groups_claim.characters"),
    ("groupsClaim", "größe", "app.groups_claim.characters"),
    ("groupsClaim", "x" * 201, "field.too_long"),
    ("idTokenSignedResponseAlg", "none", "field.unknown_name"),
    ("idTokenSignedResponseAlg", "HS256", "field.unknown_name"),
    ("idTokenSignedResponseAlg", "PS256", "field.unknown_name"),
    ("backChannelLogoutUri", "http://shop.example/out", "redirect_uri.http"),
    ("frontChannelLogoutUri", "http://shop.example/out", "redirect_uri.http"),
    ("backChannelLogoutUri", "com.shop:/out", "field.address"),
    ("frontChannelLogoutUri", "javascript:alert(1)", "redirect_uri.scheme"),
    ("backChannelLogoutUri", "https://shop.example/out#x", "redirect_uri.fragment"),
    ("frontChannelLogoutUri", "https://a@shop.example/", "redirect_uri.host"),
]


@pytest.mark.parametrize(("field", "value", "error_code"), REFUSED)
async def test_a_value_beyond_its_bounds_is_refused(server, register, field, value, error_code):
    before = await everything(server.store)
    page = await register(**{field: value})

    assert refused(page, 400, 3) == {field: error_code}
    assert await everything(server.store) == before


@pytest.mark.parametrize("field", ["backChannelLogoutUri", "frontChannelLogoutUri"])
@pytest.mark.parametrize("uri", ["http://localhost:3000/out", "http://[::1]/out?a=b"])
async def test_a_logout_address_may_be_on_the_persons_own_machine(register, field, uri):
    assert (await register(**{field: uri})).status == 200


async def test_in_development_a_logout_address_may_be_plain_http(register):
    uri = "http://shop.internal/out"
    page = await register(backChannelLogoutUri=uri, frontChannelLogoutUri=uri, devMode=True)

    assert page.status == 200


ORIGINS = ["https://a.example", "https://a.example:8443", "http://localhost:3000"]
ORIGINS += ["https://[2001:db8::1]:8443", "capacitor://localhost", "https://10.0.0.1"]
NO_ORIGINS = {
    "https://a.example/": "origin.form",
    "https://a.example/x": "origin.form",
    "https://a.example?x": "origin.form",
    "https://A.example": "origin.form",
    "HTTPS://a.example": "origin.form",
    "https://a.example:443": "origin.form",
    "http://localhost:80": "origin.form",
    "https://a.example:0443": "origin.form",
    "https://[2001:db8:0::1]": "origin.form",
    "http://a.example": "redirect_uri.http",
    "https://a.example#x": "redirect_uri.fragment",
    "https://*.a.example": "redirect_uri.wildcard",
    "*": "redirect_uri.wildcard",
    "null": "redirect_uri.relative",
    "a.example": "redirect_uri.relative",
    "https://u@a.example": "redirect_uri.host",
    "https://a.example:65536": "redirect_uri.host",
    "capacitor://localhost:65536": "origin.form",
    "capacitor:localhost": "origin.form",
    "file:///": "redirect_uri.scheme",
    "https://b\u00fccher.example": "redirect_uri.characters",
    "": "field.empty",
}


async def test_origins_are_stored_as_browsers_send_them(kept):
    assert (await kept(additionalOrigins=ORIGINS)).additional_origins == ORIGINS


async def test_what_no_browser_sends_as_an_origin_is_refused(server, register):
    before = await everything(server.store)
    page = await register(additionalOrigins=[*NO_ORIGINS, ORIGINS[0], ORIGINS[0]])

    expected = {
        f"additionalOrigins[{n}]": error_code for n, error_code in enumerate(NO_ORIGINS.values())
    }
    expected[f"additionalOrigins[{len(NO_ORIGINS) + 1}]"] = "field.duplicate"
    assert refused(page, 400, 3) == expected
    assert await everything(server.store) == before


async def test_a_login_of_ones_own_is_refused_with_the_reason(server, register):
    before = await everything(server.store)
    elsewhere = {"loginV2": {"baseUri": "https://login.shop.example"}}
    page = await register(loginVersion=elsewhere)
    both = await register(loginVersion={"loginV1": {}, "loginV2": {}})

    assert refused(page, 400, 3) == {"loginVersion.loginV2.baseUri": "app.login_version.base_uri"}
    assert refused(both, 400, 3) == {"loginVersion.loginV2": "field.conflict"}
    assert await everything(server.store) == before


async def test_all_that_is_wrong_with_an_application_is_reported_at_once(register):
    page = await register(
        clockSkew="1h",
        groupsClaim="sub",
        backChannelLogoutUri="http://shop.example/out",
        responseTypes=["OIDC_RESPONSE_TYPE_ID_TOKEN"],
        additionalOrigins=["https://a.example/"],
    )

    assert refused(page, 400, 3) == {
        "clockSkew": "app.clock_skew",
        "groupsClaim": "app.groups_claim.taken",
        "backChannelLogoutUri": "redirect_uri.http",
        "grantTypes": "app.grant_types.implicit_missing",
        "additionalOrigins[0]": "origin.form",
    }


async def test_management_access_is_given_by_owners_of_the_instance_alone(
    server, owner, chief, apps
):
    body = {"name": "Console", "redirectUris": [URI], "managementAccess": True}
    before = await everything(server.store)
    page = await chief.post(f"{apps}/oidc", body)

    assert refused(page, 403, 7) == {"managementAccess": "permission_denied"}
    assert await everything(server.store) == before
    made = (await owner.post(f"{apps}/oidc", body)).json()
    assert (await server.store.get(APPLICATIONS, made["clientId"])).has_management_access


async def test_nobody_else_lays_hands_on_an_application_with_management_access(
    server, owner, chief, apps
):
    """Its redirect URIs, its secret and its keys are the way to an owner's tokens."""
    body = {"name": "Console", "redirectUris": [URI], "managementAccess": True}
    app = f"{apps}/{(await owner.post(f'{apps}/oidc', body)).json()['appId']}"
    key = (await owner.post(f"{app}/keys", {})).json()["keyId"]
    before = await everything(server.store)
    attempts = [
        await chief.request("PUT", f"{app}/oidc_config", {"redirectUris": ["https://e.example"]}),
        await chief.post(f"{app}/oidc_config/_generate_client_secret", {}),
        await chief.post(f"{app}/keys", {}),
        await chief.request("DELETE", f"{app}/keys/{key}", None),
    ]

    for page in attempts:
        assert refused(page, 403, 7) == {"managementAccess": "permission_denied"}
    assert await everything(server.store) == before
    assert (await chief.get(app)).status == 200
