"""The implicit flow (OpenID Connect Core 3.2): for applications that registered it, tokens in the
fragment."""

from __future__ import annotations

from itertools import permutations
from urllib.parse import urlsplit

import pytest

from idp.keys.jws import half_hash
from idp.records import APPLICATIONS, AUTHORIZATIONS
from storage import Update
from tests.support.attacks.forged import part
from tests.support.store.stored import everything, only

IMPLICIT = {
    "response_types": ["code", "id_token", "id_token token"],
    "grant_types": ["authorization_code", "implicit", "refresh_token"],
}
BOTH = {"access_token", "token_type", "expires_in", "scope", "id_token", "state", "iss"}
LEAN = {"iss", "sub", "aud", "azp", "exp", "iat", "auth_time", "amr", "acr", "nonce", "sid"}


@pytest.fixture
def client(io_loop, server):
    return io_loop.run_sync(lambda: server.register(**IMPLICIT))


def request_url(client, response_type="id_token token", **changes):
    """The request as a script would send it: without PKCE, which is for codes."""
    unused = {"code_challenge": None, "code_challenge_method": None}
    return client.authorize_url(**({"response_type": response_type} | unused | changes))


@pytest.mark.promise(
    "authorization: response_type id_token token",
    "authorization: implicit success: access_token",
    "authorization: implicit success: token_type",
    "authorization: implicit success: state",
    "authorization: implicit response",
    "authorization: issuer of every answer",
)
async def test_both_tokens_come_in_the_fragment_and_nothing_in_the_query(signed_in, client):
    page = await signed_in.get(request_url(client))
    parts = urlsplit(page.location)

    assert (page.status, parts.query) == (303, "")
    assert page.location.startswith(client.redirect_uri + "#")
    assert set(page.answer) == BOTH
    assert page.answer["token_type"] == "Bearer"
    assert page.answer["state"] == "state-1"
    assert page.answer["iss"] == signed_in.base


@pytest.mark.promise(
    "authorization: implicit success: access_token",
    "authorization: implicit success: expires_in",
    "authorization: implicit success: scope",
)
async def test_the_access_token_is_the_user_s_and_lasts_an_hour(server, signed_in, client):
    answer = (await signed_in.get(request_url(client))).answer
    young = await client.userinfo(signed_in, answer["access_token"])
    server.clock.advance(3599)
    last = await client.userinfo(signed_in, answer["access_token"])
    server.clock.advance(1)
    late = await client.userinfo(signed_in, answer["access_token"])

    assert int(answer["expires_in"]) == 3600
    assert answer["scope"] == "openid profile email"  # there is no refresh token to be had
    assert (young.status, last.status, late.status) == (200, 200, 401)
    assert young.json()["sub"] == part(answer["id_token"], 1)["sub"]


@pytest.mark.promise("authorization: implicit success: id_token")
async def test_the_id_token_is_lean_and_tied_to_the_access_token(signed_in, client):
    answer = (await signed_in.get(request_url(client))).answer
    claims = part(answer["id_token"], 1)

    assert set(claims) == LEAN | {"at_hash"}
    assert claims["at_hash"] == half_hash("RS256", answer["access_token"])
    assert (claims["aud"], claims["nonce"]) == (client.client_id, "nonce-1")


@pytest.mark.promise(
    "authorization: response_type id_token",
    "authorization: implicit success: access_token",
    "authorization: implicit success: id_token",
    "ID token: response_type id_token",
)
async def test_an_id_token_alone_has_the_claims_of_the_scopes(signed_in, client):
    page = await signed_in.get(request_url(client, "id_token"))
    claims = part(page.answer["id_token"], 1)

    assert set(page.answer) == {"id_token", "state", "iss"}
    assert "at_hash" not in claims
    assert set(claims) > LEAN
    assert claims["email"] == "dana@example.com"


@pytest.mark.promise("authorization: response_type id_token token")
async def test_the_order_of_the_types_does_not_matter(signed_in, client):
    page = await signed_in.get(request_url(client, "token id_token"))

    assert set(page.answer) == BOTH


async def test_a_token_ends_with_its_session_and_with_its_authorization(server, signed_in, client):
    first = (await signed_in.get(request_url(client))).answer
    second = (await signed_in.get(request_url(client))).answer
    stored = await everything(server.store)
    granted = [a for a in stored[AUTHORIZATIONS.name].values() if a.grant == "implicit"]
    now = server.clock.now()
    await server.store.commit(Update(AUTHORIZATIONS, granted[0].id, set={"revoked_at": now}))
    alive = [
        (await client.userinfo(signed_in, each["access_token"])).status for each in (first, second)
    ]
    await signed_in.get(client.logout_url(id_token_hint=second["id_token"]))
    dead = [
        (await client.userinfo(signed_in, each["access_token"])).status for each in (first, second)
    ]

    assert len(granted) == 2
    assert sorted(alive) == [200, 401]
    assert dead == [401, 401]


