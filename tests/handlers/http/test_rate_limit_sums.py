"""Counts of refused credentials in several processes: what they write, and when they agree."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import replace
from datetime import timedelta

import pytest

from idp.background import schedule as background_schedule
from idp.credentials import rate_limits
from idp.limits.refused_counts import MAX_KEYS, WINDOW, RefusedCounts
from storage import COUNTERS, Unavailable, Unit, Unknown
from tests.support.clock import SteppingClock
from tests.support.management.callers import Caller, instance_owner, refused
from tests.support.store.both_stores import settings as stores  # noqa: F401 - a fixture

PROJECTS = "/management/v1/projects"
USERINFO = "/oidc/v1/userinfo"
TOKEN = "/oauth/v2/token"
LIMIT = 3
ADDRESS = "192.0.2.1"
COMMANDS = ("get", "get_many", "get_following", "find", "commit", "increment")


@pytest.fixture
def settings(stores):  # noqa: F811
    return stores | {"refused_credentials_limit": LIMIT, "trusted_proxies": ("127.0.0.1",)}


@pytest.fixture
def other(server):
    """The service of another process over the same store."""
    return replace(server.service, refused=RefusedCounts())


@pytest.fixture
def commands(server, monkeypatch):
    """The names of the store's commands from now on, without those of which one is made up."""
    made, is_inside = [], ContextVar("is_inside", default=False)

    def counting(name):
        before = getattr(type(server.store), name)

        async def command(store, *arguments, **more):
            if is_inside.get():
                return await before(store, *arguments, **more)
            made.append(name)
            token = is_inside.set(True)
            try:
                return await before(store, *arguments, **more)
            finally:
                is_inside.reset(token)

        return command

    for name in COMMANDS:
        monkeypatch.setattr(type(server.store), name, counting(name))
    return made


async def sums(server):
    return {one.id: one.n async for one in server.store.scan(COUNTERS) if "refused:" in one.id}


@pytest.mark.promise("credentials: refused credentials")
async def test_two_processes_agree_once_both_have_written(server, other):
    here = server.service
    for _ in range(2):
        assert rate_limits.refused_token(here, ADDRESS) == 0
        assert rate_limits.refused_token(other, ADDRESS) == 0
    for _ in range(2):
        await asyncio.gather(rate_limits.flush(here), rate_limits.flush(other))
        rate_limits.refused_token(here, ADDRESS)
        rate_limits.refused_token(other, ADDRESS)

    assert 0 < rate_limits.refused_token(here, ADDRESS) <= 600
    assert 0 < rate_limits.refused_token(other, ADDRESS) <= 600
    server.clock.advance(WINDOW)
    assert rate_limits.refused_token(here, ADDRESS) == 0
    assert rate_limits.refused_token(other, ADDRESS) == 0


async def test_a_process_that_saw_one_guess_knows_the_others_sum_after_its_next_write(
    server, other
):
    for _ in range(LIMIT + 1):
        rate_limits.refused_client(server.service, "a", ADDRESS)
    await rate_limits.flush(server.service)

    assert rate_limits.refused_client(other, "a", ADDRESS) == 0
    await rate_limits.flush(other)
    assert rate_limits.refused_client(other, "a", ADDRESS) > 0


async def test_a_changed_key_is_one_write_and_an_unchanged_one_none(server, commands):
    for _ in range(LIMIT):
        rate_limits.refused_token(server.service, ADDRESS)
        rate_limits.refused_client(server.service, "a", ADDRESS)
    assert commands == []
    await rate_limits.flush(server.service)
    assert commands == ["increment", "increment"]
    await rate_limits.flush(server.service)

    assert commands == ["increment", "increment"]
    assert set((await sums(server)).values()) == {LIMIT}


@pytest.mark.promise("credentials: refused credentials")
async def test_a_guess_past_the_limit_costs_the_store_nothing(server, visitor, commands):
    guesser = Caller(visitor, "idp_pat_wrong")
    for _ in range(LIMIT + 1):
        await guesser.post(PROJECTS, {})
    await rate_limits.flush(server.service)
    commands.clear()

    for _ in range(3):
        refused(await guesser.post(PROJECTS, {}), 429, 8)
    await rate_limits.flush(server.service)

    assert commands == []


@pytest.mark.promise("credentials: refused credentials")
async def test_a_wrong_secret_past_the_limit_is_read_for_and_written_nowhere(
    server, visitor, commands
):
    app = await server.register(grant_types=["client_credentials"])
    form = {"grant_type": "client_credentials", "client_id": app.client_id}
    wrong = form | {"client_secret": "wrong"}
    for _ in range(LIMIT + 1):
        await visitor.post(TOKEN, wrong)
    await rate_limits.flush(server.service)
    commands.clear()
    page = await visitor.post(TOKEN, wrong)
    await rate_limits.flush(server.service)

    assert page.status == 429
    assert commands == ["get_following"]  # a right secret is let in whatever was counted
    assert (await app.token(visitor, {"grant_type": "client_credentials"})).status == 200


