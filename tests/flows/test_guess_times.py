"""How long the answers to refused sign-ins take: the time tells nothing of an account."""

from __future__ import annotations

import math
import statistics
import time
from contextlib import suppress

import pytest

from idp.limits import account_attempts
from idp.limits.origin import AttemptOrigin
from idp.records import (
    FAILURE_STREAKS,
    LOGIN_NAME_BACKOFFS,
    USERS,
    Email,
    FailureStreak,
)
from storage import COUNTERS, Delete, Insert, Update
from tests.flows.test_guess_races import WRONG, attempt, url, user_of
from tests.support.clock import SteppingClock
from tests.support.service import start_server, stop_server

__all__ = ["url"]


@pytest.mark.promise("guessing: closed")
@pytest.mark.load
@pytest.mark.gen_test(timeout=600)
@pytest.mark.parametrize("url", ["sqlite", "mongodb"], indirect=True)
async def test_closed_unknown_and_wrong_take_the_same_time(url, monkeypatch):
    monkeypatch.undo()
    server, http = await start_server(SteppingClock(), store=url)
    service, user = server.service, await user_of(server)
    minnie, _ = await server.copy_user("minnie")
    await server.store.commit(
        Update(USERS, user.id, set={"email": Email(address="d@example.com", is_verified=True)})
    )
    taken = {"closed": [], "wrong": [], "unknown": []}
    names = {"closed": server.user[0], "wrong": minnie, "unknown": "nobody"}
    for n in range(400):
        for what, name in names.items():
            await _begin_anew(server, closed=user.id)
            began = time.perf_counter()
            origin = AttemptOrigin(f"198.51.{n // 250}.{n % 250}")
            outcome = await attempt(service, name, WRONG, origin)
            taken[what].append(time.perf_counter() - began)
            assert outcome == what
    await stop_server(server, http)
    medians = {what: statistics.median(found) for what, found in taken.items()}
    tolerance = max(0.02 * medians["wrong"], 4 * _error_of_difference(taken["wrong"]))

    assert max(medians.values()) - min(medians.values()) < tolerance, (medians, tolerance)


def _error_of_difference(taken):
    """The standard error of the difference of two medians of as many samples as these, as their
    middle half tells it: single slow ones count for nothing."""
    lower, _, upper = statistics.quantiles(taken, n=4)
    deviation = (upper - lower) / 1.349
    return math.sqrt(2) * 1.2533 * deviation / math.sqrt(len(taken))


async def _begin_anew(server, closed):
    """Nothing is counted, but that one account is closed."""
    for collection in (COUNTERS, LOGIN_NAME_BACKOFFS, FAILURE_STREAKS):
        for one in [one.id async for one in server.store.scan(collection)]:
            await server.store.commit(Delete(collection, one))
    most = account_attempts.limits_of(server.service.config).max_unknown
    told = FailureStreak(id=closed, unknown=most, told_at=server.clock.now())
    with suppress(Exception):
        await server.store.commit(Insert(FAILURE_STREAKS, told))
