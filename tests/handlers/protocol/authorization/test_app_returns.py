"""An app on people's own machines confirms its returns, and PKCE by application (RFC 8252 8.6)."""

from __future__ import annotations

import pytest

from idp.records import APPLICATIONS, CONSENTS
from tests.support.management.managing import PATH
from tests.support.store.both_stores import on_both_stores, store_settings
from tests.support.store.stored import everything

NATIVE = {
    "appType": "OIDC_APP_TYPE_NATIVE",
    "authMethodType": "OIDC_AUTH_METHOD_TYPE_NONE",
    "redirectUris": ["example.app:/cb"],
}
KINDS = {
    "native without a secret": NATIVE,
    "native with a secret": NATIVE | {"authMethodType": "OIDC_AUTH_METHOD_TYPE_BASIC"},
    "single page": NATIVE
    | {"appType": "OIDC_APP_TYPE_USER_AGENT", "redirectUris": ["https://app.example/cb"]},
}


@pytest.fixture
def settings(request, tmp_path):
    """A profile with a store in memory, or a store of this kind with the profile `trial`."""
    kind = getattr(request, "param", "trial")
    if kind in ("trial", "public"):
        yield {"profile": kind}
    else:
        yield from store_settings(request, kind, tmp_path)


async def made(server, owner, **body):
    project = (await owner.post(PATH, {"name": "Shop"})).json()["id"]
    page = await owner.post(f"{PATH}/{project}/apps/oidc", {"name": "App", **body})
    assert page.status == 200, page.text
    client = await server.store.get(APPLICATIONS, page.json()["clientId"])
    return client, f"{PATH}/{project}/apps/{client.id}"


@pytest.mark.promise("security: confirmReturn")
@pytest.mark.parametrize("settings", ["trial", "public"], indirect=True)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("said", [None, True, False])
async def test_a_new_native_app_without_a_secret_confirms_by_the_profile(
    server, owner, settings, kind, said
):
    body = KINDS[kind] | ({} if said is None else {"confirmReturn": said})
    client, address = await made(server, owner, **body)
    usual = settings["profile"] == "public" and kind == "native without a secret"
    told = (await owner.get(address)).json()["app"]["oidcConfig"].get("confirmReturn", False)

    assert client.confirms_return == told == (usual if said is None else said)


@pytest.mark.parametrize("stored", [True, False])
async def test_a_change_that_does_not_say_it_leaves_the_confirmation_as_it_is(
    server, owner, stored
):
    client, address = await made(server, owner, **NATIVE, confirmReturn=stored)
    await owner.request("PUT", f"{address}/oidc_config", NATIVE)
    kept = (await server.store.get(APPLICATIONS, client.id)).confirms_return
    await owner.request("PUT", f"{address}/oidc_config", {"redirectUris": ["https://a.example"]})
    of_web = (await server.store.get(APPLICATIONS, client.id)).confirms_return

    assert (kept, of_web) == (stored, False)


@pytest.mark.promise("security: requirePkce")
@pytest.mark.parametrize("said", [None, True, False])
async def test_pkce_is_required_where_the_application_says_so_and_omitted_is_no(
    server, owner, said
):
    client, address = await made(server, owner, **({} if said is None else {"requirePkce": said}))
    told = (await owner.get(address)).json()["app"]["oidcConfig"].get("requirePkce", False)

    assert client.requires_pkce == told == bool(said)
    assert client.refresh_token_reuse_seconds == 60


@pytest.fixture
def app(server):
    """Registers a native app without a secret, which confirms its returns but for what changes."""

    async def make(**changes):
        values = {
            "app_type": "native",
            "auth_method": "none",
            "confirms_return": True,
            "redirect_uris": ["example.app:/cb"],
        }
        return await server.register("Notes", **(values | changes))

    return make


@pytest.fixture
def signed_in(io_loop, server, visitor, demo):
    io_loop.run_sync(lambda: demo.tokens(visitor, *server.user))
    server.clock.advance(60)
    return visitor


