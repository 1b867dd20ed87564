"""A request that is answered leaves nothing to the garbage collector, whichever way it went."""

from __future__ import annotations

import pytest

from idp.server.http1 import client_stream
from tests.support.measured.alive import made
from tests.support.patience import until

TOKEN = "/oauth/v2/token"
FORM = {"grant_type": "client_credentials"}


async def tokens(visitor, app):
    secret = {"client_id": app.client_id, "client_secret": app.client_secret}
    return await visitor.post(TOKEN, FORM | secret)


async def wrong_secret(visitor, app):
    return await visitor.post(TOKEN, FORM | {"client_id": app.client_id, "client_secret": "x"})


async def wrong_method(visitor, app):
    return await visitor.get(TOKEN)


async def keys(visitor, app):
    return await visitor.get("/oauth/v2/keys")


async def page(visitor, app):
    return await visitor.get(f"/oauth/v2/authorize?client_id={app.client_id}")


async def missing_page(visitor, app):
    return await visitor.get("/nothing")


async def refused_call(visitor, app):
    return await visitor.get("/v2/users/x")


REQUESTS = {
    tokens: 200,
    wrong_secret: 400,
    wrong_method: 405,
    keys: 200,
    page: 400,
    missing_page: 404,
    refused_call: 401,
}


@pytest.mark.full
@pytest.mark.parametrize("send", REQUESTS, ids=lambda send: send.__name__)
async def test_nothing_is_left_of_a_request(server, visitor, monkeypatch, send):
    app = await server.register(
        auth_method="client_secret_post", grant_types=["client_credentials"]
    )
    await send(visitor, app)
    with made(monkeypatch, client_stream, "ParsedRequest") as requests:
        for _ in range(3):
            assert (await send(visitor, app)).status == REQUESTS[send]
        await until(lambda: not requests)
