"""Access tokens, JWT and opaque: exact claims, what can be read, and no forgery."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest
from jwcrypto.jwk import JWK, JWKSet
from jwcrypto.jws import JWS
from jwcrypto.jwt import JWT
from msgspec import structs

from idp.keys import jws
from idp.oauth.tokens import access_tokens
from idp.records import APPLICATIONS
from tests.support.attacks import forged
from tests.support.attacks.forged import part
from tests.support.service import shared_key

USERINFO = "/oidc/v1/userinfo"


@pytest.fixture
def issued(io_loop, server, visitor, demo, jwt_client) -> dict[str, str]:
    """An access token of each kind, of one session."""

    async def issue() -> dict[str, str]:
        first = await jwt_client.tokens(visitor, *server.user)
        answer = await demo.silently(visitor)
        second = (await demo.redeem(visitor, answer["code"])).json()
        return {"jwt": first["access_token"], "opaque": second["access_token"]}

    return io_loop.run_sync(issue)


@pytest.fixture
def jwt(issued) -> str:
    return issued["jwt"]


@pytest.fixture
def opaque(issued) -> str:
    return issued["opaque"]


async def key_set(visitor) -> JWKSet:
    return JWKSet.from_json((await visitor.get("/oauth/v2/keys")).text)


def key_of(keys: JWKSet, token: str) -> JWK:
    return keys.get_key(part(token, 0)["kid"])


async def all_refused(visitor, hostile) -> None:
    """No token is accepted; the genuine one beside them is the test's own business."""
    for token in hostile:
        page = await visitor.get(USERINFO, headers={"Authorization": f"Bearer {token}"})
        assert page.status == 401, token
        assert page.json()["error"] == "invalid_token"


async def is_accepted(visitor, token: str) -> bool:
    page = await visitor.get(USERINFO, headers={"Authorization": f"Bearer {token}"})
    return page.status == 200


@pytest.mark.promise("token: access_token", "keys: public keys")
async def test_a_jwt_access_token_verifies_by_the_published_key(visitor, jwt):
    keys = await key_set(visitor)
    verified = JWS()
    verified.deserialize(jwt, key_of(keys, jwt), alg="RS256")

    assert json.loads(verified.payload) == part(jwt, 1)
    assert set(part(jwt, 0)) == {"alg", "kid", "typ"}
    assert (part(jwt, 0)["alg"], part(jwt, 0)["typ"]) == ("RS256", "at+jwt")


@pytest.mark.promise("client: access token type", "discovery: issuer")
async def test_a_jwt_access_token_has_exactly_these_claims(server, visitor, jwt_client, jwt):
    claims = part(jwt, 1)
    client = await server.store.get(APPLICATIONS, jwt_client.client_id)
    now = int(server.clock.now().timestamp())
    sub = (await jwt_client.userinfo(visitor, jwt)).json()["sub"]
    jti, reference = claims.pop("jti"), claims.pop("urn:idp:ref")

    assert claims == {
        "iss": server.issuer,
        "sub": sub,
        "aud": [client.id, client.project_id],
        "exp": now + 3600,
        "iat": now,
        "nbf": now,
        "client_id": client.id,
        "scope": "openid profile email offline_access",
        "auth_time": now,
        "amr": ["pwd"],
        "acr": "urn:idp:acr:password",
    }
    assert len(jti) == 22
    assert set(reference) == {
        *("authorization", "user_org", "client_org", "stamps", "session", "grounds")
    }


async def test_a_vendor_of_ones_own_names_the_private_claim(server, jwt):
    assert f"urn:{server.service.config.vendor}:ref" in part(jwt, 1)


async def test_every_access_token_has_an_id_of_its_own(server, visitor, jwt_client, jwt):
    answer = await jwt_client.silently(visitor)
    second = (await jwt_client.redeem(visitor, answer["code"])).json()
    third = (await jwt_client.refresh(visitor, second["refresh_token"])).json()
    all_three = [jwt, second["access_token"], third["access_token"]]

    assert len({part(token, 1)["jti"] for token in all_three}) == 3


@pytest.mark.promise("token: access_token")
async def test_expires_in_is_the_time_until_exp(server, visitor, jwt_client):
    answer = await jwt_client.tokens(visitor, *server.user)
    claims = part(answer["access_token"], 1)

    assert answer["expires_in"] == claims["exp"] - claims["iat"] == 3600


@pytest.mark.promise("client: access token type")
async def test_nothing_can_be_read_in_an_opaque_token(server, demo, opaque):
    version, kid, body = opaque.split(".")
    octets = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    user = server.user[0].encode()

    assert version == "v1"
    # None so short that chance has it now and then.
    for secret in (b"openid", b'"sub"', user, demo.client_id.encode(), server.issuer.encode()):
        assert secret not in octets
    assert kid not in (demo.client_id, "")


@pytest.mark.promise("code: single use")
async def test_two_opaque_tokens_share_nothing_but_their_key(visitor, demo, opaque):
    answer = await demo.silently(visitor)
    other = (await demo.redeem(visitor, answer["code"])).json()["access_token"]
    first, second = (token.split(".") for token in (opaque, other))

    assert first[:2] == second[:2]
    assert first[2][:22] != second[2][:22]
    assert sum(a == b for a, b in zip(first[2], second[2], strict=False)) < len(first[2]) / 8


