"""Events of refused attempts: which there are, what they hold, and what a kill may lose."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.audit import failure_events
from idp.background import schedule as background_schedule
from idp.identity.guesses import networks
from idp.identity.guesses import reports as guess_reports
from idp.identity.guesses.reports import Outcome
from idp.identity.sessions import password_check
from idp.limits import recent_failures
from idp.limits.origin import AttemptOrigin
from idp.limits.recent_failures import Failures, FailureSource
from idp.limits.throttled import Throttled
from idp.oauth.tokens import acting
from idp.records import EVENTS, USERS
from storage import Unavailable
from tests.support.management.callers import instance_owner
from tests.support.store.both_stores import settings  # noqa: F401 - a fixture

TOKEN = "/oauth/v2/token"
ADDRESS, NETWORK = "2001:db8::7", "2001:db8::/64"
ORIGIN = AttemptOrigin(address=ADDRESS, client_id="shop")
KINDS = {
    "user.sign_in.failed",
    "instance.sign_in.failed",
    "network.slowed",
    "client.authentication_failed",
    "token.impersonation_refused",
}


async def events(server) -> list:
    """The failure events, in the order in which they were made."""
    found = [one async for one in server.store.scan(EVENTS) if one.type in KINDS]
    return sorted(found, key=lambda event: event.id)


async def flush(server, **after):
    """Let time pass, and write what is due then."""
    server.clock.advance(timedelta(**after))
    await failure_events.flush(server.service)


async def guess(server, name: str, times: int, origin=ORIGIN) -> None:
    for _ in range(times):
        with pytest.raises((password_check.SignInRefused, Throttled)):
            await password_check.check_password(server.service, name, "wrong pass phrase", origin)


@pytest.fixture
def people(io_loop, server):
    """Three people with passwords: their ids by their login names."""

    async def make():
        made = {}
        for name in ("ada@example.com", "bob@example.com", "cyd@example.com"):
            await server.copy_user(name)
            made[name] = (await server.store.find(USERS, {"login_key": name})).records[0].id
        return made

    return io_loop.run_sync(make)


@pytest.mark.promise("credentials: events")
async def test_45_failures_of_3_people_and_7_nobodies_are_7_events_that_name_the_3(server, people):
    for name in people:
        await guess(server, name, 5)
    for n in range(7):
        await guess(server, f"nobody-{n}", 5 if n < 2 else 4)
    await flush(server)
    await flush(server, minutes=10)
    found = await events(server)

    of_people = [one for one in found if one.type == "user.sign_in.failed"]
    (of_nobody,) = [one for one in found if one.type == "instance.sign_in.failed"]
    assert len(found) == len(of_people) + 1 <= 7
    assert {one.record_id for one in of_people} == set(people.values())
    assert sum(int(dict(one.payload)["count"]) for one in of_people) == 15
    assert dict(of_nobody.payload) == {"count": "30", "names": "7", "networks": "1"}
    everything = str(found)
    assert not any(name in everything for name in (*people, "nobody-", "wrong pass phrase"))


@pytest.mark.promise("credentials: events")
async def test_the_first_is_an_event_at_once_and_the_others_are_one(server, people):
    name, id = next(iter(people.items()))
    at = server.clock.now()
    await guess(server, name, 1)
    await flush(server)
    (first,) = await events(server)
    await guess(server, name, 2)
    await flush(server, minutes=1)
    await flush(server, minutes=10)
    _, later = await events(server)

    instant = f"{at:%Y-%m-%dT%H:%M:%SZ}"
    what = {"cause": "wrong", "network": NETWORK, "clientId": "shop", "count": "1"}
    assert dict(first.payload) == what | {"since": instant, "until": instant}
    assert dict(later.payload) == what | {"count": "2", "since": instant, "until": instant}
    user = await server.store.get(USERS, id)
    assert {(one.org_id, one.sequence, one.actor) for one in (first, later)} == {
        (user.org_id, 0, "anonymous")
    }


@pytest.mark.promise("credentials: events")
async def test_a_sum_is_written_within_a_minute_and_grows_as_one_event(server, people):
    name = next(iter(people))
    await guess(server, name, 2)
    await flush(server)
    for minute in range(1, 9):
        await flush(server, minutes=1)
        (_, grown) = await events(server)
        assert dict(grown.payload)["count"] == str(minute)
        guess_reports.report(
            server.service, Outcome("wrong", "password", ORIGIN, people[name], name)
        )
    await flush(server, minutes=2)
    await flush(server, minutes=30)

    assert [dict(one.payload)["count"] for one in await events(server)] == ["1", "9"]


async def test_a_sum_is_written_within_a_minute_after_the_clock_was_set_back(server, people):
    await guess(server, next(iter(people)), 3)
    await flush(server)
    await flush(server, hours=-2)

    assert [dict(one.payload)["count"] for one in await events(server)] == ["2", "1"]


async def test_each_cause_and_each_network_has_events_of_its_own(server, people):
    id = next(iter(people.values()))
    for cause in ("wrong", "closed", "paced", "network", "locked"):
        for address in ("192.0.2.1", "192.0.2.2"):
            origin = AttemptOrigin(address=address)
            guess_reports.report(server.service, Outcome(cause, "password", origin, id))
    await flush(server)

    told = {
        (dict(one.payload)["cause"], dict(one.payload)["network"]) for one in await events(server)
    }
    assert len(told) == 10
    assert all(one.record_id == id for one in await events(server))


@pytest.mark.promise("credentials: events")
async def test_a_slowed_network_is_an_event_once(server):
    origin = AttemptOrigin(address="192.0.2.1")
    (network,) = networks.networks_of(server.service, origin)
    for n in range(network.max_failed + 3):
        found = networks.counted([network], [None, None, None])
        await networks.failed(server.service, found, f"account-{n}")
    await flush(server)
    await flush(server, minutes=10)
    (event,) = await events(server)

    payload = dict(event.payload)
    assert (event.type, event.collection) == ("network.slowed", "instance")
    assert set(payload) == {"network", "accounts", "until"}
    assert (payload["network"], payload["accounts"]) == ("192.0.2.1", str(network.max_failed))


@pytest.mark.promise("credentials: events")
async def test_a_client_that_failed_is_named_where_it_exists(server, visitor):
    app = await server.register(grant_types=["client_credentials"])
    form = {"grant_type": "client_credentials", "client_secret": "my own secret"}
    for id in (app.client_id, app.client_id, "invented-name"):
        assert (await visitor.post(TOKEN, form | {"client_id": id})).status == 400
    await flush(server)
    await flush(server, minutes=10)
    found = await events(server)

    assert {one.type for one in found} == {"client.authentication_failed"}
    told = [(dict(one.payload)["clientId"], dict(one.payload)["count"]) for one in found]
    assert sorted(told) == sorted([(app.client_id, "1"), (app.client_id, "1"), ("", "1")])
    assert all(
        set(dict(one.payload)) == {"count", "since", "until", "network", "clientId"}
        for one in found
    )
    assert "invented-name" not in str(found)
    assert "my own secret" not in str(found)


@pytest.mark.promise("credentials: events")
async def test_a_refused_impersonation_names_actor_and_subject(server, people):
    actor, subject, _ = people.values()
    for _ in range(3):
        acting.report_refusal(
            server.service, actor_id=actor, subject_id=subject, client_id="shop", reason="no role"
        )
    await flush(server)
    await flush(server, minutes=10)
    first, later = await events(server)

    what = {"actor": actor, "subject": subject, "clientId": "shop"}
    assert dict(first.payload) == what | {"count": "1"}
    assert dict(later.payload) == what | {"count": "2"}
    assert (first.type, first.actor, first.record_id) == (
        "token.impersonation_refused",
        actor,
        subject,
    )


async def test_no_event_is_lost_or_doubled_while_the_store_is_away(server, people, monkeypatch):
    async def away(*_, **__):
        raise Unavailable("away")

    await guess(server, next(iter(people)), 3)
    with monkeypatch.context() as patched:
        patched.setattr(type(server.store), "commit", away)
        with pytest.raises(Unavailable):
            await flush(server, minutes=1)
    await flush(server)
    await flush(server, minutes=10)

    assert sorted(dict(one.payload)["count"] for one in await events(server)) == ["1", "2"]


async def test_a_grown_sum_is_counted_once_however_often_its_last_write_fails(
    server, people, monkeypatch
):
    async def away(*_, **__):
        raise Unavailable("away")

    (name, id), *_ = people.items()
    outcome = Outcome("wrong", "password", ORIGIN, id, name)
    await guess(server, name, 3)
    await flush(server)
    await flush(server, minutes=1)
    guess_reports.report(server.service, outcome)
    with monkeypatch.context() as patched:
        patched.setattr(type(server.store), "commit", away)
        for _ in range(recent_failures.MAX_EVENTS + 1):
            with pytest.raises(Unavailable):
                await flush(server, minutes=10)
    guess_reports.report(server.service, outcome)
    await flush(server)
    await flush(server, minutes=10)

    counts = sorted(int(dict(one.payload)["count"]) for one in await events(server))
    assert sum(counts) == 5


async def test_the_sums_are_written_when_the_service_ends(server, people):
    async with background_schedule.running(server.service):
        await guess(server, next(iter(people)), 3)

    assert {dict(one.payload)["count"] for one in await events(server)} == {"1", "2"}


async def test_administrators_find_the_events_by_their_type(server, visitor, people):
    owner = await instance_owner(server, visitor)
    await guess(server, next(iter(people)), 1)
    await flush(server)
    page = await owner.post("/admin/v1/events/_search", {"eventTypes": ["user.sign_in.failed"]})

    assert len(page.json()["events"]) == 1
    types = (await owner.post("/admin/v1/events/types/_search", {})).json()["eventTypes"]
    assert {each["type"] for each in types} >= KINDS


# How much there may be of it


@pytest.mark.full
@pytest.mark.promise("credentials: events")
def test_sources_and_events_are_bounded_and_the_rest_is_summed(server):
    known, now = Failures(), server.clock.now()
    for n in range(recent_failures.MAX_SOURCES + 500):
        source = FailureSource(
            "user.sign_in.failed", f"u{n}", ("n",), combined_type="instance.sign_in.failed"
        )
        known.record(source, {"network": f"n{n}"}, now)
    assert len(known) <= recent_failures.MAX_SOURCES + 1

    written = known.take_due(now)
    later = known.take_due(now + recent_failures.PERIOD - timedelta(seconds=1))
    assert len(written) + len(later) <= recent_failures.MAX_EVENTS
    last = known.take_due(now + recent_failures.PERIOD, is_last=True)
    assert len(last) <= recent_failures.MAX_EVENTS
    total = sum(one.count for one in {id(one): one for one in (*written, *later, *last)}.values())
    assert total == recent_failures.MAX_SOURCES + 500
