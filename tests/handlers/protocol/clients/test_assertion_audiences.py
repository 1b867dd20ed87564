"""The audience of an assertion at each endpoint that a client authenticates at (RFC 9126 2)."""

from __future__ import annotations

import pytest

from idp.oauth.paths import DEVICE_AUTHORIZATION, INTROSPECT, PAR, REVOKE, TOKEN, USERINFO
from tests.support.protocol.answers import assert_refused
from tests.support.protocol.asserting import register_key
from tests.support.store.stored import everything

ENDPOINTS = [PAR, INTROSPECT, REVOKE, DEVICE_AUTHORIZATION, TOKEN]
DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"


@pytest.fixture
def party(io_loop, server):
    grant_types = ["authorization_code", "client_credentials", DEVICE_CODE]
    return io_loop.run_sync(
        lambda: server.register("Keyed", auth_method="private_key_jwt", grant_types=grant_types)
    )


@pytest.fixture
def send(io_loop, server, visitor, party):
    """Sends a request to an endpoint with an assertion for an audience."""
    keyed = io_loop.run_sync(lambda: register_key(server, party.client_id, "key-1"))

    async def send(path: str, audience: object):
        form = {
            PAR: party.authorize_form(),
            INTROSPECT: {"token": "t"},
            REVOKE: {"token": "t"},
            DEVICE_AUTHORIZATION: {"scope": "openid"},
            TOKEN: {"grant_type": "client_credentials"},
        }[path]
        return await visitor.post(path, form | keyed.client_form(aud=audience))

    return send


@pytest.mark.promise("token endpoint: audience")
@pytest.mark.parametrize("path", ENDPOINTS)
async def test_an_endpoint_accepts_the_issuer_the_token_endpoint_and_its_own_address(
    server, send, path
):
    issuer = server.issuer
    own, token = issuer + path, issuer + TOKEN

    for audience in (issuer, token, own, [own], [issuer, token, own]):
        page = await send(path, audience)
        assert page.status in (200, 201), (audience, page.text)


@pytest.mark.promise("token endpoint: audience")
@pytest.mark.parametrize("path", ENDPOINTS)
async def test_an_endpoint_accepts_no_address_of_another_endpoint(server, send, path):
    others = [server.issuer + each for each in (*ENDPOINTS, USERINFO) if each not in (path, TOKEN)]
    before = await everything(server.store)

    for audience in (*others, [server.issuer + path, others[0]], f"{server.issuer}{path}/"):
        page = await send(path, audience)
        status = 401 if path == INTROSPECT else 400
        assert_refused(page, status, "invalid_client", audience, is_challenged=False)
    assert await everything(server.store) == before