@pytest.mark.full
@pytest.mark.parametrize("kind", ["opaque", "jwt"])
async def test_no_changed_cut_or_longer_access_token_is_accepted(server, visitor, issued, kind):
    token = issued[kind]
    hostile = [*forged.changed(token), *forged.cut(token), *forged.longer(token)]
    read = [text for text in hostile if await access_tokens.read(server.service, text)]
    await all_refused(visitor, hostile[::20])

    assert read == []
    assert await is_accepted(visitor, token)


@pytest.mark.load
@pytest.mark.parametrize("kind", ["opaque", "jwt"])
async def test_no_access_token_with_any_other_character_is_accepted(server, issued, kind):
    token, others = issued[kind], [chr(code) for code in range(0x20, 0x7F)] + ["\u00e9", "\0"]
    for at in range(len(token)):
        for other in others:
            hostile = token[:at] + other + token[at + 1 :]
            assert hostile == token or await access_tokens.read(server.service, hostile) is None


async def test_parts_of_two_genuine_tokens_make_no_third(visitor, jwt_client, jwt, demo, opaque):
    answer = await jwt_client.silently(visitor)
    other = (await jwt_client.redeem(visitor, answer["code"])).json()["access_token"]
    answer = await demo.silently(visitor)
    sealed = (await demo.redeem(visitor, answer["code"])).json()["access_token"]
    one, two = jwt.split("."), other.split(".")
    a, b = opaque.split("."), sealed.split(".")

    await all_refused(
        visitor,
        [
            ".".join([one[0], one[1], two[2]]),
            ".".join([one[0], two[1], one[2]]),
            f"{a[0]}.{a[1]}.{a[2][:22]}{b[2][22:]}",
            f"{a[0]}.{one[0]}.{a[2]}",
            f"v2.{a[1]}.{a[2]}",
            f"V1.{a[1]}.{a[2]}",
            f"v1.v1.{a[1]}.{a[2]}",
        ],
    )


async def test_no_hostile_jwt_is_accepted(visitor, jwt):
    public = key_of(await key_set(visitor), jwt).export_to_pem()

    await all_refused(visitor, forged.hostile_jwts(jwt, public).values())
    assert await is_accepted(visitor, jwt)


async def test_a_jwt_of_a_strange_key_under_our_kid_is_refused(visitor, jwt):
    strange = JWK.from_pyca(shared_key(3))
    token = JWT(header=part(jwt, 0), claims=part(jwt, 1))
    token.make_signed_token(strange)

    await all_refused(visitor, [token.serialize()])


async def test_an_access_token_and_an_id_token_are_not_taken_for_each_other(
    server, visitor, new_visitor, jwt_client
):
    issued, other = await jwt_client.tokens(visitor, *server.user), new_visitor()
    await jwt_client.tokens(other, *await server.copy_user("otto"))
    ignored = await jwt_client.silently(other, id_token_hint=issued["access_token"])
    taken = await jwt_client.silently(other, id_token_hint=issued["id_token"])

    await all_refused(visitor, [issued["id_token"]])
    assert "code" in ignored
    assert taken["error"] == "login_required"


async def test_a_token_of_our_own_key_counts_only_under_its_own_type(
    server, visitor, new_visitor, jwt_client, jwt
):
    other = new_visitor()
    await jwt_client.tokens(other, *await server.copy_user("otto"))
    key = await server.service.keys.signing()
    answer = await jwt_client.silently(visitor)
    id_token = (await jwt_client.redeem(visitor, answer["code"])).json()["id_token"]
    both = part(id_token, 1) | part(jwt, 1)
    hints = {typ: jws.sign(key, typ, both) for typ in ("JWT", "at+jwt", "logout+jwt")}
    answers = {
        typ: await jwt_client.silently(other, id_token_hint=hint) for typ, hint in hints.items()
    }

    assert await is_accepted(visitor, hints.pop("at+jwt"))
    await all_refused(visitor, hints.values())
    assert [typ for typ, answer in answers.items() if "error" in answer] == ["JWT"]


async def test_an_access_token_is_neither_a_code_nor_a_refresh_token(visitor, demo, opaque):
    for page in (await demo.redeem(visitor, opaque), await demo.refresh(visitor, opaque)):
        assert (page.status, page.json()["error"]) == (400, "invalid_grant")


async def test_codes_and_refresh_tokens_are_not_taken_for_each_other(server, visitor, demo):
    issued = await demo.tokens(visitor, *server.user)
    answer = await demo.silently(visitor)
    crossed = [
        await demo.redeem(visitor, issued["refresh_token"]),
        await demo.refresh(visitor, answer["code"]),
        await demo.redeem(visitor, issued["id_token"]),
        await demo.refresh(visitor, issued["id_token"]),
    ]

    assert {(page.status, page.json()["error"]) for page in crossed} == {(400, "invalid_grant")}
    assert (await demo.redeem(visitor, answer["code"])).status == 200
    assert (await demo.refresh(visitor, issued["refresh_token"])).status == 200


async def test_a_token_of_another_issuer_is_refused(server, jwt, opaque):
    elsewhere = structs.replace(server.service.config, issuer="https://other.example")
    service = replace(server.service, config=elsewhere)

    for token in (jwt, opaque):
        assert await access_tokens.read(server.service, token) is not None
        assert await access_tokens.read(service, token) is None