@pytest.mark.promise("authorization: implicit response")
async def test_signing_in_through_the_pages_ends_in_the_fragment_as_well(server, visitor, client):
    page = await visitor.sign_in(request_url(client), *server.user)

    assert page.location.startswith(client.redirect_uri + "#")
    assert set(page.answer) == BOTH


async def test_cancelling_is_reported_in_the_fragment(visitor, client):
    page = await visitor.open(request_url(client))
    page = await visitor.send(page, decision="cancel")

    assert page.answer["error"] == "access_denied"
    assert urlsplit(page.location).query == ""


async def test_prompt_none_without_a_session_is_reported_in_the_fragment(visitor, client):
    page = await visitor.get(request_url(client, prompt="none"))

    assert page.answer["error"] == "login_required"
    assert urlsplit(page.location).query == ""


async def test_a_jwt_access_token_comes_as_one(server, signed_in):
    client = await server.register(access_token_type="jwt", **IMPLICIT)
    answer = (await signed_in.get(request_url(client))).answer

    assert part(answer["access_token"], 0)["typ"] == "at+jwt"
    assert (await client.userinfo(signed_in, answer["access_token"])).status == 200


TYPES = ["code", "token", "id_token", "none", "", "code ", "CODE", "id_token,token", "code code"]
TYPES += [
    " ".join(each) for n in (2, 3) for each in permutations(["code", "token", "id_token"], n)
]
KNOWN = {"code": "code", "id_token": "id_token"}
KNOWN |= {"id_token token": "id_token token", "token id_token": "id_token token"}
CLIENTS = {
    "codes": (["code"], ["authorization_code"]),
    "everything": (["code", "id_token", "id_token token"], ["authorization_code", "implicit"]),
    "ID tokens alone": (["id_token"], ["implicit"]),
    "types without the grant": (["code", "id_token", "id_token token"], ["authorization_code"]),
    "the grant without types": (["code"], ["authorization_code", "implicit"]),
    "types without any grant": (["code", "id_token"], ["client_credentials"]),
    "nothing": ([], ["authorization_code", "implicit"]),
}


@pytest.mark.full
@pytest.mark.promise(
    "authorization: response_type id_token", "authorization: response_type id_token token"
)
@pytest.mark.parametrize("registered", CLIENTS)
async def test_a_type_works_where_it_is_registered_with_its_grant_and_nowhere_else(
    server, signed_in, registered
):
    response_types, grant_types = CLIENTS[registered]
    client = await server.register(response_types=response_types, grant_types=grant_types)
    before = await everything(server.store)
    refused = 0
    for sent in TYPES:
        known = KNOWN.get(sent)
        grant = "authorization_code" if known == "code" else "implicit"
        if known in response_types and grant in grant_types:
            continue
        page = await signed_in.get(client.authorize_url(response_type=sent))
        error = "unauthorized_client" if known else "unsupported_response_type"
        has_tokens = {"token", "id_token"} & set(sent.split(" "))

        assert page.answer["error"] == (error if sent else "invalid_request"), sent
        assert not {"code", "access_token", "id_token"} & set(page.answer)
        assert bool(urlsplit(page.location).query) != bool(has_tokens), sent
        refused += 1

    assert refused >= len(TYPES) - 4
    assert await everything(server.store) == before


@pytest.mark.parametrize("changes", [{"app_type": "api"}, {"response_types": []}])
async def test_an_application_that_signs_nobody_in_is_refused(server, signed_in, client, changes):
    await server.store.commit(Update(APPLICATIONS, client.client_id, set=changes))
    for response_type in KNOWN:
        page = await signed_in.get(request_url(client, response_type))

        assert page.answer["error"] == "unauthorized_client"


@pytest.mark.parametrize("response_type", ["id_token", "id_token token"])
async def test_a_nonce_is_required(server, signed_in, client, response_type):
    before = await everything(server.store)
    page = await signed_in.get(request_url(client, response_type, nonce=None))

    assert page.answer["error"] == "invalid_request"
    assert urlsplit(page.location).query == ""
    assert await everything(server.store) == before


async def test_an_implicit_authorization_has_neither_code_nor_refresh_token(
    server, visitor, client
):
    await visitor.sign_in(request_url(client), *server.user)
    record = await only(server.store, AUTHORIZATIONS)

    assert (record.grant, record.code, record.refresh) == ("implicit", None, None)
    assert record.scopes == ["openid", "profile", "email"]


@pytest.mark.parametrize("response_type", ["id_token", "id_token token"])
async def test_a_public_client_needs_no_challenge_where_there_is_no_code(
    server, visitor, response_type
):
    party = await server.register(
        "SPA",
        auth_method="none",
        grant_types=["implicit"],
        response_types=["id_token", "id_token token"],
    )
    changes = {"code_challenge": None, "code_challenge_method": None}
    url = party.authorize_url(response_type=response_type, **changes)
    page = await visitor.sign_in(url, *server.user)

    assert "id_token" in page.answer
