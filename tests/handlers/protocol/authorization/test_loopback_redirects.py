"""A native app listens where it can: its redirect_uri matches with any port (RFC 8252 7.3)."""

from __future__ import annotations

import pytest

from tests.support.protocol.relying_party import without_none
from tests.support.store.stored import everything

REGISTERED = ["http://127.0.0.1/cb", "http://[::1]:8000/cb?x=1", "http://localhost:3000/cb"]


async def native(server, *, any_port=True):
    return await server.register(
        app_type="native",
        auth_method="none",
        redirect_uris=REGISTERED,
        allows_any_loopback_port=any_port,
    )


@pytest.mark.parametrize(
    "uri",
    ["http://127.0.0.1:49152/cb", "http://[::1]:1/cb?x=1", "http://[::1]/cb?x=1", REGISTERED[0]],
)
async def test_the_answer_goes_to_the_port_that_was_sent(server, visitor, uri):
    client = await native(server)
    page = await client.sign_in(visitor, *server.user, redirect_uri=uri)
    code = page.answer["code"]
    elsewhere = await client.redeem(visitor, code, redirect_uri="http://127.0.0.1:5/cb")
    redeemed = await client.redeem(visitor, code, redirect_uri=uri)

    assert page.location.startswith(uri)
    assert elsewhere.json()["error"] == "invalid_grant"
    assert redeemed.status == 200


@pytest.mark.parametrize(
    "uri",
    [
        *["http://127.0.0.1:0/cb", "http://127.0.0.1:65536/cb", "http://127.0.0.1:x/cb"],
        *["http://127.0.0.1:1/cb/", "http://127.0.0.1:1/cb?x", "https://127.0.0.1:1/cb"],
        *["http://127.0.0.1:1@evil.example/cb", "http://127.0.0.1:1.evil.example/cb"],
        *["http://127.1:1/cb", "http://[::ffff:127.0.0.1]:1/cb", "http://[::1]:1/cb"],
        *["http://localhost.evil.example:3000/cb", "http://LOCALHOST:1/cb"],
    ],
)
async def test_nothing_but_the_port_may_differ(server, visitor, uri):
    client = await native(server)
    before = await everything(server.store)
    page = await visitor.get(client.authorize_url(redirect_uri=uri))
    form = without_none(client.authorize_form(redirect_uri=uri))
    pushed = await visitor.post("/oauth/v2/par", form)

    assert (page.status, page.name, page.location) == (400, "explain", None)
    assert pushed.json()["error"] == "invalid_request"
    assert await everything(server.store) == before


async def test_an_application_that_did_not_ask_for_it_gets_the_registered_port_alone(
    server, visitor
):
    client = await native(server, any_port=False)
    page = await visitor.get(client.authorize_url(redirect_uri="http://127.0.0.1:49152/cb"))

    assert (page.status, page.location) == (400, None)
