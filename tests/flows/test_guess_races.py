"""Guesses at one moment, from two services over one store, and across kills of their process."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import traceback
from dataclasses import replace
from datetime import timedelta

import pytest

from idp.foundation.background_tasks import BackgroundTasks
from idp.foundation.randomness import SystemRandom
from idp.identity.sessions import password_check
from idp.limits.comparisons import Comparisons
from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from idp.passwords.hashing import Hasher
from idp.records import (
    ALL,
    FAILURE_STREAKS,
    LOGIN_NAME_BACKOFFS,
    SCHEMA,
    USERS,
    FailureStreak,
)
from storage import COUNTERS, Insert, open_store
from tests.support.clock import SteppingClock
from tests.support.service import make_hashes_cheap, start_server, stop_server

WRONG = "a wrong password"

TRIES_AT_ONCE = [60, *(pytest.param(n, marks=pytest.mark.load) for n in (120, 200))]


class Twins:
    """Two services over one store, each with what a process has for itself."""

    def __init__(self, server, other):
        self.server, self.services = server, (server.service, other)
        self.clock, self.store = server.clock, server.store
        self.compared = 0
        for service in self.services:
            self._count(service.hasher)

    def _count(self, hasher):
        real = hasher.verify

        async def verify(password, encoded):
            self.compared += 1
            return await real(password, encoded)

        hasher.verify = verify

    async def tries(self, password, name=None, addresses=("192.0.2.1",), **origin):
        """One try for each address, at both services at once; what became of each."""
        name = name or self.server.user[0]
        turns = itertools.cycle(self.services)
        return await asyncio.gather(
            *[
                attempt(service, name, password, AttemptOrigin(address, **origin))
                for service, address in zip(turns, addresses, strict=False)
            ]
        )

    async def background_tasks_finished(self):
        for service in self.services:
            await service.background_tasks.finished()


async def attempt(service, name, password, origin) -> str:
    try:
        checked = await password_check.check_password(service, name, password, origin)
    except password_check.SignInRefused as refused:
        return refused.cause
    except Throttled as refused:
        return refused.cause
    await password_check.succeeded(service, checked)
    return "right"


@pytest.fixture(params=["sqlite", "mongodb"])
def url(request, tmp_path):
    """Where a store is that several processes can open."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/idp.sqlite3"
    return request.getfixturevalue("emptied_mongodb")


@pytest.fixture
def settings():
    return {}


@pytest.fixture
def twins(url, io_loop, monkeypatch, settings):
    make_hashes_cheap(monkeypatch)
    server, http = io_loop.run_sync(lambda: start_server(SteppingClock(), store=url, **settings))
    service = server.service
    second = open_store(url, now=server.clock.now, new_id=service.random.id)
    io_loop.run_sync(lambda: second.open(ALL, SCHEMA))
    other = replace(
        service,
        store=second,
        hasher=Hasher(service.config, service.random),
        comparisons=Comparisons(),
        background_tasks=BackgroundTasks(),
    )
    yield Twins(server, other)
    io_loop.run_sync(other.background_tasks.finished)
    other.hasher.close()
    io_loop.run_sync(second.close)
    io_loop.run_sync(lambda: stop_server(server, http))


async def user_of(server):
    page = await server.store.find(USERS, {"login_key": server.user[0]})
    return page.records[0]


# At one moment


@pytest.mark.promise("guessing: passwords")
@pytest.mark.parametrize("at_once", TRIES_AT_ONCE)
@pytest.mark.parametrize("is_spread", [False, True], ids=["one address", "as many addresses"])
async def test_of_many_wrong_passwords_at_once_two_services_compare_at_most_six(
    twins, at_once, is_spread
):
    addresses = [f"198.51.100.{n if is_spread else 1}" for n in range(at_once)]
    outcomes = await twins.tries(WRONG, addresses=addresses)

    assert 5 <= twins.compared <= 6
    assert outcomes.count("wrong") == twins.compared
    assert set(outcomes) <= {"wrong", "paced", "network"}
    streak = await twins.store.get(FAILURE_STREAKS, (await user_of(twins.server)).id)
    assert streak.unknown == twins.compared


