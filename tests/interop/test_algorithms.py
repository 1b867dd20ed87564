"""Tokens by every algorithm, verified by other people's code from discovery and the key set."""

from __future__ import annotations

import json

import pytest
from joserfc import jwt as authlib_jwt
from joserfc.jwk import KeySet
from jwcrypto.jwk import JWKSet
from jwcrypto.jwt import JWT

from idp.oauth import key_rotation
from tests.support.attacks import forged

ALGORITHMS = ("RS256", "ES256", "EdDSA")


@pytest.fixture(params=ALGORITHMS)
def algorithm(request):
    return request.param


@pytest.fixture
def party(io_loop, server, algorithm):
    async def register():
        await key_rotation.ensure(server.service, algorithm, actor="a test")
        return await server.register(
            signing_algorithm=algorithm,
            access_token_type="jwt",
            post_logout_redirect_uris=[f"{server.issuer}/bye"],
        )

    return io_loop.run_sync(register)


async def key_set(visitor) -> str:
    metadata = (await visitor.get("/.well-known/openid-configuration")).json()
    return (await visitor.get(metadata["jwks_uri"])).text


def claims_by_jwcrypto(token: str, keys: str, algorithm: str) -> dict:
    read = JWT(algs=[algorithm])
    read.leeway = 20 * 365 * 24 * 3600  # the service's clock is not that of the machine
    read.deserialize(token, JWKSet.from_json(keys))
    return json.loads(read.claims)


def claims_by_authlib(token: str, keys: str, algorithm: str) -> dict:
    """joserfc is what Authlib is built on."""
    return authlib_jwt.decode(
        token, KeySet.import_key_set(json.loads(keys)), algorithms=[algorithm]
    ).claims


# RFC 9864 prefers the name Ed25519, which libraries do not know yet.
@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
@pytest.mark.parametrize("read", [claims_by_jwcrypto, claims_by_authlib])
@pytest.mark.parametrize("token", ["id_token", "access_token"])
async def test_a_token_verifies_in_other_libraries_by_the_application_s_algorithm(
    server, visitor, party, algorithm, read, token
):
    tokens = await party.tokens(visitor, *server.user)

    claims = read(tokens[token], await key_set(visitor), algorithm)
    assert forged.part(tokens[token], 0)["alg"] == algorithm
    assert claims["iss"] == server.issuer
    assert party.client_id in ([claims["aud"]] if token == "id_token" else claims["aud"])


async def test_a_token_by_any_algorithm_is_taken_back(server, visitor, party):
    tokens = await party.tokens(visitor, *server.user)

    assert (await party.userinfo(visitor, tokens["access_token"])).status == 200
    assert "code" in await party.silently(visitor, id_token_hint=tokens["id_token"])
    left = await visitor.get(party.logout_url(id_token_hint=tokens["id_token"]))
    assert (left.location or "").startswith(f"{server.issuer}/bye")


async def test_no_changed_token_by_any_algorithm_is_taken(server, visitor, party, algorithm):
    token = (await party.tokens(visitor, *server.user))["access_token"]
    for name, hostile in forged.hostile_jwts(token, b"public").items():
        refused = await party.userinfo(visitor, hostile)
        assert refused.status == 401, name
    others = [each for each in ALGORITHMS if each != algorithm]
    for other in others:
        swapped = await party.userinfo(visitor, forged.resigned(token, {"alg": other}))
        assert swapped.status == 401, other
