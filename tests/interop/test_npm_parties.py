"""openid-client and oauth4webapi (npm) as ordinary relying parties: the same for both."""

from __future__ import annotations

import pytest

from tests.interop.npm_party import Party, Refused, introduced, signed_in


@pytest.fixture(params=["openid_client", "oauth4webapi"])
def party(npm, request):
    running = Party(*npm, f"{request.param}.js")
    yield running
    running.close()


@pytest.mark.gen_test(timeout=60)
@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
async def test_it_signs_in_refreshes_and_signs_out(place, party, open_browser, method):
    browser, client = open_browser(place), await introduced(place, party, method)
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