@pytest.mark.full
@pytest.mark.promise("guessing: passwords")
@pytest.mark.load("mongodb")
@pytest.mark.parametrize("rounds", [150, pytest.param(1250, marks=pytest.mark.load)])
async def test_four_hours_of_guesses_at_two_services_compare_at_most_fifty(twins, rounds):
    step = timedelta(hours=4) / rounds
    for n in range(rounds):
        addresses = [f"198.{18 + n // 250}.{n % 250}.{each}" for each in range(8)]
        await twins.tries(WRONG, addresses=addresses)
        twins.clock.advance(step)

    assert twins.compared == 50


@pytest.mark.promise("guessing: passwords")
async def test_at_the_bound_two_services_compare_no_more_than_it_lets(twins):
    user = await user_of(twins.server)
    await twins.store.commit(Insert(FAILURE_STREAKS, FailureStreak(id=user.id, unknown=48)))
    addresses = [f"198.51.100.{n}" for n in range(60)]
    outcomes = await twins.tries(WRONG, addresses=addresses)

    assert outcomes.count("wrong") == twins.compared == 2
    assert "closed" in outcomes


@pytest.mark.promise("guessing: lockout")
async def test_a_policy_that_locks_lets_no_more_passwords_be_compared_than_it_says(twins):
    from idp.policies import effective
    from idp.records import POLICIES, LockoutRules, Policy

    now = twins.clock.now()
    policy = Policy(
        id=effective.policy_id(None, "lockout"),
        kind="lockout",
        rules=LockoutRules(max_password_attempts=3, lockout_seconds=60),
        created_at=now,
        changed_at=now,
    )
    await twins.store.commit(Insert(POLICIES, policy))
    outcomes = await twins.tries(WRONG, addresses=[f"198.51.100.{n}" for n in range(60)])
    await twins.background_tasks_finished()
    user = await user_of(twins.server)
    locked = await twins.tries(twins.server.user[1], addresses=["192.0.2.9"])
    stamp, twins.compared = user.stamp, 0
    twins.clock.advance(60)
    right = await twins.tries(twins.server.user[1], addresses=["192.0.2.8"])
    after = await user_of(twins.server)

    assert outcomes.count("wrong") == 3
    assert "locked" in outcomes
    assert (user.state, user.locked_until) == ("locked", now + timedelta(seconds=60))
    assert locked != ["right"]
    assert right == ["right"]
    assert (after.state, after.stamp, after.locked_until) == ("active", stamp, None)


@pytest.mark.promise("guessing: networks")
async def test_behind_one_address_nineteen_get_in_after_twenty_five_mistakes(twins):
    people = [await twins.server.copy_user(f"person{n}") for n in range(19)]
    for n in range(25):
        assert await twins.tries(WRONG, name=f"typo{n}") == ["wrong" if n < 0 else "unknown"]
    outcomes = await asyncio.gather(
        *[twins.tries(password, name=name) for name, password in people]
    )

    assert outcomes == [["right"]] * 19


@pytest.mark.promise("guessing: networks")
async def test_an_account_counts_once_for_attempts_from_one_network_at_one_moment(twins):
    outcomes = await twins.tries(WRONG, addresses=["192.0.2.1"] * 5)
    network = await twins.store.get(COUNTERS, "spray:192.0.2.1")

    assert outcomes == ["wrong"] * 5
    assert network.n == 1


# What it costs


class Commands:
    """Counts what a store is asked to write and to read."""

    def __init__(self, monkeypatch, store):
        self.found = []
        for name in ("commit", "increment", "commit_each", "get_many", "find"):
            self._count(monkeypatch, store, name)

    def _count(self, monkeypatch, store, name):
        real = getattr(store, name)

        async def counted(*args, **options):
            self.found.append(name)
            return await real(*args, **options)

        monkeypatch.setattr(store, name, counted)

    def taken(self):
        """How many writes since the last time."""
        found, self.found = self.found, []
        return sum(name not in ("get_many", "find") for name in found)


