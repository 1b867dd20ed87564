"""The right password, which answers the application in the unit that opens the session."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from idp.records import AUTHORIZATIONS, SESSION_CLIENTS, SESSIONS
from storage import Insert, Stale
from tests.support.sign_in.steps import at_password
from tests.support.store.stored import count, only

OPENED = {"agents", "sessions", "authorizations", "auth_requests"}


@contextmanager
def watched(store, monkeypatch, *, refuse=False):
    """The collections of each unit that opens a session, which the store refuses if told so."""
    units, commit = [], store.commit

    async def watch(*writes):
        if any(isinstance(each, Insert) and each.collection is SESSIONS for each in writes):
            units.append({each.collection.name for each in writes})
            if refuse:
                raise Stale("auth_requests", "-")
        await commit(*writes)

    with monkeypatch.context() as patching:
        patching.setattr(store, "commit", watch)
        yield units


async def test_the_password_answers_the_application_in_the_unit_of_the_session(
    server, visitor, demo, monkeypatch
):
    page = await at_password(visitor, demo, server.user[0])
    with watched(server.store, monkeypatch) as units:
        answer = await visitor.send(page, password=server.user[1])

    assert (answer.status, "code" in answer.answer) == (303, True)
    assert [unit >= OPENED for unit in units] == [True]
    assert (await demo.redeem(visitor, answer.answer["code"])).status == 200
    session = await only(server.store, SESSIONS)
    assert (await only(server.store, AUTHORIZATIONS)).session_id == session.id


async def test_a_refused_unit_opens_no_session_and_gives_no_code(
    server, visitor, demo, monkeypatch
):
    page = await at_password(visitor, demo, server.user[0])
    before = await count(server.store)
    with watched(server.store, monkeypatch, refuse=True):
        answer = await visitor.send(page, password=server.user[1])
    after = await count(server.store)
    again = await visitor.submit(page, password=server.user[1])

    assert "code" not in answer.answer
    assert after == before
    assert "code" in again.answer


@pytest.mark.parametrize("uri", ["back_channel_logout_uri", "front_channel_logout_uri"])
async def test_an_application_that_is_told_of_logouts_is_recorded_in_the_same_unit(
    server, visitor, monkeypatch, uri
):
    party = await server.register("Wiki", **{uri: "https://wiki.example/logout"})
    page = await at_password(visitor, party, server.user[0])
    with watched(server.store, monkeypatch) as units:
        await visitor.send(page, password=server.user[1])
    recorded = await only(server.store, SESSION_CLIENTS)

    assert [unit >= {*OPENED, "session_clients"} for unit in units] == [True]
    session = await only(server.store, SESSIONS)
    assert (recorded.session_id, recorded.client_id) == (session.id, party.client_id)


async def test_a_page_that_is_due_comes_before_the_answer(server, visitor):
    party = await server.register("Wiki", is_third_party=True)
    page = await at_password(visitor, party, server.user[0])
    answer = await visitor.send(page, password=server.user[1])
    stored = await count(server.store)
    consent = await visitor.follow(answer)

    assert ("code" in answer.answer, consent.name) == (False, "consent")
    assert (stored["sessions"], "authorizations" in stored) == (1, False)
