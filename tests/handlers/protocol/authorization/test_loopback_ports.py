"""A native app's addresses on its own machine match with any port (RFC 8252 7.3)."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.support.store.stored import everything

PATH = "/oidc/v1/end_session"
REGISTERED = [
    *["http://127.0.0.1/bye", "http://[::1]:8000/bye?x=1", "http://localhost:3000"],
    *["https://client.example:8443/bye", "app:/bye"],
]


async def client_with(server, *, any_port, app_type="native"):
    return await server.register(
        app_type=app_type,
        auth_method="none",
        post_logout_redirect_uris=REGISTERED,
        allows_any_loopback_port=any_port,
    )


async def asked(visitor, client, uri):
    form = {"client_id": client.client_id, "post_logout_redirect_uri": uri}
    return await visitor.follow(await visitor.get(f"{PATH}?{urlencode(form)}"))


@pytest.mark.parametrize(
    "uri",
    [
        *["http://127.0.0.1:49152/bye", "http://127.0.0.1:1/bye", "http://127.0.0.1:65535/bye"],
        *["http://[::1]/bye?x=1", "http://[::1]:9/bye?x=1", "http://localhost:3001"],
        *["http://localhost", "http://127.0.0.1/bye"],
    ],
)
async def test_any_port_is_as_good_as_the_registered_one(server, visitor, uri):
    page = await asked(visitor, await client_with(server, any_port=True), uri)

    assert page.location == uri


@pytest.mark.parametrize(
    "uri",
    [
        *["http://127.0.0.1:0/bye", "http://127.0.0.1:65536/bye", "http://127.0.0.1:080/bye"],
        *["http://127.0.0.1:/bye", "http://127.0.0.1:x/bye", "http://127.0.0.1:1/", "app:1/bye"],
        *["http://127.0.0.1:1/bye/", "http://127.0.0.1:1/bye?x", "http://127.0.0.1:1/bye#"],
        *["http://127.0.0.1:1@evil.example/bye", "http://127.0.0.1:1.evil.example/bye"],
        *["http://127.0.0.2:1/bye", "http://127.1:1/bye", "http://[::ffff:127.0.0.1]:1/bye"],
        *["http://localhost:1/bye", "http://localhost.evil.example:1", "http://LOCALHOST:1"],
        *["http://[::1]:1/bye", "http://[0:0:0:0:0:0:0:1]:1/bye?x=1", "https://127.0.0.1:1/bye"],
        *["https://client.example:1/bye", "http://u@127.0.0.1:1/bye", "http://127.0.0.1:1\n/bye"],
    ],
)
async def test_nothing_but_the_port_may_differ(server, visitor, uri):
    client = await client_with(server, any_port=True)
    before = await everything(server.store)
    page = await asked(visitor, client, uri)

    assert (page.status, page.name, page.location) == (400, "explain", None)
    assert await everything(server.store) == before


@pytest.mark.parametrize("uri", ["http://127.0.0.1:49152/bye", "http://[::1]:9/bye?x=1"])
async def test_any_port_of_an_address_needs_no_switch(server, visitor, uri):
    page = await asked(visitor, await client_with(server, any_port=False), uri)

    assert page.location == uri


@pytest.mark.parametrize(
    ("app_type", "uri"),
    [
        ("native", "http://localhost:3001"),
        ("web", "http://localhost:3001"),
        ("web", "http://127.0.0.1:49152/bye"),
        ("user_agent", "http://[::1]:9/bye?x=1"),
    ],
)
async def test_an_application_that_did_not_ask_for_it_gets_the_registered_port_alone(
    server, visitor, app_type, uri
):
    client = await client_with(server, any_port=False, app_type=app_type)
    page = await asked(visitor, client, uri)

    assert (page.status, page.location) == (400, None)
    assert "loopbackAnyPort" in page.text
