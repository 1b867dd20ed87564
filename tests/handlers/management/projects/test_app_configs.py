"""Changing an application over HTTP: its configuration, its kind of proof, its secret."""

from __future__ import annotations

import pytest
from msgspec.structs import fields

from idp.foundation import opaque_tokens
from idp.management.projects.oidc_request import OidcSettings
from idp.management.projects.read_app import OidcConfig
from idp.records import APPLICATIONS
from idp.schema.reading import declared
from storage import Update
from tests.support.management.api_samples import FULL_SETTINGS
from tests.support.management.callers import refused
from tests.support.protocol.relying_party import RelyingParty
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

PATH = "/management/v1/projects"
CALLBACK = "http://localhost:3000/cb"
REFRESHING = ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_REFRESH_TOKEN"]
PLAIN = {"redirectUris": [CALLBACK], "grantTypes": REFRESHING}
KEY_METHOD = "OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT"


@pytest.fixture
def apps(io_loop, owner) -> str:
    """The address of a project's applications."""

    async def make():
        return f"{PATH}/{(await owner.post(PATH, {'name': 'Shop'})).json()['id']}/apps"

    return io_loop.run_sync(make)


@pytest.fixture
def made(io_loop, owner, apps) -> dict:
    """What was answered about an application that people sign in to."""
    page = io_loop.run_sync(lambda: owner.post(f"{apps}/oidc", {"name": "Web shop", **PLAIN}))
    return page.json()


@pytest.fixture
def api(io_loop, owner, apps) -> dict:
    """What was answered about an API application."""
    return io_loop.run_sync(lambda: owner.post(f"{apps}/api", {"name": "Stock"})).json()


@pytest.fixture
def party(server, made) -> RelyingParty:
    return RelyingParty(server.issuer, made["clientId"], made["clientSecret"], CALLBACK)


@pytest.fixture
def app(apps, made) -> str:
    """The address of that application."""
    return f"{apps}/{made['appId']}"


def configure(owner, app, **settings):
    return owner.request("PUT", f"{app}/oidc_config", PLAIN | settings)


async def test_a_configuration_is_replaced_as_a_whole(server, owner, app, made):
    full = await owner.request("PUT", f"{app}/oidc_config", FULL_SETTINGS)
    assert full.status == 200, full.text
    shown = (await owner.get(app)).json()["app"]["oidcConfig"]
    left_out = ("skipNativeAppSuccessPage", "loginVersion")
    kept = {k: v for k, v in FULL_SETTINGS.items() if v and k not in left_out}
    assert kept.items() <= shown.items()

    bare = await owner.request("PUT", f"{app}/oidc_config", {})

    assert bare.json()["details"]["sequence"] == "3"
    shown = (await owner.get(app)).json()["app"]
    assert shown["name"] == "Web shop"
    (problem,) = shown["oidcConfig"].pop("complianceProblems")
    assert problem["key"] == "app.redirect_uris.missing"
    assert shown["oidcConfig"] == {
        "clientId": made["clientId"],
        "responseTypes": ["OIDC_RESPONSE_TYPE_CODE"],
        "grantTypes": ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"],
        "appType": "OIDC_APP_TYPE_WEB",
        "authMethodType": "OIDC_AUTH_METHOD_TYPE_BASIC",
        "version": "OIDC_VERSION_1_0",
        "noneCompliant": True,
        "accessTokenType": "OIDC_TOKEN_TYPE_BEARER",
        "idTokenSignedResponseAlg": "RS256",
        "allowedUsers": "OIDC_ALLOWED_USERS_GRANTED",
        "refreshTokenReuseSeconds": 60,
    }
    await events_agree(server.store)


ADDED = {"clientId", "noneCompliant", "complianceProblems"}
NOT_KEPT = {"skipNativeAppSuccessPage", "loginVersion"}


def test_every_setting_that_is_taken_is_shown():
    taken = {one.wire_name for one in declared(OidcSettings)}

    assert taken - NOT_KEPT == {one.encode_name for one in fields(OidcConfig)} - ADDED


@pytest.mark.parametrize(
    "wanted",
    [
        FULL_SETTINGS,
        {},
        {"grantTypes": ["OIDC_GRANT_TYPE_DEVICE_CODE"], "appType": "OIDC_APP_TYPE_NATIVE"},
        {
            "grantTypes": ["OIDC_GRANT_TYPE_IMPLICIT"],
            "responseTypes": ["OIDC_RESPONSE_TYPE_ID_TOKEN"],
            "authMethodType": "OIDC_AUTH_METHOD_TYPE_NONE",
        },
        {"managementAccess": True, "clockSkew": "2s"},
    ],
)
async def test_a_configuration_that_is_put_back_as_it_was_shown_changes_nothing(
    server, owner, app, wanted
):
    await owner.request("PUT", f"{app}/oidc_config", wanted)
    shown = (await owner.get(app)).json()["app"]["oidcConfig"]
    before = await everything(server.store)
    again = {name: value for name, value in shown.items() if name not in ADDED}
    page = await owner.request("PUT", f"{app}/oidc_config", again)

    assert page.status == 200, page.text
    assert await everything(server.store) == before