@pytest.mark.promise("credentials: refused credentials")
async def test_wrong_tokens_at_userinfo_count_with_those_at_the_api(server, visitor):
    owner = await instance_owner(server, visitor)
    wrong = {"Authorization": "Bearer idp_pat_wrong"}
    for _ in range(LIMIT - 1):
        assert (await visitor.get(USERINFO, headers=wrong)).status == 401
    refused(await Caller(visitor, "idp_pat_wrong").post(PROJECTS, {}), 401, 16)
    page = await visitor.get(USERINFO, headers=wrong)

    assert (page.status, page.json()["error"]) == (429, "invalid_token")
    assert 0 < int(page.headers["Retry-After"]) <= 600
    assert "WWW-Authenticate" not in page.headers
    for _ in range(LIMIT + 1):
        assert (await visitor.get(USERINFO)).status == 401  # without a token nothing is guessed
    right = {"Authorization": f"Bearer {owner.token}"}
    assert (await visitor.get(USERINFO, headers=right)).status in (200, 403)


async def test_the_addresses_of_one_network_share_a_count(server, visitor):
    guesser = Caller(visitor, "idp_pat_wrong")
    for n in range(LIMIT + 1):
        page = await guesser.post(PROJECTS, {}, X_Forwarded_For=f"2001:db8::{n + 1}")
    refused(page, 429, 8)

    elsewhere = await guesser.post(PROJECTS, {}, X_Forwarded_For="2001:db8:0:1::1")
    refused(elsewhere, 401, 16)


async def test_the_networks_of_one_ipv6_site_have_four_times_the_limit(server, visitor, commands):
    guesser = Caller(visitor, "idp_pat_wrong")
    networks = [f"2001:db8:7:{n:x}::1" for n in range(4 * LIMIT + 20)]
    pages = [await guesser.post(PROJECTS, {}, X_Forwarded_For=each) for each in networks]
    elsewhere = await guesser.post(PROJECTS, {}, X_Forwarded_For="2001:db8:8::1")
    commands.clear()
    await rate_limits.flush(server.service)

    assert [page.status for page in pages] == [401] * 4 * LIMIT + [429] * 20
    assert 0 < int(pages[-1].headers["Retry-After"]) <= 600
    refused(elsewhere, 401, 16)
    # What was refused is counted nowhere: the networks before, their site, and another one.
    assert commands == ["increment"] * (4 * LIMIT + 1 + 1 + 2)


async def test_one_network_does_not_use_up_what_its_site_may_do(server):
    for _ in range(10 * LIMIT):
        rate_limits.refused_client(server.service, "a", "2001:db8::1")
    assert rate_limits.refused_client(server.service, "a", "2001:db8::1") > 0

    assert rate_limits.refused_client(server.service, "a", "2001:db8:0:1::1") == 0


def test_counts_that_are_used_stay_beyond_the_most_keys():
    counts, now = RefusedCounts(), SteppingClock().now()
    for n in range(MAX_KEYS + 100):
        counts.count("used", now, 10**9)
        counts.count(f"other {n}", now, 10**9)

    assert len(counts) == MAX_KEYS
    assert counts.find("used", now).sum == MAX_KEYS + 100
    assert counts.find("other 0", now) is None


@pytest.mark.promise("credentials: refused credentials")
async def test_invented_client_ids_have_one_count_of_their_network(server, visitor):
    for n in range(LIMIT + 1):
        form = {"grant_type": "client_credentials", "client_id": f"x{n}", "client_secret": "y"}
        page = await visitor.post(TOKEN, form)
    await rate_limits.flush(server.service)

    assert page.status == 429
    assert list((await sums(server)).values()) == [LIMIT + 1]


@pytest.mark.parametrize(
    ("failure", "kept"), [(Unavailable("away"), 2), (Unknown(Unit("u", ())), 1)]
)
async def test_a_count_that_was_not_written_is_written_later_and_none_twice(
    server, monkeypatch, failure, kept
):
    async def fails(*_, **__):
        raise failure

    rate_limits.refused_token(server.service, ADDRESS)
    with monkeypatch.context() as patched:
        patched.setattr(type(server.store), "increment", fails)
        await rate_limits.flush(server.service)
    rate_limits.refused_token(server.service, ADDRESS)
    await rate_limits.flush(server.service)

    assert list((await sums(server)).values()) == [kept]


async def test_what_was_counted_last_is_written_when_the_service_ends(server):
    async with background_schedule.running(server.service):
        rate_limits.refused_token(server.service, ADDRESS)

    assert list((await sums(server)).values()) == [1]


async def test_memory_is_bounded_and_the_oldest_counts_make_room(server):
    counts, now = RefusedCounts(), server.clock.now()
    for n in range(MAX_KEYS + 5):
        counts.count(f"k{n}", now, LIMIT)

    assert len(counts) == MAX_KEYS
    assert len(counts.take(now)) == MAX_KEYS
    assert counts.take(now) == []
    counts.count("k9", now, LIMIT)
    assert counts.take(now + timedelta(hours=1)) == []  # its window has ended