@pytest.mark.promise("guessing: passwords")
async def test_a_clean_sign_in_costs_two_writes_a_mistake_four_and_a_refusal_none(
    twins, monkeypatch
):
    commands = Commands(monkeypatch, twins.store)
    service, (name, password) = twins.services[0], twins.server.user
    origin = AttemptOrigin("192.0.2.1")
    costs = {}
    for what, typed in [("clean", password), *[(n, WRONG) for n in range(1, 8)]]:
        commands.taken()
        outcome = await attempt(service, name, typed, origin)
        costs[what] = (outcome, commands.taken())

    assert costs["clean"] == ("right", 2)
    assert costs[1] == ("wrong", 4), "two of them count the network"
    assert [costs[n] for n in (2, 3, 4, 5, 6)] == [("wrong", 2)] * 5
    assert costs[7] == ("paced", 0)


@pytest.mark.promise("guessing: closed")
async def test_an_unknown_name_costs_as_many_writes_as_a_wrong_password(twins, monkeypatch):
    commands = Commands(monkeypatch, twins.store)
    service, origin = twins.services[0], AttemptOrigin("192.0.2.1")
    costs = {}
    for name in (twins.server.user[0], "nobody"):
        costs[name] = []
        for _ in range(7):
            commands.taken()
            await attempt(service, name, WRONG, origin)
            costs[name].append(commands.taken())
    known, unknown = costs.values()
    kept = [one.id async for one in twins.store.scan(FAILURE_STREAKS)]

    assert known == unknown
    assert kept == [(await user_of(twins.server)).id]


# Kills


STEPS = ("read", "counted", "compared", "wrong")


def die_after(service, step):
    """Let the process die as soon as it has done a step of its next try."""

    def mortal(owner, name, when=lambda *_: True):
        real = getattr(owner, name)

        async def done(*args, **options):
            answer = await real(*args, **options)
            if when(*args):
                os.kill(os.getpid(), signal.SIGKILL)
            return answer

        setattr(owner, name, done)

    if step == "read":
        mortal(
            service.store, "get_many", lambda keys: any(c is LOGIN_NAME_BACKOFFS for c, _ in keys)
        )
    elif step == "counted":
        mortal(service.store, "commit", lambda write, *_: write.collection is LOGIN_NAME_BACKOFFS)
    elif step == "compared":
        mortal(service.hasher, "verify")
    else:
        mortal(service.store, "commit", lambda write, *_: write.collection is FAILURE_STREAKS)


async def try_once(service, url, at, step, comparisons):
    """What the child does: one try, in which it is killed; each comparison is an octet."""
    # Each child would draw the same ids from a copy of its parent's random.
    store = open_store(url, now=service.clock.now, new_id=SystemRandom().id)
    await store.open(ALL, None)
    hasher = Hasher(service.config, service.random)
    real = hasher.verify

    async def verify(password, encoded):
        os.write(comparisons, b".")
        return await real(password, encoded)

    hasher.verify = verify
    child = replace(service, store=store, hasher=hasher, comparisons=Comparisons())
    die_after(child, step)
    await attempt(child, "demo", WRONG, AttemptOrigin(f"198.51.{at // 250}.{at % 250}"))
    hasher.close()
    await store.close()


def killed(service, url, at, step, comparisons) -> bool:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            asyncio.run(try_once(service, url, at, step, comparisons))
            code = 0
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status) == signal.SIGKILL
    assert os.WEXITSTATUS(status) == 0
    return False


TIMES = [pytest.param(40, id="40"), pytest.param(300, id="300", marks=pytest.mark.load)]


@pytest.mark.full
@pytest.mark.promise("guessing: passwords")
@pytest.mark.load("mongodb")
@pytest.mark.parametrize("step", [*STEPS, "each"])
@pytest.mark.parametrize("times", TIMES)
def test_no_kill_lets_more_than_a_hundred_be_compared(url, monkeypatch, times, step):
    make_hashes_cheap(monkeypatch)
    clock = SteppingClock()

    async def prepare():
        server, http = await start_server(clock, store=url)
        await stop_server(server, http)
        return server.service

    service = asyncio.run(prepare())
    seen, comparisons = os.pipe()
    os.set_blocking(seen, False)
    kills = 0
    for at, each in zip(range(times), itertools.cycle(STEPS), strict=False):
        kills += killed(service, url, at, each if step == "each" else step, comparisons)
        clock.advance(60)
    os.write(comparisons, b".")

    assert len(os.read(seen, 10_000)) - 1 <= 56
    assert kills >= min(times, 40) * (1 if step != "each" else 0.5) - 1
    os.close(seen)
    os.close(comparisons)
