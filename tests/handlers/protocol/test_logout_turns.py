"""Organizations take turns at the sending of logout messages."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from functools import partial

import pytest
from msgspec import structs

from idp.oauth.endpoints import back_channel, logout_turns
from idp.oauth.endpoints.logout_turns import LogoutTurns
from idp.outgoing.http import MAX_CALLS_PER_OWNER
from idp.records import LOGOUT_MESSAGES
from storage import Insert
from tests.handlers.protocol.test_back_channel import messages, signed_out
from tests.support import patience


@pytest.mark.promise("logout: turns")
async def test_the_receivers_of_an_organization_that_hang_stop_no_other_organization(timer):
    turns, hanging, sent = LogoutTurns(timer), asyncio.Event(), []

    async def deliver(message):
        sent.append(message)
        if message.startswith("slow"):
            await hanging.wait()

    for number in range(60):
        turns.add("org-1", f"slow-{number}")
    turns.add("org-2", "quick")
    delivery = asyncio.create_task(turns.take(deliver))
    await patience.until(lambda: "quick" in sent)
    await timer.advance(logout_turns.TURN_SECONDS)
    hanging.set()
    await delivery

    assert len(sent) == 1 + MAX_CALLS_PER_OWNER, "what is left of the slow ones waits for its turn"


@pytest.mark.promise("logout: turns")
async def test_messages_behind_thousands_of_another_organization_are_sent_in_the_same_turn(
    server, visitor, new_listener, monkeypatch
):
    client, receiver = await new_listener()
    monkeypatch.setattr(back_channel, "send_soon", lambda *_: None)
    message = await signed_out(server, visitor, client)
    monkeypatch.setattr(back_channel, "_PAGE", 3)
    monkeypatch.setattr(logout_turns, "MAX_MESSAGES", 2)
    earlier = message.due_at - timedelta(seconds=1)
    others = [
        structs.replace(message, id=f"jti-{number}", client_id="gone", due_at=earlier)
        for number in range(10)
    ]
    await server.store.commit(*(Insert(LOGOUT_MESSAGES, each) for each in others))

    turns = await back_channel._due(server.service)
    await turns.take(partial(back_channel._deliver, server.service))

    states = Counter(each.state for each in await messages(server))
    assert len(receiver.calls) == 1
    assert turns.is_unfinished
    assert states == {"delivered": 1, "refused": 2, "waiting": 8}
    await back_channel.deliver_due(server.service)
    assert Counter(each.state for each in await messages(server))["waiting"] == 0
