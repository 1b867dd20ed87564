"""Tokens whose answer reached nobody: what was used up for them counts once more."""

from __future__ import annotations

import asyncio
import math
from urllib.parse import urlencode

import pytest

from idp.foundation import opaque_tokens
from idp.oauth import grants
from idp.oauth.grants import lost_answers
from idp.records import APPLICATIONS, AUTHORIZATIONS
from storage import Unavailable, Unit, Unknown, Update, confirmed_commit
from tests.support import patience
from tests.support.browsers.wire import FORM, head, opened
from tests.support.patience import until
from tests.support.protocol.answers import assert_granted, assert_refused
from tests.support.protocol.device import GRANTS, Device, at_confirmation
from tests.support.store.stored import everything

LONG = 3600  # seconds, longer than any window
WINDOW = {"refresh_token_reuse_seconds": 60}


class Outage:
    """A store that applies units, and loses their answers while it is out."""

    def __init__(self, store, monkeypatch):
        self._store, self._commit, self.is_out = store, store.commit, False
        monkeypatch.setattr(confirmed_commit, "CONFIRMED_WITHIN_SECONDS", 0.0)
        monkeypatch.setattr(store, "commit", self._lossy)
        monkeypatch.setattr(store, "applied", self._applied)
        monkeypatch.setattr(store, "get_confirmed", self._get)

    async def _lossy(self, *writes):
        await self._commit(*writes)
        if self.is_out:
            raise self._failed(Unknown(Unit("lost", writes)))

    async def _applied(self, unit):
        if self.is_out:
            raise self._failed(Unavailable("there is no majority"))
        return True

    async def _get(self, collection, id):
        if self.is_out:
            raise Unavailable("there is no majority")
        return await self._store.get(collection, id)

    def _failed(self, error):
        self._store.failed_at = math.inf
        return error


@pytest.fixture(autouse=True)
def _may_fail(visitor):
    visitor.may_fail = True


@pytest.fixture
def outage(server, monkeypatch):
    return Outage(server.store, monkeypatch)


@pytest.fixture
def over(server, outage, timer):
    """Ends the outage, and waits until it is recorded what was not answered."""

    async def end():
        outage.is_out = False
        server.store.failed_at = -math.inf
        await timer.advance(lost_answers.RETRY_SECONDS)
        await until(lambda: not server.service.background_tasks.has_waiting)

    return end


def unavailable(page):
    assert (page.status, "Retry-After" in page.headers) == (503, True)


@pytest.mark.promise("faults: unanswered tokens")
async def test_a_family_survives_an_outage_that_is_longer_than_the_reuse_window(
    server, visitor, demo, outage, over
):
    tokens = await demo.tokens(visitor, *server.user)
    outage.is_out = True
    unavailable(await demo.refresh(visitor, tokens["refresh_token"]))
    server.clock.advance(LONG)
    unavailable(await demo.refresh(visitor, tokens["refresh_token"]))
    await over()
    page = await demo.refresh(visitor, tokens["refresh_token"])

    answer = assert_granted(page)
    assert_granted(await demo.refresh(visitor, answer["refresh_token"]))


async def test_a_lost_answer_that_is_repeated_begins_the_reuse_window_anew(
    server, visitor, demo, outage, over
):
    tokens = await demo.tokens(visitor, *server.user)
    outage.is_out = True
    await demo.refresh(visitor, tokens["refresh_token"])
    await over()
    server.clock.advance(LONG)
    assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))
    server.clock.advance(LONG)

    assert_refused(await demo.refresh(visitor, tokens["refresh_token"]), 400, "invalid_grant")


async def test_a_successor_that_was_used_has_arrived(server, visitor, demo, outage, over):
    tokens = await demo.tokens(visitor, *server.user)
    outage.is_out = True
    await demo.refresh(visitor, tokens["refresh_token"])
    await over()
    answer = assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))
    assert_granted(await demo.refresh(visitor, answer["refresh_token"]))

    assert_refused(await demo.refresh(visitor, tokens["refresh_token"]), 400, "invalid_grant")


@pytest.mark.promise("faults: unanswered tokens")
async def test_soon_after_a_failed_write_nothing_is_taken_for_a_replay(server, visitor, demo):
    tokens = await demo.tokens(visitor, *server.user)
    answer = assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))
    assert_granted(await demo.refresh(visitor, answer["refresh_token"]))
    before = await everything(server.store)
    server.store.failed_at = math.inf
    unavailable(await demo.refresh(visitor, tokens["refresh_token"]))
    assert await everything(server.store) == before

    server.store.failed_at = -math.inf
    assert_refused(await demo.refresh(visitor, tokens["refresh_token"]), 400, "invalid_grant")


@pytest.mark.promise("faults: majority")
async def test_a_repetition_is_not_answered_by_a_record_that_no_majority_has(
    server, visitor, demo, outage
):
    await server.store.commit(Update(APPLICATIONS, demo.client_id, set=WINDOW))
    tokens = await demo.tokens(visitor, *server.user)
    assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))
    outage.is_out = True
    unavailable(await demo.refresh(visitor, tokens["refresh_token"]))
    outage.is_out = False

    assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))


async def test_a_rotation_that_was_rolled_back_is_done_again(server, visitor, demo, monkeypatch):
    tokens = await demo.tokens(visitor, *server.user)
    before = await server.store.get(AUTHORIZATIONS, id_of(tokens))
    assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))
    rotated = await server.store.get(AUTHORIZATIONS, before.id)

    async def rolled_back(collection, id):
        await server.store.commit(replaced(before, rotated))
        return before

    monkeypatch.setattr(server.store, "get_confirmed", rolled_back)
    answer = assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))

    monkeypatch.undo()
    assert_granted(await demo.refresh(visitor, answer["refresh_token"]))


