"""The logout token (Back-Channel Logout 2.4): what it says, who can read it, and what it opens."""

from __future__ import annotations

import json

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from idp.oauth import key_rotation
from tests.support.attacks.forged import part
from tests.support.servers.receiver import verified
from tests.support.store.stored import everything

HERE = {"post_logout_redirect_uri": None}


async def sign_out(server, visitor, client, tokens):
    page = await visitor.get(client.logout_url(id_token_hint=tokens["id_token"], **HERE))
    await server.service.background_tasks.finished()
    return page


@pytest.mark.promise("logout: applications")
async def test_each_application_of_the_session_is_sent_one_logout_token(
    server, visitor, new_listener
):
    (wiki, at_wiki), (mail, at_mail) = await new_listener(), await new_listener(name="Mail")
    tokens = await wiki.tokens(visitor, *server.user)
    silent = await mail.redeem(visitor, (await mail.silently(visitor))["code"])
    page = await sign_out(server, visitor, wiki, tokens)

    assert page.status == 303
    id_tokens = [(wiki, at_wiki, tokens), (mail, at_mail, silent.json())]
    keys = (await visitor.get("/oauth/v2/keys")).text
    for client, receiver, got in id_tokens:
        (call,) = receiver.calls
        header, claims = verified(call.token, keys)
        id_claims, now = part(got["id_token"], 1), int(server.clock.now().timestamp())
        assert (header["typ"], header["alg"]) == ("logout+jwt", "RS256")
        assert claims == {
            "iss": server.issuer,
            "sub": id_claims["sub"],
            "aud": client.client_id,
            "iat": now,
            "exp": now + 120,
            "jti": claims["jti"],
            "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
            "sid": id_claims["sid"],
        }
        assert call.path == "/logout?tenant=1"
        assert call.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert len({verified(each.calls[0].token, keys)[1]["jti"] for _, each, _ in id_tokens}) == 2


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_it_is_signed_by_the_algorithm_of_the_application(
    server, visitor, new_listener, algorithm
):
    await key_rotation.ensure(server.service, algorithm, actor="a test")
    client, receiver = await new_listener(signing_algorithm=algorithm)
    tokens = await client.tokens(visitor, *server.user)
    await sign_out(server, visitor, client, tokens)
    published = (await visitor.get("/oauth/v2/keys")).text
    header, claims = verified(receiver.calls[0].token, published)
    keys = KeySet.import_key_set(json.loads(published))
    other = jwt.decode(receiver.calls[0].token, keys, algorithms=[algorithm])

    assert header["alg"] == algorithm
    assert other.claims == claims
    assert other.header == header


async def test_it_opens_nothing_and_is_no_other_token(server, visitor, new_listener):
    client, receiver = await new_listener()
    tokens = await client.tokens(visitor, *server.user)
    await sign_out(server, visitor, client, tokens)
    token = receiver.calls[0].token
    before = await everything(server.store)
    hint = await visitor.get(client.logout_url(id_token_hint=token, **HERE))
    silent = await visitor.get(client.authorize_url(prompt="none", id_token_hint=token))
    answers = [
        await client.redeem(visitor, token),
        await client.refresh(visitor, token),
        await client.token(
            visitor,
            {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": token},
        ),
    ]

    assert (hint.status, hint.name) == (400, "explain")
    assert silent.answer["error"] in ("invalid_request", "login_required")
    assert (await client.userinfo(visitor, token)).status == 401
    for answer in answers:
        assert (answer.status, "access_token" in answer.text) == (400, False)
    assert await everything(server.store) == before
