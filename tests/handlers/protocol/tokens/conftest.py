"""Applications, and what a token exchange needs."""

from __future__ import annotations

import pytest

from tests.support.protocol.exchanging import Broker, Ground


@pytest.fixture
def jwt_client(io_loop, server):
    """A client whose access tokens are JWTs."""
    return io_loop.run_sync(lambda: server.register(access_token_type="jwt"))


@pytest.fixture
def asserting(io_loop, server):
    """A client with the option "User Info inside ID Token"."""
    return io_loop.run_sync(lambda: server.register(id_token_userinfo_assertion=True))


@pytest.fixture
def broker(io_loop, server, visitor, new_visitor):
    return io_loop.run_sync(lambda: Broker.make(server, visitor, new_visitor))


@pytest.fixture
def ground(io_loop, server, visitor, new_visitor):
    async def make():
        return await Ground.make(await Broker.make(server, visitor, new_visitor))

    return io_loop.run_sync(make)


@pytest.fixture
def new_code(server, visitor, demo):
    """Signs in the first time, then asks silently: a fresh code of the demo application."""

    async def new_code(client=demo, **changes) -> str:
        page = await visitor.get(client.authorize_url(**changes))
        if "code" not in page.answer:
            page = await client.sign_in(visitor, *server.user, **changes)
        return page.answer["code"]

    return new_code


@pytest.fixture
def code(io_loop, new_code) -> str:
    return io_loop.run_sync(new_code)
