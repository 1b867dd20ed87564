"""A native app listens where it can: its redirect_uri matches with any port (RFC 8252 7.3)."""

from __future__ import annotations

import pytest

from tests.support.protocol.relying_party import without_none
from tests.support.store.stored import everything, refusals

REGISTERED = ["http://127.0.0.1/cb", "http://[::1]:8000/cb?x=1", "http://localhost:3000/cb"]


async def native(server, *, any_port=True, app_type="native"):
    return await server.register(
        app_type=app_type,
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


@pytest.mark.promise("authorization: loopback port")
@pytest.mark.parametrize("any_port", [True, False])
@pytest.mark.parametrize("uri", ["http://127.0.0.1:49152/cb", "http://[::1]:9/cb?x=1"])
async def test_a_native_application_may_use_any_port_of_an_address(server, visitor, any_port, uri):
    client = await native(server, any_port=any_port)
    page = await client.sign_in(visitor, *server.user, redirect_uri=uri)
    code = page.answer["code"]
    elsewhere = await client.redeem(visitor, code, redirect_uri=REGISTERED[0])
    redeemed = await client.redeem(visitor, code, redirect_uri=uri)

    assert page.location.startswith(uri)
    assert (elsewhere.status, elsewhere.json()["error"]) == (400, "invalid_grant")
    assert redeemed.status == 200


REFUSED = {
    "native": ["http://localhost:49152/cb", "http://localhost/cb"],
    "web": ["http://localhost:49152/cb", "http://127.0.0.1:49152/cb", "http://[::1]:9/cb?x=1"],
    "user_agent": ["http://127.0.0.1:49152/cb", "http://localhost/cb"],
}


@pytest.mark.promise("authorization: loopback port")
@pytest.mark.parametrize("app_type", REFUSED)
async def test_where_the_switch_would_help_the_refusal_names_it(server, visitor, app_type):
    client = await native(server, any_port=False, app_type=app_type)
    for uri in REFUSED[app_type]:
        page = await visitor.get(client.authorize_url(redirect_uri=uri))
        pushed = await visitor.post(
            "/oauth/v2/par", without_none(client.authorize_form(redirect_uri=uri))
        )

        assert (page.status, page.name, page.location) == (400, "explain", None)
        assert "loopbackAnyPort" in page.text
        assert pushed.json()["error"] == "invalid_request"
    fixes = {record.fix for record in await refusals(server.store)}
    assert all("loopbackAnyPort" in fix for fix in fixes)


@pytest.mark.parametrize(
    "uri", ["http://127.0.0.1:1/other", "http://127.0.0.1:0/cb", "https://localhost:1/cb"]
)
async def test_where_the_switch_would_not_help_the_refusal_does_not_name_it(server, visitor, uri):
    client = await native(server, any_port=False)
    page = await visitor.get(client.authorize_url(redirect_uri=uri))

    assert (page.status, page.name) == (400, "explain")
    assert "loopbackAnyPort" not in page.text