async def test_what_changes_nothing_is_no_change(server, owner, app):
    before = await everything(server.store)
    page = await configure(owner, app)

    assert page.json()["details"]["sequence"] == "1"
    assert await everything(server.store) == before


async def test_tokens_live_on_under_another_configuration(server, new_visitor, owner, app, party):
    browser = new_visitor()
    tokens = await party.tokens(browser, *server.user)
    await configure(
        owner, app, redirectUris=["https://shop.example/cb"], idTokenUserinfoAssertion=True
    )

    assert (await party.userinfo(browser, tokens["access_token"])).status == 200
    assert (await party.refresh(browser, tokens["refresh_token"])).status == 200


async def test_a_grant_that_was_taken_away_is_refused_from_then_on(
    server, new_visitor, owner, app, party
):
    browser = new_visitor()
    tokens = await party.tokens(browser, *server.user)
    await configure(owner, app, grantTypes=REFRESHING[:1])

    page = await party.refresh(browser, tokens["refresh_token"])
    assert (page.status, page.json()["error"]) == (400, "unauthorized_client")


async def test_all_tokens_end_with_management_access(server, new_visitor, owner, app, party):
    await configure(owner, app, managementAccess=True)
    browser = new_visitor()
    tokens = await party.tokens(browser, *server.user)
    await configure(owner, app, managementAccess=True, devMode=True)
    assert (await party.userinfo(browser, tokens["access_token"])).status == 200

    await configure(owner, app)

    assert (await party.userinfo(browser, tokens["access_token"])).status == 401
    page = await party.refresh(browser, tokens["refresh_token"])
    assert (page.status, page.json()["error"]) == (400, "invalid_grant")


@pytest.mark.parametrize("method", [KEY_METHOD, "OIDC_AUTH_METHOD_TYPE_NONE"])
async def test_an_application_that_needs_no_secret_any_more_loses_it_and_gets_another_when_needed(
    server, owner, app, made, method
):
    without = await configure(owner, app, authMethodType=method)
    client = await server.store.get(APPLICATIONS, made["clientId"])
    assert client.secret_hash is None
    assert "clientSecret" not in without.json()

    again = (await configure(owner, app)).json()

    client = await server.store.get(APPLICATIONS, made["clientId"])
    assert opaque_tokens.matches(again["clientSecret"], client.secret_hash)
    assert not opaque_tokens.matches(made["clientSecret"], client.secret_hash)
    assert again["clientSecret"] not in str(await everything(server.store))


async def test_basic_and_post_have_the_same_secret(server, owner, app, made):
    page = await configure(owner, app, authMethodType="OIDC_AUTH_METHOD_TYPE_POST")

    client = await server.store.get(APPLICATIONS, made["clientId"])
    assert "clientSecret" not in page.json()
    assert opaque_tokens.matches(made["clientSecret"], client.secret_hash)


async def test_a_new_secret_replaces_the_old_one_at_once(server, new_visitor, owner, app, party):
    browser = new_visitor()
    tokens = await party.tokens(browser, *server.user)
    generated = await owner.post(f"{app}/oidc_config/_generate_client_secret", {})

    old = await party.refresh(browser, tokens["refresh_token"])
    assert (old.status, old.json()["error"]) == (401, "invalid_client")
    party.client_secret = generated.json()["clientSecret"]
    assert (await party.refresh(browser, tokens["refresh_token"])).status == 200
    assert generated.json()["details"]["sequence"] == "2"
    await events_agree(server.store)


@pytest.mark.parametrize("method", [KEY_METHOD, "OIDC_AUTH_METHOD_TYPE_NONE"])
async def test_an_application_without_a_secret_gets_none(server, owner, app, method):
    await configure(owner, app, authMethodType=method)
    before = await everything(server.store)
    page = await owner.post(f"{app}/oidc_config/_generate_client_secret", {})

    assert refused(page, 400, 9) == {"": "app.no_secret"}
    assert await everything(server.store) == before


