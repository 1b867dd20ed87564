"""openid-client and oauth4webapi (npm) as ordinary relying parties: the same for both."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.interop.npm_party import SCOPE, Party, Refused, introduced, signed_in

SECRETS = ["client_secret_basic", "client_secret_post"]
DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
BY_ITSELF = {"grant_types": ["authorization_code", "client_credentials"]}


@pytest.fixture(params=["openid_client", "oauth4webapi"])
def party(npm, request):
    running = Party(*npm, f"{request.param}.js")
    yield running
    running.close()


@pytest.mark.parametrize("method", [*SECRETS, "none", "private_key_jwt"])
async def test_it_signs_in_refreshes_and_signs_out(place, party, open_browser, new_key, method):
    keys = new_key if method == "private_key_jwt" else None
    browser, client = open_browser(place), await introduced(place, party, method, keys)
    told = await party.call("callback", url=await signed_in(place, party, browser, client))
    tokens, claims = told["tokens"], told["claims"]
    person = {"subject": claims["sub"]}
    userinfo = await party.call("userinfo", accessToken=tokens["access_token"], **person)
    again = await party.call("refresh", refreshToken=tokens["refresh_token"])
    renewed = again["tokens"]
    await party.call("userinfo", accessToken=renewed["access_token"], **person)
    goodbye = {"post_logout_redirect_uri": client.post_logout_redirect_uri, "state": "bye"}
    out = await party.call("endSession", id_token_hint=renewed["id_token"], **goodbye)
    left = await browser.get(out)

    assert (claims["iss"], claims["aud"]) == (place.issuer, client.client_id)
    assert userinfo["email"] == "dana@example.com"
    assert tokens["expires_in"] > 0
    assert again["claims"]["sub"] == claims["sub"]
    assert renewed["refresh_token"] != tokens["refresh_token"]
    assert left.location == f"{client.post_logout_redirect_uri}?state=bye"
    with pytest.raises(Refused):
        await party.call("userinfo", accessToken=renewed["access_token"], **person)


@pytest.mark.parametrize("method", ["client_secret_basic", "private_key_jwt"])
async def test_it_learns_what_a_token_is_worth_and_revokes_it(
    place, party, open_browser, new_key, method
):
    keys = new_key if method == "private_key_jwt" else None
    client = await introduced(place, party, method, keys)
    told = await party.call(
        "callback", url=await signed_in(place, party, open_browser(place), client)
    )
    token = told["tokens"]["access_token"]
    alive = await party.call("introspect", token=token)
    await party.call("revoke", token=token)
    revoked = await party.call("introspect", token=token)
    await party.call("revoke", token=told["tokens"]["refresh_token"])
    with pytest.raises(Refused) as refused:
        await party.call("refresh", refreshToken=told["tokens"]["refresh_token"])

    assert (alive["active"], alive["sub"]) == (True, told["claims"]["sub"])
    assert (alive["client_id"], alive["iss"]) == (client.client_id, place.issuer)
    assert revoked == {"active": False}
    assert "invalid_grant" in refused.value.reasons


@pytest.mark.parametrize("method", [*SECRETS, "private_key_jwt"])
async def test_it_gets_a_token_for_itself(place, party, new_key, method):
    keys = new_key if method == "private_key_jwt" else None
    client = await introduced(place, party, method, keys, **BY_ITSELF)
    got = await party.call("clientCredentials", scope="openid")

    assert got["token_type"].lower() == "bearer"
    assert got["expires_in"] > 0
    assert "refresh_token" not in got
    if method != "client_secret_post":  # which introspection does not take
        told = await party.call("introspect", token=got["access_token"])
        assert (told["active"], told["client_id"]) == (True, client.client_id)


async def test_it_pushes_its_request(place, party, open_browser):
    browser = open_browser(place)
    client = await introduced(place, party, requires_pushed_requests=True)
    refused = await browser.open(client.authorize_url())
    url = await party.call("push", redirectUri=client.redirect_uri, scope=SCOPE)
    page = await browser.sign_in(url, *place.user)
    told = await party.call("callback", url=page.location)

    assert refused.answer["error"] == "invalid_request"
    assert set(dict(parse_qsl(urlsplit(url).query))) == {"client_id", "request_uri"}
    assert told["claims"]["aud"] == client.client_id
    assert told["tokens"]["refresh_token"]


@pytest.mark.parametrize("party", ["oauth4webapi"], indirect=True)
async def test_a_resource_server_reads_a_jwt_access_token(place, party, open_browser):
    client = await introduced(place, party, access_token_type="jwt")
    told = await party.call(
        "callback", url=await signed_in(place, party, open_browser(place), client)
    )
    token = {"accessToken": told["tokens"]["access_token"]}
    claims = await party.call("resource", audience=client.client_id, **token)
    with pytest.raises(Refused, match="aud"):
        await party.call("resource", audience="somebody-else", **token)

    assert (claims["sub"], claims["client_id"]) == (told["claims"]["sub"], client.client_id)
    assert "email" in claims["scope"].split()


async def test_it_signs_in_where_there_is_no_browser(place, party, open_browser):
    await introduced(place, party, "none", grant_types=[DEVICE_CODE, "refresh_token"])
    started, browser = await party.call("startDevice", scope=SCOPE), open_browser(place)
    page = await browser.open(started["verification_uri"])
    page = await browser.submit(page, userCode=started["user_code"])
    page = await browser.submit(page, loginName=place.user[0])
    page = await browser.submit(page, password=place.user[1])
    confirmed = await browser.submit(page, decision="allow")
    told = await party.call("pollDevice", deviceCode=started["device_code"])
    tokens = told["tokens"]
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    userinfo = await browser.get("/oidc/v1/userinfo", headers=bearer)
    again = await party.call("refresh", refreshToken=tokens["refresh_token"])

    assert (page.name, confirmed.name) == ("device-confirm", "signed-in")
    assert again["claims"]["sub"] == userinfo.json()["sub"]
