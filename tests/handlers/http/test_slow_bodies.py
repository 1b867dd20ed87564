"""Who announces a body and does not send it is not waited for."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest

from handlers.http import base
from idp.limits.admission import MANAGEMENT
from idp.management import call as management_call
from idp.oauth.grants import TokenResponse
from tests.support import patience
from tests.support.browsers.wire import FORM, exchange, head, opened
from tests.support.management.callers import instance_owner
from tests.support.patience import until

PATIENCE_SECONDS = 0.2
ANNOUNCED = ["Content-Length: 100", "Transfer-Encoding: chunked"]


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(base, "BODY_SECONDS", PATIENCE_SECONDS)


def begun(server, announced):
    """A token request of which the body has only begun."""
    host = urlsplit(server.issuer).netloc
    lines = ["POST /oauth/v2/token HTTP/1.1", f"Host: {host}", f"Content-Type: {FORM}", announced]
    return "\r\n".join([*lines, "", "5\r\ngrant"]).encode()


@pytest.mark.parametrize("announced", ANNOUNCED)
async def test_a_body_that_does_not_come_ends_the_connection(server, announced):
    address = urlsplit(server.issuer)
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
    writer.write(begun(server, announced))

    assert await asyncio.wait_for(reader.read(), patience.SECONDS) == b""

    writer.close()
    await writer.wait_closed()
    await server.app.drained(10)
    assert not server.app._in_progress


@pytest.mark.full
async def test_a_body_that_is_there_is_answered_however_long_the_answer_takes(server, monkeypatch):
    async def slow(*_):
        await asyncio.sleep(3 * PATIENCE_SECONDS)
        return TokenResponse({})

    monkeypatch.setattr("handlers.protocol.token.grants.respond", slow)
    host, body = urlsplit(server.issuer).netloc, "grant_type=x"
    lines = ["POST /oauth/v2/token HTTP/1.1", f"Host: {host}", "Connection: close"]
    lines += [f"Content-Type: {FORM}", f"Content-Length: {len(body)}", "", body]

    assert (await exchange(server, "\r\n".join(lines).encode())).status_code == 200


@pytest.mark.promise("overload: places")
async def test_a_late_body_takes_no_slot_once_its_caller_was_looked_up(
    server, visitor, monkeypatch
):
    slots = server.app.admission.slots_of(MANAGEMENT)
    looked_up, admit, waited = asyncio.Event(), management_call.admit, []
    monkeypatch.setattr(base, "PROMPT_SECONDS", 0.001)
    monkeypatch.setattr(base, "BODY_SECONDS", patience.SECONDS)

    async def slow(*arguments):
        call = await admit(*arguments)
        await looked_up.wait()
        return call

    release = base.Handler._release_slot
    monkeypatch.setattr(management_call, "admit", slow)
    monkeypatch.setattr(
        base.Handler, "_release_slot", lambda handler: (waited.append(1), release(handler))
    )
    owner = await instance_owner(server, visitor)
    lines = [f"Authorization: Bearer {owner.token}", "Content-Length: 2"]
    lines += ["Content-Type: application/json"]
    async with opened(server, head(server, "POST", "/v2/organizations/_search", *lines)):
        await until(lambda: len(waited) > 1)
        assert slots.in_use == 1
        looked_up.set()

        await until(lambda: slots.in_use == 0)