async def test_an_api_application_introspects_and_does_nothing_else(
    server, owner, visitor, apps, api
):
    client = await server.store.get(APPLICATIONS, api["clientId"])
    assert (client.app_type, client.grant_types, client.response_types) == ("api", [], [])
    shown = (await owner.get(f"{apps}/{api['appId']}")).json()["app"]
    assert shown["apiConfig"] == {
        "clientId": api["clientId"],
        "authMethodType": "API_AUTH_METHOD_TYPE_BASIC",
    }
    assert "oidcConfig" not in shown

    party = RelyingParty(server.issuer, api["clientId"], api["clientSecret"], "")
    told = await visitor.post("/oauth/v2/introspect", {"token": "x"}, headers=party.basic())
    assert (told.status, told.json()) == (200, {"active": False})
    page = await party.token(visitor, {"grant_type": "client_credentials"})
    assert page.json()["error"] == "unauthorized_client"


async def test_an_api_application_changes_to_a_key_and_back(server, owner, apps, api):
    app = f"{apps}/{api['appId']}"
    by_key = {"authMethodType": "API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT"}
    page = await owner.request("PUT", f"{app}/api_config", by_key)

    assert "clientSecret" not in page.json()
    assert (await server.store.get(APPLICATIONS, api["clientId"])).secret_hash is None
    back = (await owner.request("PUT", f"{app}/api_config", {})).json()
    assert back["clientSecret"]
    generated = await owner.post(f"{app}/api_config/_generate_client_secret", {})
    assert generated.json()["clientSecret"] != back["clientSecret"]
    await events_agree(server.store)


async def test_a_configuration_is_of_the_application_s_own_kind(server, owner, apps, app, api):
    before = await everything(server.store)
    oidc = await owner.request("PUT", f"{apps}/{api['appId']}/oidc_config", {})
    other = await owner.request("PUT", f"{app}/api_config", {})

    assert refused(oidc, 400, 9) == {"": "app.not_oidc"}
    assert refused(other, 400, 9) == {"": "app.not_api"}
    assert await everything(server.store) == before


async def test_an_algorithm_has_keys_once_an_application_wants_it(visitor, owner, app):
    async def published():
        return {key["alg"] for key in (await visitor.get("/oauth/v2/keys")).json()["keys"]}

    assert await published() == {"RS256"}
    await configure(owner, app, idTokenSignedResponseAlg="EdDSA")
    assert await published() == {"RS256", "EdDSA"}


async def test_who_is_overtaken_looks_again(server, owner, app, made, monkeypatch):
    """A change that lands between the look and the write is neither lost nor an error."""
    commit, met = server.store.commit, []

    async def overtaken(*writes):
        if not met:
            met.append(True)
            step = Update(
                APPLICATIONS, made["clientId"], set={"name": "Renamed"}, increment={"sequence": 1}
            )
            await commit(step)
        await commit(*writes)

    monkeypatch.setattr(server.store, "commit", overtaken)
    page = await configure(owner, app, groupsClaim="groups")

    client = await server.store.get(APPLICATIONS, made["clientId"])
    assert page.json()["details"]["sequence"] == "3"
    assert (client.name, client.groups_claim, client.sequence) == ("Renamed", "groups", 3)


async def test_an_application_is_for_everybody_by_default(server, owner, app):
    shown = (await owner.get(app)).json()["app"]["oidcConfig"]

    assert shown["allowedUsers"] == "OIDC_ALLOWED_USERS_EVERYBODY"
    wrong = await owner.request("PUT", f"{app}/oidc_config", {"allowedUsers": "EVERYBODY"})
    assert refused(wrong, 400, 3) == {"allowedUsers": "field.unknown_name"}


@pytest.mark.promise("application users: proposed")
@pytest.mark.parametrize("stored", ["EVERYBODY", "OWN_ORGANIZATION", "GRANTED"])
async def test_a_replacement_that_does_not_say_who_may_use_it_never_opens_it(
    server, owner, app, stored
):
    said = f"OIDC_ALLOWED_USERS_{stored}"
    await owner.request("PUT", f"{app}/oidc_config", {"allowedUsers": said})

    page = await owner.request("PUT", f"{app}/oidc_config", {"clockSkew": "1s"})

    assert page.status == 200, page.text
    assert (await owner.get(app)).json()["app"]["oidcConfig"]["allowedUsers"] == said


async def test_a_project_keeps_its_checks_until_they_are_switched_off(server, owner):
    body = {"name": "P", "hasProjectCheck": True, "projectRoleCheck": True}
    path = f"{PATH}/{(await owner.post(PATH, body)).json()['id']}"

    renamed = await owner.request("PUT", path, {"name": "Q"})

    assert renamed.status == 200
    shown = (await owner.get(path)).json()["project"]
    assert (shown["hasProjectCheck"], shown["projectRoleCheck"]) == (True, True)
    await owner.request("PUT", path, {"name": "Q", "hasProjectCheck": False})
    shown = (await owner.get(path)).json()["project"]
    assert (shown.get("hasProjectCheck", False), shown["projectRoleCheck"]) == (False, True)
