"""What bounds guesses beside the pace of one password: codes, turns of a network, refused tries.
From two services over one store."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from idp.foundation.errors import IdpError
from idp.identity.factors import code_checks
from idp.identity.sessions import known_browsers, password_check
from idp.limits.comparisons import MAX_CONCURRENT
from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from idp.records import FAILURE_STREAKS, LOGIN_NAME_BACKOFFS, Browser
from storage import COUNTERS
from tests.flows.test_guess_races import (
    TRIES_AT_ONCE,
    WRONG,
    attempt,
    settings,
    twins,
    url,
    user_of,
)
from tests.support.patience import loop_turns
from tests.support.sign_in.factors import code, give_app, give_codes, wrong
from tests.support.store.stored import count

__all__ = ["settings", "twins", "url"]

ORIGIN = AttemptOrigin("192.0.2.1")


async def outcome(check, *args) -> str:
    """What became of a code."""
    try:
        await check(*args)
    except Throttled as refused:
        return refused.cause
    except IdpError as refused:
        return refused.error_code
    return "right"


@pytest.mark.promise("guessing: codes")
@pytest.mark.parametrize("at_once", TRIES_AT_ONCE)
@pytest.mark.parametrize("kind", ["app", "recovery code"])
async def test_of_many_one_time_codes_at_once_two_services_compare_at_most_six(
    twins, monkeypatch, kind, at_once
):
    await give_app(twins.server)
    await give_codes(twins.server)
    checks = {
        "app": (code_checks.by_totp, code_checks.totp, "step_of", wrong(twins.clock)),
        "recovery code": (
            code_checks.by_recovery_code,
            code_checks.recovery_codes,
            "use_writes",
            "AAAA-BBBB-CCCC",
        ),
    }
    check, module, name, typed = checks[kind]
    compared, real = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *a, **k: compared.append(1) or real(*a, **k))
    user = await user_of(twins.server)
    services = itertools.islice(itertools.cycle(twins.services), at_once)
    outcomes = await asyncio.gather(
        *(outcome(check, service, user, typed, ORIGIN) for service in services)
    )
    right = await outcome(
        code_checks.by_totp, twins.server.service, user, code(twins.clock), ORIGIN
    )

    assert 5 <= len(compared) <= 6
    assert outcomes.count("code.wrong") == len(compared)
    assert set(outcomes) == {"code.wrong", "paced"}
    assert right == ("paced" if kind == "app" else "right")


@pytest.mark.promise("guessing: networks")
@pytest.mark.parametrize(
    ("address", "at_once"),
    [("2001:db8::%x", MAX_CONCURRENT), ("2001:db8:1:%x::1", 4 * MAX_CONCURRENT)],
    ids=["a network", "a site"],
)
async def test_of_one_network_eight_tries_at_once_are_compared_in_a_process(
    twins, monkeypatch, address, at_once
):
    """Tries at accounts of their own, none of which waits for its pace."""
    most, under_way = {service: 0 for service in map(id, twins.services)}, {}
    turn = asyncio.Event()

    def counting(service):
        real = service.hasher.verify_decoy

        async def verify_decoy(password):
            under_way[id(service)] = under_way.get(id(service), 0) + 1
            most[id(service)] = max(most[id(service)], under_way[id(service)])
            await turn.wait()
            under_way[id(service)] -= 1
            return await real(password)

        monkeypatch.setattr(service.hasher, "verify_decoy", verify_decoy)

    for service in twins.services:
        counting(service)
    tries = [
        asyncio.ensure_future(attempt(service, f"nobody-{n}", WRONG, AttemptOrigin(address % n)))
        for n, service in zip(range(2 * at_once + 16), itertools.cycle(twins.services))
    ]
    while sum(under_way.values()) < 2 * at_once:
        assert not [each.result() for each in tries if each.done()]
        await asyncio.sleep(0)
    await loop_turns(50)
    held = dict(under_way)
    turn.set()
    outcomes = await asyncio.gather(*tries)

    assert MAX_CONCURRENT == 8
    assert list(held.values()) == [at_once, at_once]
    assert list(most.values()) == [at_once, at_once]
    assert set(outcomes) == {"unknown"}


@pytest.mark.promise("guessing: passwords")
@pytest.mark.gen_test(timeout=600)
@pytest.mark.parametrize("times", [500, pytest.param(10_000, marks=pytest.mark.load)])
async def test_refused_tries_at_two_services_add_no_rows(twins, times):
    addresses = [f"198.51.100.{n}" for n in range(6)]
    await twins.tries(WRONG, addresses=addresses)
    before = await rows(twins)
    for n, service in zip(range(times), itertools.cycle(twins.services)):
        origin = AttemptOrigin(f"198.18.{n // 250}.{n % 250}")
        with pytest.raises(Throttled):
            await password_check.check_password(service, twins.server.user[0], WRONG, origin)

    assert await rows(twins) == before


async def rows(twins):
    """How many records there are, and every count as it is."""
    kept = [
        {one.id: one async for one in twins.store.scan(collection)}
        for collection in (COUNTERS, LOGIN_NAME_BACKOFFS, FAILURE_STREAKS)
    ]
    return await count(twins.store), kept


@pytest.mark.full
@pytest.mark.load("mongodb")
@pytest.mark.promise("guessing: known browsers")
async def test_guesses_from_a_thousand_addresses_of_one_subnet_keep_the_owner_in(twins):
    """One in two seconds; the owner has signed in with their browser before."""
    name, password = twins.server.user
    user = await user_of(twins.server)
    now = twins.clock.now()
    browser = Browser(
        id="theirs",
        secret_hash="",
        created_at=now,
        expires_at=now,
        known=[known_browsers.entry(user)],
    )
    known = AttemptOrigin("192.0.2.1", browser=browser)
    services = itertools.cycle(twins.services)
    for n in range(1000):
        origin = AttemptOrigin(f"2001:db8::{n:x}")
        await attempt(next(services), name, WRONG, origin)
        twins.clock.advance(2)
        if n % 100 == 99:
            assert await attempt(next(services), name, password, known) == "right"
