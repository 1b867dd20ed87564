"""Presets with the tools that they are for, configured by exactly the text that is handed out."""

from __future__ import annotations

import configparser
import warnings
from urllib.parse import parse_qs, urlsplit

import authlib.deprecate
import httpx
import pytest

from idp.clients import presets
from idp.records import APPLICATIONS, INSTANCE_ID, INSTANCES
from tests.interop.apache import Apache, NoApache, find
from tests.interop.test_authlib import NONCE, VERIFIER, discovered, verified
from tests.support import patience
from tests.support.skips import skip

with warnings.catch_warnings():  # Authlib puts its own filter before those of tox.ini
    warnings.simplefilter("ignore", authlib.deprecate.AuthlibDeprecationWarning)
    from authlib.integrations.httpx_client import AsyncOAuth2Client


async def registered(place, api, name, host, roles=("admin",)):
    """The tool, registered by its preset, with the person in roles of its project: the answer,
    and the tool's configuration."""
    project = (await api.post("/projects", json={"name": name})).raise_for_status().json()["id"]
    for key in roles:
        role = {"roleKey": key, "displayName": key}
        (await api.post(f"/projects/{project}/roles", json=role)).raise_for_status()
    instance = await place.store.get(INSTANCES, INSTANCE_ID)
    grant = {"projectId": project, "roleKeys": roles}
    (await api.post(f"/users/{instance.demo.user_id}/grants", json=grant)).raise_for_status()
    body = presets.expand(name, host) | {"name": name}
    made = (await api.post(f"/projects/{project}/apps/oidc", json=body)).raise_for_status().json()
    return made, presets.configuration(name, place.issuer, made["clientId"], host)


async def test_grafana_s_configuration_signs_people_in_with_their_roles(place, api, open_browser):
    made, text = await registered(place, api, "grafana", "grafana.example")
    file = configparser.ConfigParser(interpolation=None)
    file.read_string(text)
    told, browser = file["auth.generic_oauth"], open_browser(place)
    callback = file["server"]["root_url"] + "login/generic_oauth"
    assert told["use_pkce"] == told["use_refresh_token"] == "true"
    client = AsyncOAuth2Client(
        told["client_id"],
        made["clientSecret"],
        token_endpoint_auth_method={"InHeader": "client_secret_basic"}[told["auth_style"]],
        scope=told["scopes"],
        redirect_uri=callback,
        code_challenge_method="S256",
    )
    async with client:
        url, state = client.create_authorization_url(
            told["auth_url"], code_verifier=VERIFIER, nonce=NONCE
        )
        page = await browser.sign_in(url, *place.user)
        token = await client.fetch_token(
            told["token_url"],
            authorization_response=page.location,
            state=state,
            code_verifier=VERIFIER,
        )
        claims = await verified(await discovered(place), token["id_token"], told["client_id"])
        userinfo = (await client.get(told["api_url"])).raise_for_status().json()
        refreshed = await client.refresh_token(
            told["token_url"], refresh_token=token["refresh_token"]
        )
        again = await verified(await discovered(place), refreshed["id_token"], told["client_id"])
        out = f"{told['signout_redirect_url']}&id_token_hint={refreshed['id_token']}"
        left = await browser.get(out)

    assert page.location.startswith(callback)
    assert claims[told["groups_attribute_path"]] == again["groups"] == ["admin"]
    assert userinfo[told["email_attribute_path"]] == "dana@example.com"
    assert userinfo[told["login_attribute_path"]]
    assert left.location == "https://grafana.example/login"


async def test_flask_s_configuration_gives_it_the_claims_that_it_reads(place, api, open_browser):
    """`authorize_access_token()["userinfo"]` are the claims of the ID token."""
    made, text = await registered(place, api, "flask", "shop.example")
    browser, metadata = open_browser(place), await discovered(place)
    assert f'client_id="{made["clientId"]}"' in text
    assert f'server_metadata_url="{place.issuer}/.well-known/openid-configuration"' in text
    app = await place.store.get(APPLICATIONS, made["clientId"])
    async with AsyncOAuth2Client(
        app.id,
        made["clientSecret"],
        scope="openid profile email",
        redirect_uri=app.redirect_uris[0],
        code_challenge_method="S256",
    ) as client:
        url, state = client.create_authorization_url(
            metadata["authorization_endpoint"], code_verifier=VERIFIER, nonce=NONCE
        )
        page = await browser.sign_in(url, *place.user)
        token = await client.fetch_token(
            metadata["token_endpoint"],
            authorization_response=page.location,
            state=state,
            code_verifier=VERIFIER,
        )

    claims = await verified(metadata, token["id_token"], app.id)
    assert claims["email"] == "dana@example.com"


@pytest.fixture
def site(io_loop):
    """Apache, with a browser at it."""
    try:
        server = Apache(find())
    except NoApache as error:
        skip(error)
    http = httpx.AsyncClient(base_url=server.base, timeout=patience.SECONDS)
    yield server, http
    io_loop.run_sync(http.aclose)
    server.close()


async def test_apache_is_configured_by_the_text_as_it_is(place, api, open_browser, site):
    (server, http), browser = site, open_browser(place)
    made, text = await registered(place, api, "apache", server.base)
    server.configure(text, CLIENT_SECRET=made["clientSecret"], PASSPHRASE="only for tests")
    server.start()
    sent = await http.get("/private/page.txt")
    page = await browser.sign_in(sent.headers["Location"], *place.user)
    back = await http.get(page.location)
    seen = await http.get(back.headers["Location"])

    asked = parse_qs(urlsplit(sent.headers["Location"]).query)
    assert asked["code_challenge_method"] == ["S256"], server.log
    assert seen.text == "the private page", server.log
