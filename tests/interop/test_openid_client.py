"""openid-client (npm) with every check that it has: what it finds, and what it is told."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.interop.npm_party import SCOPE, Party, Refused, introduced, meet, signed_in


@pytest.fixture
def party(npm):
    running = Party(*npm, "openid_client.js")
    yield running
    running.close()


def changed(url: str, **values: str | None) -> str:
    """The address with other parameters; those that are None left out."""
    parts = urlsplit(url)
    query = {
        name: value for name, value in (dict(parse_qsl(parts.query)) | values).items() if value
    }
    return parts._replace(query=urlencode(query)).geturl()


async def test_openid_client_learns_that_nobody_is_signed_in(place, party, open_browser):
    client = await introduced(place, party)
    wanted = {"redirectUri": client.redirect_uri, "scope": SCOPE, "prompt": "none"}
    page = await open_browser(place).get(await party.call("authorize", **wanted))

    with pytest.raises(Refused) as refused:
        await party.call("callback", url=page.location)

    assert "login_required" in refused.value.reasons


async def test_openid_client_gets_in_silently_once_somebody_is_signed_in(
    place, party, open_browser
):
    browser, client = open_browser(place), await introduced(place, party)
    first = await party.call("callback", url=await signed_in(place, party, browser, client))
    wanted = {"redirectUri": client.redirect_uri, "scope": "openid", "prompt": "none"}
    hint = {"id_token_hint": first["tokens"]["id_token"]}
    page = await browser.get(await party.call("authorize", **wanted, **hint))
    second = await party.call("callback", url=page.location)

    assert second["claims"]["sub"] == first["claims"]["sub"]
    assert "refresh_token" not in second["tokens"]


async def test_openid_client_reads_an_answer_that_the_browser_posts(place, party, open_browser):
    client = await introduced(place, party)
    wanted = {"redirectUri": client.redirect_uri, "scope": SCOPE, "response_mode": "form_post"}
    url = await party.call("authorize", **wanted)
    page = await open_browser(place).sign_in(url, *place.user)
    told = await party.call("posted", url=client.redirect_uri, form=page.hidden)

    assert set(page.hidden) == {"code", "state", "iss"}
    assert told["claims"]["aud"] == client.client_id


async def test_openid_client_gets_an_id_token_at_once(place, party, open_browser):
    implicit = {"response_types": ["id_token"], "grant_types": ["implicit"]}
    client = await introduced(place, party, **implicit)
    wanted = {"redirectUri": client.redirect_uri, "scope": SCOPE, "response_type": "id_token"}
    url = await party.call("authorize", **wanted)
    page = await open_browser(place).sign_in(url, *place.user)
    claims = await party.call("implicit", url=page.location)

    assert (claims["iss"], claims["aud"]) == (place.issuer, client.client_id)
    assert claims["email"] == "dana@example.com"


TAMPERED = {
    "another state": {"state": "forged"},
    "no state": {"state": None},
    "another issuer": {"iss": "https://other.example.com"},
    "no issuer": {"iss": None},
}


@pytest.mark.parametrize("tampered", TAMPERED.values(), ids=TAMPERED)
async def test_openid_client_finds_what_was_changed_on_the_way(
    place, party, open_browser, tampered
):
    client = await introduced(place, party)
    url = await signed_in(place, party, open_browser(place), client)

    with pytest.raises(Refused) as refused:
        await party.call("callback", url=changed(url, **tampered))

    assert refused.value.reasons & {"OAUTH_INVALID_RESPONSE", "ERR_INVALID_ARG_VALUE"}
    assert (await party.call("callback", url=url))["tokens"], "and nothing was spent"


async def test_openid_client_holds_the_nonce_against_the_id_token(place, party, open_browser):
    client = await introduced(place, party)
    url = await signed_in(place, party, open_browser(place), client)

    with pytest.raises(Refused) as refused:
        await party.call("callback", url=url, instead={"expectedNonce": "another"})

    assert "OAUTH_JWT_CLAIM_COMPARISON_FAILED" in refused.value.reasons


async def test_openid_client_holds_the_signature_against_the_key_set(place, party, open_browser):
    client = await introduced(place, party)
    await meet(place, party, client, forgedKeys=True)
    url = await signed_in(place, party, open_browser(place), client)

    with pytest.raises(Refused, match="signature"):
        await party.call("callback", url=url)


async def test_openid_client_learns_why_it_is_refused(place, party, open_browser):
    client, browser = await introduced(place, party), open_browser(place)
    url = await signed_in(place, party, browser, client)
    wrong = {"pkceCodeVerifier": "x" * 43}
    with pytest.raises(Refused) as other_verifier:
        await party.call("callback", url=url, instead=wrong)
    tokens = (await party.call("callback", url=url))["tokens"]
    await party.call("refresh", refreshToken=tokens["refresh_token"])
    with pytest.raises(Refused) as spent:
        await party.call("refresh", refreshToken=tokens["refresh_token"])
    client.client_secret = "wrong"
    await meet(place, party, client)
    with pytest.raises(Refused) as other_secret:
        await party.call("refresh", refreshToken=tokens["refresh_token"])

    assert "invalid_grant" in other_verifier.value.reasons
    assert "invalid_grant" in spent.value.reasons
    assert other_secret.value.reasons & {"invalid_client", "OAUTH_WWW_AUTHENTICATE_CHALLENGE"}
