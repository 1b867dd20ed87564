"""Authlib with keys instead of secrets: an application's, and a service user's (RFC 7523)."""

from __future__ import annotations

import base64
import json
import warnings

import authlib.deprecate
from joserfc.jwk import RSAKey

with warnings.catch_warnings():  # Authlib puts its own filter before those of tox.ini
    warnings.simplefilter("ignore", authlib.deprecate.AuthlibDeprecationWarning)
    from authlib.integrations.httpx_client import AsyncAssertionClient, AsyncOAuth2Client
    from authlib.oauth2.rfc7523 import PrivateKeyJWT

BY_ITSELF = {"auth_method": "private_key_jwt", "grant_types": ["client_credentials"]}


async def test_authlib_gets_checks_and_revokes_a_token_by_its_key(place, new_key):
    party = await place.register(**BY_ITSELF)
    key, token_endpoint = await new_key(party), f"{place.issuer}/oauth/v2/token"
    endpoints = ("token_endpoint_auth_method", "revocation_endpoint_auth_method")
    method = dict.fromkeys(endpoints, "private_key_jwt") | {"token_endpoint": token_endpoint}
    async with AsyncOAuth2Client(party.client_id, key["pem"], scope="openid", **method) as client:
        by_key = PrivateKeyJWT(token_endpoint, headers={"kid": key["kid"]})
        client.register_client_auth_method(by_key)
        got = await client.fetch_token(grant_type="client_credentials")
        told = []
        for _ in range(2):
            answer = await client.introspect_token(
                f"{place.issuer}/oauth/v2/introspect", got["access_token"]
            )
            told.append(answer.raise_for_status().json())
            gone = await client.revoke_token(
                f"{place.issuer}/oauth/v2/revoke", got["access_token"]
            )
            assert gone.status_code == 200, gone.text

    assert (told[0]["active"], told[0]["client_id"]) == (True, party.client_id)
    assert told[1] == {"active": False}


async def test_authlib_asks_as_a_service_user(place, api):
    name = f"script-{place.service.random.id()}"
    made = await api.post("/users/machine", json={"userName": name, "name": "Script"})
    user_id = made.raise_for_status().json()["userId"]
    key = await api.post(f"/users/{user_id}/keys", json={"type": "KEY_TYPE_JSON"})
    file = json.loads(base64.b64decode(key.raise_for_status().json()["keyDetails"]))
    signed = {
        "key": RSAKey.import_key(file["key"]),
        "header": {"alg": "RS256", "kid": file["keyId"]},
    }
    async with AsyncAssertionClient(
        f"{place.issuer}/oauth/v2/token",
        issuer=file["userId"],
        subject=file["userId"],
        audience=place.issuer,
        scope="openid profile",
        **signed,
    ) as client:
        told = (await client.get(f"{place.issuer}/oidc/v1/userinfo")).raise_for_status().json()

    assert (told["sub"], told["name"]) == (user_id, "Script")
