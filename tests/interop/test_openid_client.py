"""openid-client (npm) as an ordinary relying party; every check that it has is switched on."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.flows.conftest import at
from tests.interop import node
from tests.interop.npm_party import Party, Refused
from tests.support.program import Program
from tests.support.skips import skip

SCOPE = "openid profile email offline_access"
SOURCE = Path(__file__).parent / "openid_client"


@pytest.fixture(scope="module")
def installed():
    """Node, and the directory with the party and its packages."""
    try:
        found = node.find()
        return found, node.install(found, SOURCE)
    except node.NoNode as error:
        skip(error)


@pytest.fixture
def party(installed):
    running = Party(*installed)
    yield running
    running.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    running = Program(tmp_path_factory.mktemp("service"), "--processes", "2").start()
    yield running
    try:
        running.stop()
    finally:
        running.kill()


@pytest.fixture
def place(io_loop, service):
    server = io_loop.run_sync(lambda: at(service))
    yield server
    io_loop.run_sync(server.store.close)


async def introduced(place, party, method="client_secret_basic", **options):
    """The party knows its issuer from discovery alone; its registration."""
    goodbye = f"{place.issuer}/goodbye"
    client = await place.register(auth_method=method, post_logout_redirect_uris=[goodbye])
    known = {"clientId": client.client_id, "clientSecret": client.client_secret}
    metadata = await party.call("discover", issuer=place.issuer, method=method, **known, **options)
    assert method in metadata["token_endpoint_auth_methods_supported"]
    return client


async def signed_in(place, party, browser, client) -> str:
    """The address to which the browser comes back."""
    url = await party.call("authorize", redirectUri=client.redirect_uri, scope=SCOPE)
    return (await browser.sign_in(url, *place.user)).location


def changed(url: str, **values: str | None) -> str:
    """The address with other parameters; those that are None left out."""
    parts = urlsplit(url)
    query = {
        name: value for name, value in (dict(parse_qsl(parts.query)) | values).items() if value
    }
    return parts._replace(query=urlencode(query)).geturl()


@pytest.mark.gen_test(timeout=60)
@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
async def test_openid_client_signs_in_refreshes_and_signs_out(place, party, open_browser, method):
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
    assert told["expiresIn"] > 0
    assert again["claims"]["sub"] == claims["sub"]
    assert renewed["refresh_token"] != tokens["refresh_token"]
    assert left.location == f"{client.post_logout_redirect_uri}?state=bye"
    with pytest.raises(Refused):
        await party.call("userinfo", accessToken=renewed["access_token"], **person)


@pytest.mark.gen_test(timeout=60)
async def test_openid_client_learns_that_nobody_is_signed_in(place, party, open_browser):
    client = await introduced(place, party)
    wanted = {"redirectUri": client.redirect_uri, "scope": SCOPE, "prompt": "none"}
    page = await open_browser(place).get(await party.call("authorize", **wanted))

    with pytest.raises(Refused) as refused:
        await party.call("callback", url=page.location)

    assert "login_required" in refused.value.reasons


@pytest.mark.gen_test(timeout=60)
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


TAMPERED = {
    "another state": {"state": "forged"},
    "no state": {"state": None},
    "another issuer": {"iss": "https://other.example.com"},
    "no issuer": {"iss": None},
}


@pytest.mark.gen_test(timeout=60)
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


@pytest.mark.gen_test(timeout=60)
async def test_openid_client_holds_the_nonce_against_the_id_token(place, party, open_browser):
    client = await introduced(place, party)
    url = await signed_in(place, party, open_browser(place), client)

    with pytest.raises(Refused) as refused:
        await party.call("callback", url=url, instead={"expectedNonce": "another"})

    assert "OAUTH_JWT_CLAIM_COMPARISON_FAILED" in refused.value.reasons


@pytest.mark.gen_test(timeout=60)
async def test_openid_client_holds_the_signature_against_the_key_set(place, party, open_browser):
    client = await introduced(place, party, forgedKeys=True)
    url = await signed_in(place, party, open_browser(place), client)

    with pytest.raises(Refused, match="signature"):
        await party.call("callback", url=url)


@pytest.mark.gen_test(timeout=60)
async def test_openid_client_is_told_why_it_is_refused(place, party, open_browser):
    client, browser = await introduced(place, party), open_browser(place)
    url = await signed_in(place, party, browser, client)
    wrong = {"pkceCodeVerifier": "x" * 43}
    with pytest.raises(Refused) as other_verifier:
        await party.call("callback", url=url, instead=wrong)
    tokens = (await party.call("callback", url=url))["tokens"]
    await party.call("refresh", refreshToken=tokens["refresh_token"])
    with pytest.raises(Refused) as spent:
        await party.call("refresh", refreshToken=tokens["refresh_token"])
    known = {"issuer": place.issuer, "clientId": client.client_id}
    await party.call("discover", method="client_secret_basic", clientSecret="wrong", **known)
    with pytest.raises(Refused) as other_secret:
        await party.call("refresh", refreshToken=tokens["refresh_token"])

    assert "invalid_grant" in other_verifier.value.reasons
    assert "invalid_grant" in spent.value.reasons
    assert other_secret.value.reasons & {"invalid_client", "OAUTH_WWW_AUTHENTICATE_CHALLENGE"}