def replaced(before, rotated):
    hashes = {"refresh.current_hash": before.refresh.current_hash}
    expected = {"refresh.current_hash": rotated.refresh.current_hash}
    return Update(AUTHORIZATIONS, before.id, set=hashes, expect=expected)


@pytest.mark.promise("faults: unanswered tokens")
async def test_a_code_whose_tokens_reached_nobody_is_redeemed_again(
    server, visitor, demo, outage, over
):
    page = await demo.sign_in(visitor, *server.user)
    outage.is_out = True
    unavailable(await demo.redeem(visitor, page.answer["code"]))
    unavailable(await demo.redeem(visitor, page.answer["code"]))
    await over()
    answer = assert_granted(await demo.redeem(visitor, page.answer["code"]))

    assert (await demo.userinfo(visitor, answer["access_token"])).status == 200
    assert_granted(await demo.refresh(visitor, answer["refresh_token"]))


async def test_a_code_that_was_redeemed_again_is_used_up(server, visitor, demo, outage, over):
    page = await demo.sign_in(visitor, *server.user)
    outage.is_out = True
    await demo.redeem(visitor, page.answer["code"])
    await over()
    answer = assert_granted(await demo.redeem(visitor, page.answer["code"]))

    assert_refused(await demo.redeem(visitor, page.answer["code"]), 400, "invalid_grant")
    assert (await demo.userinfo(visitor, answer["access_token"])).status == 401


@pytest.mark.promise("faults: unanswered tokens")
async def test_a_code_whose_tokens_reached_no_one_still_expires(
    server, visitor, demo, outage, over
):
    page = await demo.sign_in(visitor, *server.user)
    outage.is_out = True
    await demo.redeem(visitor, page.answer["code"])
    await over()
    server.clock.advance(LONG)
    page = await demo.redeem(visitor, page.answer["code"])

    assert_refused(page, 400, "invalid_grant")
    assert page.json()["error_description"] == "the code has expired"


async def test_a_code_whose_refresh_token_was_used_has_been_answered(
    server, visitor, demo, outage, over
):
    page = await demo.sign_in(visitor, *server.user)
    answer = assert_granted(await demo.redeem(visitor, page.answer["code"]))
    assert_granted(await demo.refresh(visitor, answer["refresh_token"]))
    authorization = await server.store.get(AUTHORIZATIONS, id_of(answer))
    lost = {"code.unanswered_at": authorization.code.redeemed_at}
    await server.store.commit(Update(AUTHORIZATIONS, authorization.id, set=lost))

    assert_refused(await demo.redeem(visitor, page.answer["code"]), 400, "invalid_grant")


@pytest.mark.promise("faults: unanswered tokens")
async def test_a_device_code_whose_tokens_reached_nobody_is_redeemed_again(
    server, visitor, new_visitor, outage, over
):
    party = await server.register("Television", grant_types=GRANTS)
    device = Device(party, new_visitor())
    device.visitor.may_fail = True
    await device.begin()
    page = await at_confirmation(visitor, device.answer["user_code"], server.user)
    await visitor.submit(page, decision="allow")
    server.clock.advance(5)
    outage.is_out = True
    unavailable(await device.poll())
    await over()
    server.clock.advance(5)
    assert_granted(await device.poll())
    server.clock.advance(5)

    assert_refused(await device.poll(), 400, "invalid_grant")


async def test_a_client_that_left_before_the_answer_may_repeat_its_request(
    server, visitor, demo, monkeypatch
):
    tokens = await demo.tokens(visitor, *server.user)
    begun, may_answer = asyncio.Event(), asyncio.Event()

    async def slow(*request):
        response = await respond(*request)
        begun.set()
        await may_answer.wait()
        return response

    respond = grants.respond
    with monkeypatch.context() as patch:
        patch.setattr("handlers.protocol.token.grants.respond", slow)
        async with opened(server, raw_refresh(server, demo, tokens)):
            await begun.wait()
        await server.app.drained(patience.SECONDS)
        may_answer.set()
        await until(lambda: is_recorded(server, tokens))
    server.clock.advance(LONG)

    assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))


def raw_refresh(server, demo, tokens):
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    body = urlencode(form).encode()
    lines = [f"Content-Type: {FORM}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in demo.basic().items()]
    return head(server, "POST", "/oauth/v2/token", *lines) + body


async def is_recorded(server, tokens):
    refresh = (await server.store.get(AUTHORIZATIONS, id_of(tokens))).refresh
    return refresh.unanswered_hash == refresh.current_hash


def id_of(tokens):
    return opaque_tokens.split(tokens["refresh_token"], 2)[0]


async def test_while_it_is_not_recorded_what_was_lost_nothing_is_taken_for_a_replay(
    server, visitor, demo, outage, timer
):
    tokens = await demo.tokens(visitor, *server.user)
    outage.is_out = True
    await demo.refresh(visitor, tokens["refresh_token"])
    await timer.advance(0)
    outage.is_out, server.store.failed_at = False, -math.inf
    unavailable(await demo.refresh(visitor, tokens["refresh_token"]))
    await timer.advance(lost_answers.RETRY_SECONDS)
    await until(lambda: not server.service.background_tasks.has_waiting)

    assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))
