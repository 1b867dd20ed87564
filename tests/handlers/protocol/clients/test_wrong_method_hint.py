"""A client with a strict method that uses the wrong of client_secret_basic and client_secret_post
is told so on this machine and in debug mode, and nowhere else."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.records import APPLICATIONS
from storage import Update

CODE = "c" * 65
GENERIC = "client authentication failed"


async def sent_wrongly(server, visitor, registered: str):
    """The answer to a token request by the other method than the registered one."""
    party = await server.register(auth_method=registered, is_auth_method_strict=True)
    if registered == "client_secret_basic":
        secret = {"client_id": party.client_id, "client_secret": party.client_secret}
        return party, await party.redeem(visitor, CODE, headers={}, **secret)
    return party, await party.redeem(visitor, CODE)


@pytest.mark.parametrize(
    ("registered", "used"),
    [
        ("client_secret_basic", "client_secret_post"),
        ("client_secret_post", "client_secret_basic"),
    ],
)
async def test_on_this_machine_both_methods_are_named_with_the_request(
    server, visitor, registered, used
):
    _, page = await sent_wrongly(server, visitor, registered)

    request = page.headers["X-Request-Id"]
    assert page.status == (400 if used == "client_secret_post" else 401)
    assert page.json() == {
        "error": "invalid_client",
        "error_description": f"registered for {registered}, {used} was sent (request {request})",
    }


@pytest.mark.parametrize("method", ["none", "private_key_jwt"])
async def test_another_method_is_not_named(server, visitor, method):
    party = await server.register(auth_method=method)
    party.client_secret = "anything"

    page = await party.redeem(visitor, CODE)

    assert page.json()["error_description"] == GENERIC


async def test_a_wrong_secret_is_not_explained(server, visitor, demo):
    demo.client_secret = "anything"

    page = await demo.redeem(visitor, CODE)

    assert page.json()["error_description"] == GENERIC


class TestOfAPublicIssuer:
    @pytest.fixture
    def settings(self) -> dict:
        return {"issuer": "http://login.example.com", "insecure_http": True}

    @pytest.fixture
    def visitor(self, new_visitor, server):
        return new_visitor(headers={"Host": "login.example.com"})

    async def test_only_an_application_in_debug_mode_gets_the_details(self, server, visitor):
        visitor.base = f"http://127.0.0.1:{server.service.config.port}"
        party, before = await sent_wrongly(server, visitor, "client_secret_basic")
        until = server.clock.now() + timedelta(hours=1)
        change = Update(APPLICATIONS, party.client_id, set={"explains_until": until})
        await server.store.commit(change)
        secret = {"client_id": party.client_id, "client_secret": party.client_secret}
        during = await party.redeem(visitor, CODE, headers={}, **secret)
        server.clock.advance(timedelta(hours=1))
        after = await party.redeem(visitor, CODE, headers={}, **secret)

        told = [page.json()["error_description"] for page in (before, during, after)]
        assert told[0] == told[2] == GENERIC
        assert told[1].startswith("registered for client_secret_basic, client_secret_post was")
