"""Authlib as an ordinary relying party, set up from nothing but discovery and a registration."""

from __future__ import annotations

import time
import warnings

import authlib.deprecate
import httpx
import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jwt
from joserfc.jwk import KeySet
from joserfc.jwt import JWTClaimsRegistry

from idp.records import APPLICATIONS
from storage import Update

with warnings.catch_warnings():  # Authlib puts its own filter before those of tox.ini
    warnings.simplefilter("ignore", authlib.deprecate.AuthlibDeprecationWarning)
    from authlib.integrations.httpx_client import AsyncOAuth2Client

VERIFIER = "authlib-verifier-" + "x" * 40
NONCE = "authlib-nonce"


async def discovered(place) -> dict:
    async with httpx.AsyncClient() as client:
        found = await client.get(f"{place.issuer}/.well-known/openid-configuration")
        metadata = found.raise_for_status().json()
    assert metadata["issuer"] == place.issuer
    return metadata


async def verified(metadata: dict, id_token: str, client_id: str) -> dict:
    """The claims of the ID token, checked by joserfc against the published keys."""
    async with httpx.AsyncClient() as client:
        keys = KeySet.import_key_set((await client.get(metadata["jwks_uri"])).json())
    token = jwt.decode(id_token, keys, algorithms=["RS256", "ES256"])
    JWTClaimsRegistry(
        now=int(time.time()),
        leeway=5,
        iss={"essential": True, "value": metadata["issuer"]},
        aud={"essential": True, "value": client_id},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    ).validate(token.claims)
    return token.claims


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
async def test_authlib_signs_in_refreshes_and_signs_out(place, open_browser, method):
    callback, goodbye = f"{place.issuer}/cb", f"{place.issuer}/goodbye"
    party = await place.register(auth_method=method, post_logout_redirect_uris=[goodbye])
    metadata, browser = await discovered(place), open_browser(place)
    assert method in metadata["token_endpoint_auth_methods_supported"]
    client = AsyncOAuth2Client(
        party.client_id,
        party.client_secret,
        token_endpoint_auth_method=method,
        scope="openid profile email offline_access",
        redirect_uri=callback,
        code_challenge_method="S256",
        token_endpoint=metadata["token_endpoint"],
    )
    async with client:
        url, state = client.create_authorization_url(
            metadata["authorization_endpoint"], code_verifier=VERIFIER, nonce=NONCE
        )
        assert create_s256_code_challenge(VERIFIER) in url
        page = await browser.sign_in(url, *place.user)
        token = await client.fetch_token(
            authorization_response=page.location, state=state, code_verifier=VERIFIER
        )
        told = await verified(metadata, token["id_token"], party.client_id)
        userinfo = (await client.get(metadata["userinfo_endpoint"])).raise_for_status().json()
        refreshed = await client.refresh_token(
            metadata["token_endpoint"], refresh_token=token["refresh_token"]
        )
        again = await verified(metadata, refreshed["id_token"], party.client_id)
        with_new = await client.get(metadata["userinfo_endpoint"])
        out = client.create_authorization_url(
            metadata["end_session_endpoint"],
            id_token_hint=refreshed["id_token"],
            post_logout_redirect_uri=goodbye,
        )[0]
        left = await browser.get(out)
        after = await client.get(metadata["userinfo_endpoint"])

    assert told["nonce"] == NONCE
    assert (userinfo["sub"], userinfo["email"]) == (told["sub"], "dana@example.com")
    assert (again["sub"], again["auth_time"]) == (told["sub"], told["auth_time"])
    assert refreshed["access_token"] != token["access_token"]
    assert refreshed["refresh_token"] != token["refresh_token"]
    assert with_new.status_code == 200
    assert left.location.startswith(goodbye)
    assert after.status_code == 401


async def test_authlib_reads_a_jwt_access_token(place, open_browser):
    party, browser = await place.register(), open_browser(place)
    change = Update(APPLICATIONS, party.client_id, set={"access_token_type": "jwt"})
    await place.store.commit(change)
    tokens = await party.tokens(browser, *place.user)
    claims = await verified(await discovered(place), tokens["access_token"], party.client_id)

    assert claims["client_id"] == party.client_id
    assert (await party.userinfo(browser, tokens["access_token"])).status == 200


async def test_authlib_learns_why_it_is_refused(place, open_browser):
    party, metadata, browser = await place.register(), await discovered(place), open_browser(place)
    async with AsyncOAuth2Client(
        party.client_id, "not-the-secret", redirect_uri=party.redirect_uri
    ) as client:
        page = await browser.sign_in(party.authorize_url(), *place.user)
        with pytest.raises(Exception, match="invalid_client"):
            await client.fetch_token(
                metadata["token_endpoint"],
                authorization_response=page.location,
                state="state-1",
            )
