"""idpyoidc's relying party, set up from nothing but discovery and a registration."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qsl, urlsplit

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptojwt.jwk.rsa import RSAKey
from idpyoidc.client.oauth2.stand_alone_client import StandAloneClient

OIDC = "idpyoidc.client.oidc"
SERVICES = {
    name: {"class": f"{OIDC}.{path}"}
    for name, path in {
        "discovery": "provider_info_discovery.ProviderInfoDiscovery",
        "registration": "registration.Registration",
        "authorization": "authorization.Authorization",
        "access_token": "access_token.AccessToken",
        "refresh_access_token": "refresh_access_token.RefreshAccessToken",
        "userinfo": "userinfo.UserInfo",
        "end_session": "end_session.EndSession",
    }.items()
}
PKCE = {
    "function": "idpyoidc.client.oauth2.add_on.pkce.add_support",
    "kwargs": {"code_challenge_length": 64, "code_challenge_method": "S256"},
}


def new_party(place, client, method, key=None) -> StandAloneClient:
    """It knows its issuer from discovery alone."""
    configuration = {
        "issuer": place.issuer,
        "base_url": place.issuer,
        "client_type": "oidc",
        "client_id": client.client_id,
        "redirect_uris": [client.redirect_uri],
        "post_logout_redirect_uris": [client.post_logout_redirect_uri],
        "response_types_supported": ["code"],
        "scopes_supported": ["openid", "profile", "email", "offline_access"],
        "token_endpoint_auth_methods_supported": [method],
        "client_authn_methods": [method],
        "add_ons": {"pkce": PKCE},
    }
    if client.client_secret:
        configuration["client_secret"] = client.client_secret
    party = StandAloneClient(services=SERVICES, config=configuration)
    if key:
        private = load_pem_private_key(key["pem"].encode(), None)
        own = RSAKey(kid=key["kid"], use="sig", alg="RS256").load_key(private)
        party.keyjar.add_keys("", [own])
    assert party.do_provider_info() == place.issuer
    party.do_client_registration()
    return party


def delivered(page) -> dict[str, str]:
    """What the party is told at its redirect URI."""
    return dict(parse_qsl(urlsplit(page.location).query))


@pytest.mark.parametrize(
    "method", ["client_secret_basic", "client_secret_post", "private_key_jwt"]
)
async def test_idpyoidc_signs_in_refreshes_and_signs_out(place, open_browser, new_key, method):
    goodbye = f"{place.issuer}/goodbye"
    client = await place.register(auth_method=method, post_logout_redirect_uris=[goodbye])
    key = await new_key(client) if method == "private_key_jwt" else None
    browser = open_browser(place)
    party = await asyncio.to_thread(new_party, place, client, method, key)
    page = await browser.sign_in(party.init_authorization(), *place.user)
    told = await asyncio.to_thread(party.finalize, delivered(page))
    renewed = await asyncio.to_thread(party.refresh_access_token, told["state"])
    again = await asyncio.to_thread(
        party.get_user_info, told["state"], access_token=renewed["access_token"]
    )
    left = await browser.get(party.logout(told["state"])["url"])

    assert told["id_token"]["sub"] == told["userinfo"]["sub"] == again["sub"]
    assert told["userinfo"]["email"] == "dana@example.com"
    assert renewed["access_token"] != told["token"]
    assert left.location.startswith(f"{goodbye}?state=")
    assert (await client.userinfo(browser, renewed["access_token"])).status == 401
