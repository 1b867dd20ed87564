"""Logout tokens of the running program: once from several processes, and even after a crash."""

from __future__ import annotations

import httpx
import pytest

from idp.foundation.clock import SystemClock
from idp.foundation.randomness import SystemRandom
from idp.records import ALL, LOGOUT_MESSAGES, SCHEMA
from storage import open_store
from tests.flows.conftest import at
from tests.support.attacks.forged import part
from tests.support.programs.program import eventually
from tests.support.servers.mongod import fresh_database
from tests.support.servers.receiver import verified

BYE = "https://client.example/bye"
SLOW = pytest.mark.gen_test(timeout=90)


@pytest.fixture(params=["sqlite", "mongodb"])
def store(request):
    """The flags that name a store."""
    if request.param == "sqlite":
        yield ()
        return
    with fresh_database(request.getfixturevalue("mongod")) as url:
        yield ("--store", url)


async def registered(program, receiver):
    """An application with a back-channel address, in the program's store."""
    place = await at(program)
    party = await place.register(
        post_logout_redirect_uris=[BYE], back_channel_logout_uri=receiver.url
    )
    await place.store.close()
    return party


async def states(url):
    """The states of all messages in a store that no program has open."""
    store = open_store(url, now=SystemClock().now, new_id=SystemRandom().id)
    await store.open(ALL, SCHEMA)
    found = [one.state async for one in store.scan(LOGOUT_MESSAGES)]
    await store.close()
    return found


@pytest.mark.promise("logout: repeated logout tokens")
@SLOW
async def test_of_several_processes_one_sends_each_message(
    store, start_program, open_browser, new_receiver
):
    program, receiver = start_program("--processes", "2", *store), new_receiver()
    party = await registered(program, receiver)
    sids = set()
    for _ in range(5):
        browser = open_browser(program)
        tokens = await party.tokens(browser, *program.user)
        sids.add(part(tokens["id_token"], 1)["sid"])
        page = await browser.get(party.logout_url(id_token_hint=tokens["id_token"]))
        assert page.location == BYE
    eventually(lambda: len(receiver.calls) >= 5, "the calls")
    keys = (await browser.get("/oauth/v2/keys")).text
    program.stop()

    claims = [verified(call.token, keys)[1] for call in receiver.calls]
    assert len(claims) == 5
    assert {each["sid"] for each in claims} == sids
    assert await states(program.announcement["store"]) == ["delivered"] * 5


@pytest.mark.promise("logout: repeated logout tokens")
@SLOW
async def test_what_a_killed_process_had_not_been_answered_is_sent_by_the_next(
    start_program, open_browser, new_receiver, tmp_path
):
    store = ("--store", f"sqlite:///{tmp_path}/idp.sqlite3", "--data", str(tmp_path), "--test")
    first, receiver = start_program(*store), new_receiver(holds=True)
    party = await registered(first, receiver)
    browser = open_browser(first)
    tokens = await party.tokens(browser, *first.user)
    page = await browser.get(party.logout_url(id_token_hint=tokens["id_token"]))
    assert page.status == 303
    receiver.wait_for_a_call()
    first.kill()
    receiver.release()

    second = start_program(*store)
    answer = httpx.post(f"{second.issuer}/test/clock", content='{"advance": "31s"}')
    assert answer.status_code == 200
    eventually(lambda: len(receiver.calls) == 2, "the second attempt")
    second.stop()

    one, other = (part(call.token, 1) for call in receiver.calls)
    assert one["jti"] == other["jti"]
    assert await states(second.announcement["store"]) == ["delivered"]


@SLOW
async def test_a_stop_waits_for_the_call_under_way(start_program, open_browser, new_receiver):
    program, receiver = start_program(), new_receiver(holds=True)
    party = await registered(program, receiver)
    browser = open_browser(program)
    tokens = await party.tokens(browser, *program.user)
    await browser.get(party.logout_url(id_token_hint=tokens["id_token"]))
    receiver.wait_for_a_call()
    program.signal()
    receiver.release()
    program.wait()

    assert await states(program.announcement["store"]) == ["delivered"]