@pytest.mark.full
@pytest.mark.promise("security: confirmReturn")
@on_both_stores
@pytest.mark.parametrize(
    "uri", ["example.app:/cb", "http://127.0.0.1/cb", "http://localhost:7/cb"]
)
async def test_a_return_to_a_native_app_is_confirmed_in_each_silent_sign_in(
    server, signed_in, app, uri
):
    party = await app(redirect_uris=[uri])
    for _ in range(2):
        page = await signed_in.open(party.authorize_url())
        assert page.name == "consent", page.text
        done = await signed_in.submit(page, decision="allow")
        assert "code" in done.answer
        assert done.location.startswith(uri)

    assert [one async for one in server.store.scan(CONSENTS)] == []


async def test_who_does_not_confirm_is_not_sent_back_with_a_code(signed_in, app):
    page = await signed_in.open((await app()).authorize_url())
    done = await signed_in.submit(page, decision="deny")

    assert done.answer["error"] == "access_denied"


@pytest.mark.promise("security: confirmReturn")
async def test_without_a_page_a_return_that_has_to_be_confirmed_needs_interaction(
    server, signed_in, app
):
    party = await app()
    page = await signed_in.open(party.authorize_url())
    await signed_in.submit(page, decision="allow")
    before = await everything(server.store)
    answer = await party.silently(signed_in)
    after = await everything(server.store)

    assert answer["error"] == "interaction_required"
    assert after["authorizations"] == before["authorizations"]


@pytest.mark.full
@pytest.mark.promise("security: confirmReturn")
async def test_a_user_who_gave_a_credential_in_this_sign_in_need_not_confirm(
    server, visitor, signed_in, new_visitor, app
):
    party = await app()
    first = await new_visitor().sign_in(party.authorize_url(), *server.user)
    again = await party.sign_in(signed_in, *server.user, prompt="login")

    assert "code" in first.answer
    assert "code" in again.answer


@pytest.mark.parametrize(
    "changes",
    [
        {"confirms_return": False},
        {"redirect_uris": ["https://app.example/cb"]},
        {"auth_method": "client_secret_basic"},
        {"app_type": "user_agent"},
    ],
    ids=["does not say so", "an address of the web", "with a secret", "a single page"],
)
async def test_other_returns_are_not_confirmed(signed_in, app, changes):
    party = await app(**changes)

    assert "code" in (await signed_in.get(party.authorize_url())).answer
    assert "code" in await party.silently(signed_in)


async def test_an_app_of_others_asks_what_is_new_and_confirms_the_rest(signed_in, app):
    party = await app(is_third_party=True)
    page = await signed_in.open(party.authorize_url(scope="openid"))
    assert "code" in (await signed_in.submit(page, decision="allow")).answer
    again = await signed_in.open(party.authorize_url(scope="openid"))

    assert again.name == "consent"
    assert "code" in (await signed_in.submit(again, decision="allow")).answer


NO_CHALLENGE = {"code_challenge": None, "code_challenge_method": None}


@pytest.mark.promise("security: requirePkce")
@on_both_stores
@pytest.mark.parametrize("prompt", [None, "none"])
async def test_a_client_with_a_secret_that_requires_pkce_is_refused_without(
    server, signed_in, prompt
):
    client = await server.register("Wiki", requires_pkce=True)
    before = await everything(server.store)
    page = await signed_in.get(client.authorize_url(prompt=prompt, **NO_CHALLENGE))
    after = await everything(server.store)
    usual = await (await server.register("Old")).silently(signed_in, **NO_CHALLENGE)

    assert page.answer["error"] == "invalid_request"
    assert "code_challenge" in page.answer["error_description"]
    assert after["authorizations"] == before["authorizations"]
    assert "code" in await client.silently(signed_in)
    assert "code" in usual


async def test_pkce_is_not_asked_of_an_answer_without_a_code(server, signed_in):
    client = await server.register(
        "Wiki", requires_pkce=True, response_types=["id_token"], grant_types=["implicit"]
    )
    answer = await client.silently(signed_in, response_type="id_token", **NO_CHALLENGE)

    assert "id_token" in answer
