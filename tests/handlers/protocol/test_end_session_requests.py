"""Logout requests and their parts: addresses with a query, bodies, markup in a parameter."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

import pytest

from tests.support.browsers.wire import FORM
from tests.support.store.stored import everything

PATH = "/oidc/v1/end_session"
BYE = "https://client.example/bye"


@pytest.fixture
def client(io_loop, server):
    """An application with one address for after the logout."""
    return io_loop.run_sync(lambda: server.register(post_logout_redirect_uris=[BYE]))


@pytest.fixture
def tokens(io_loop, server, visitor, client) -> dict:
    """The demo user, signed in to that application."""
    return io_loop.run_sync(lambda: client.tokens(visitor, *server.user))


async def is_signed_in(visitor, client) -> bool:
    return "code" in await client.silently(visitor)


@pytest.mark.promise("logout: post_logout_redirect_uri", "logout: methods")
async def test_a_registered_address_with_a_query_keeps_it(server, visitor):
    uri = f"{BYE}?tenant=1"
    client = await server.register(post_logout_redirect_uris=[uri])
    tokens = await client.tokens(visitor, *server.user)
    page = await visitor.get(client.logout_url(id_token_hint=tokens["id_token"], state="s"))

    assert page.headers["Location"] == f"{uri}&state=s"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", "{}"),
        (FORM, "state=%"),
        (FORM, "state=%ff"),
        (FORM, b"state=\xff"),
        (f"{FORM}; charset=utf-16", "state=s".encode("utf-16")),
        (FORM, "&".join(f"p{n}=1" for n in range(101))),
    ],
)
async def test_a_body_that_is_no_form_is_a_page(server, visitor, client, tokens, kind, body):
    before = await everything(server.store)
    page = await visitor.post(PATH, content=body, headers={"Content-Type": kind})

    assert (page.status, page.name, page.location) == (400, "explain", None)
    assert await everything(server.store) == before


async def test_a_post_takes_no_parameter_from_its_address(visitor, client, tokens):
    form = {"id_token_hint": tokens["id_token"]}
    url = f"{PATH}?{urlencode({'post_logout_redirect_uri': BYE})}"
    page = await visitor.post(url, form)

    assert (page.status, page.location) == (400, None)
    assert await is_signed_in(visitor, client)


async def test_what_was_sent_is_shown_without_becoming_markup(visitor, client):
    canary = '"><svg/onload=alert(1)>'
    form = {"client_id": client.client_id, "post_logout_redirect_uri": canary, "state": canary}
    page = await visitor.get(f"{PATH}?{urlencode(form)}")

    assert page.status == 400
    assert "<svg/" not in page.text
    assert urlsplit(page.url).path == PATH
