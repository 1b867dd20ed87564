"""The lives of keys: made in pairs, once, rotated when it is time, and removed at once."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from datetime import timedelta

import pytest

from idp import changes
from idp.foundation.errors import FailedPrecondition, NotFound
from idp.keys import algorithms
from idp.keys.key_ring import HINT_DAYS, KeyRing
from idp.oauth import key_rotation
from idp.records import SIGNING_KEYS
from storage import Delete
from tests.support import invariants
from tests.support.service import shared_key
from tests.support.store.stored import everything

ACTOR = "an operator"


@pytest.fixture
def service(server, monkeypatch):
    """An installation that is a second old. None of its keys comes twice."""
    numbers = itertools.count(2)  # the set-up has taken two
    monkeypatch.setattr(
        algorithms.rsa, "generate_private_key", lambda **_: shared_key(next(numbers))
    )
    server.clock.advance(1)
    return server.service


@pytest.fixture
def settings():
    return {"key_rotation_seconds": 7 * 86400}


def twin(service):
    """Another process: the same store, seen through a key ring of its own."""
    return replace(service, keys=KeyRing(service.store, service.master_key, service.clock, 60))


async def stored_keys(service) -> dict[tuple[str, str], list[str]]:
    """The ids of keys by algorithm and state."""
    found: dict[tuple[str, str], list[str]] = {}
    for key in await key_rotation.all_keys(service):
        found.setdefault((key.algorithm, key.state), []).append(key.id)
    return found


async def kids(service) -> list[str]:
    return [key["kid"] for key in await service.keys.published()]


# Made


async def test_a_new_installation_has_keys_for_rs256_alone(service):
    made = await stored_keys(service)

    assert {algorithm for algorithm, _ in made} == {"RS256", "A256GCM"}
    assert [len(ids) for ids in made.values()] == [1] * 4


@pytest.mark.parametrize(
    ("algorithm", "members"),
    [
        ("ES256", {"kty": "EC", "crv": "P-256", "x": 43, "y": 43}),
        ("EdDSA", {"kty": "OKP", "crv": "Ed25519", "x": 43}),
    ],
)
async def test_an_algorithm_has_published_keys_once_it_is_asked_for(service, algorithm, members):
    with pytest.raises(LookupError):
        await service.keys.signing(algorithm)
    before = await kids(service)
    await key_rotation.ensure(service, algorithm, actor=ACTOR)
    found = [key for key in await service.keys.published() if key["alg"] == algorithm]

    signing = await service.keys.signing(algorithm)
    assert len(before) == len(set(before)) == 2
    assert [key["kid"] for key in found][0] == signing.kid
    assert len(found) == 2
    for key in found:
        assert set(key) == {"use", "alg", "kid", *members}
        assert {name: key[name] for name in ("kty", "crv")} == {
            name: members[name] for name in ("kty", "crv")
        }
        assert all(len(key[name]) == members[name] for name in ("x", "y") if name in members)


async def test_what_is_there_is_not_made_again(service):
    await key_rotation.ensure(service, "ES256", actor=ACTOR)
    before = await everything(service.store)
    for algorithm in ("RS256", "ES256", "A256GCM"):
        await key_rotation.ensure(service, algorithm, actor=ACTOR)

    assert await everything(service.store) == before


async def test_of_many_who_ask_for_an_algorithm_at_once_one_makes_its_keys(service):
    others = [service, *[twin(service) for _ in range(7)]]
    await asyncio.gather(*[key_rotation.ensure(each, "EdDSA", actor=ACTOR) for each in others])
    made = await stored_keys(service)

    assert len(made["EdDSA", "active"]) == len(made["EdDSA", "next"]) == 1
    await invariants.hold(service.store)
    signing = {(await each.keys.signing("EdDSA")).kid for each in others}
    assert signing == set(made["EdDSA", "active"])


async def test_another_process_signs_with_and_knows_a_key_that_was_made_a_moment_ago(service):
    signs, verifies = twin(service).keys, twin(service).keys
    for ring in (signs, verifies):
        await ring.signing()
    await key_rotation.ensure(service, "ES256", actor=ACTOR)
    mine = await service.keys.signing("ES256")

    assert (await signs.signing("ES256")).kid == mine.kid
    assert (await verifies.find(mine.kid)).kid == mine.kid


async def test_another_process_publishes_what_the_store_holds_at_that_moment(service):
    other = twin(service)
    before = await kids(other)
    await key_rotation.ensure(service, "ES256", actor=ACTOR)
    between = await kids(other)
    await changes.run(service, key_rotation.remove, before[0], actor=ACTOR)

    assert set(before) < set(between)
    assert before[0] not in await kids(other)


async def test_a_clock_that_was_set_ahead_makes_what_a_process_knows_old(server, service):
    other = twin(service)
    await other.keys.signing()
    rotated = await changes.run(service, key_rotation.rotate, actor=ACTOR)
    server.clock.advance(60)

    assert (await other.keys.signing()).kid == rotated["RS256"].id


async def test_unknown_kids_cost_a_bounded_number_of_readings(service, monkeypatch):
    readings, scan = [], service.store.scan
    await service.keys.find("nobody")
    monkeypatch.setattr(service.store, "scan", lambda *all: readings.append(all) or scan(*all))
    for number in range(200):
        assert await service.keys.find(f"nobody-{number}") is None

    assert len(readings) <= 10


# Rotated


async def test_the_first_pair_may_be_rotated_at_once_and_the_next_one_after_a_wait(service):
    first = await stored_keys(service)
    signing = await changes.run(service, key_rotation.rotate, actor=ACTOR)
    before = await everything(service.store)
    with pytest.raises(FailedPrecondition) as refused:
        await changes.run(service, key_rotation.rotate, actor=ACTOR)

    assert [signing["RS256"].id] == first["RS256", "next"]
    assert refused.value.error_code == "keys.too_soon"
    assert await everything(service.store) == before


async def test_a_refusal_says_from_when_on_it_is_possible(server, service):
    await changes.run(service, key_rotation.rotate, actor=ACTOR)
    possible = (server.clock.now() + timedelta(seconds=300)).strftime("%Y-%m-%dT%H:%M:%S")
    server.clock.advance(299)

    with pytest.raises(FailedPrecondition, match=possible):
        await changes.run(service, key_rotation.rotate, actor=ACTOR)
    server.clock.advance(1)
    await changes.run(service, key_rotation.rotate, actor=ACTOR)


async def test_a_key_of_an_algorithm_that_came_later_waits_too(server, service):
    await key_rotation.ensure(service, "ES256", actor=ACTOR)
    with pytest.raises(FailedPrecondition):
        await changes.run(service, key_rotation.rotate, actor=ACTOR)
    server.clock.advance(300)
    before = await stored_keys(service)
    signing = await changes.run(service, key_rotation.rotate, actor=ACTOR)

    assert {algorithm: [key.id] for algorithm, key in signing.items()} == {
        algorithm: before[algorithm, "next"] for algorithm in ("RS256", "ES256", "A256GCM")
    }
    await invariants.hold(service.store)


async def test_of_two_who_rotate_at_once_one_does(service):
    others = [service, twin(service)]
    outcomes = await asyncio.gather(
        *[changes.run(each, key_rotation.rotate, actor=ACTOR) for each in others],
        return_exceptions=True,
    )
    made = await stored_keys(service)

    assert [type(each) for each in outcomes].count(FailedPrecondition) == 1
    assert [len(made["RS256", state]) for state in ("active", "next", "retired")] == [1, 1, 1]
    await invariants.hold(service.store)


async def test_time_rotates_a_key_that_has_signed_for_as_long_as_the_settings_say(server, service):
    before = await stored_keys(service)
    server.clock.advance(7 * 86400 - 2)
    await key_rotation.maintain(service)
    early = await stored_keys(service)
    server.clock.advance(1)
    await key_rotation.maintain(service)
    after = await stored_keys(service)

    assert early == before
    for algorithm in ("RS256", "A256GCM"):
        assert after[algorithm, "active"] == before[algorithm, "next"]
        assert after[algorithm, "retired"] == before[algorithm, "active"]
    await invariants.hold(service.store)


async def test_each_algorithm_is_rotated_in_its_own_time(server, service):
    server.clock.advance(3 * 86400)
    await key_rotation.ensure(service, "EdDSA", actor=ACTOR)
    server.clock.advance(4 * 86400)
    await key_rotation.maintain(service)
    after = await stored_keys(service)

    assert ("RS256", "retired") in after
    assert ("EdDSA", "retired") not in after


async def test_time_makes_a_key_that_is_missing(server, service):
    (missing,) = (await stored_keys(service))["A256GCM", "next"]
    await service.store.commit(Delete(SIGNING_KEYS, missing))
    await key_rotation.maintain(service)

    assert len((await stored_keys(service))["A256GCM", "next"]) == 1


async def test_time_removes_a_key_once_it_verifies_nothing_any_more(server, service):
    await changes.run(service, key_rotation.rotate, actor=ACTOR)
    (retired,) = (await stored_keys(service))["RS256", "retired"]
    server.clock.advance(timedelta(days=HINT_DAYS))
    await key_rotation.maintain(service)
    is_kept = retired in (await stored_keys(service))["RS256", "retired"]
    server.clock.advance(1)
    await key_rotation.maintain(service)

    assert is_kept
    assert retired in (await stored_keys(service))["RS256", "removed"]
    await invariants.hold(service.store)


# Removed


@pytest.mark.parametrize("algorithm", ["RS256", "A256GCM"])
async def test_when_the_active_key_is_removed_the_next_one_takes_over_in_the_same_unit(
    service, algorithm
):
    before = await stored_keys(service)
    (active,) = before[algorithm, "active"]
    await changes.run(service, key_rotation.remove, active, actor=ACTOR)
    after = await stored_keys(service)

    assert after[algorithm, "removed"] == [active]
    assert after[algorithm, "active"] == before[algorithm, "next"]
    assert len(after[algorithm, "next"]) == 1
    assert after[algorithm, "next"] != before[algorithm, "next"]
    await invariants.hold(service.store)


async def test_when_the_next_key_is_removed_another_one_waits(service):
    before = await stored_keys(service)
    (waiting,) = before["RS256", "next"]
    await changes.run(service, key_rotation.remove, waiting, actor=ACTOR)
    after = await stored_keys(service)

    assert after["RS256", "active"] == before["RS256", "active"]
    assert len(after["RS256", "next"]) == 1
    assert waiting not in await kids(service)
    with pytest.raises(FailedPrecondition):
        await changes.run(service, key_rotation.rotate, actor=ACTOR)


async def test_a_removed_key_keeps_no_private_part(service):
    (active,) = (await stored_keys(service))["RS256", "active"]
    await changes.run(service, key_rotation.remove, active, actor=ACTOR)
    removed = await service.store.get(SIGNING_KEYS, active)

    assert (removed.state, removed.sealed_private) == ("removed", "")
    assert await service.keys.find(active) is None


async def test_what_is_no_key_or_was_removed_before_is_refused(service):
    (active,) = (await stored_keys(service))["RS256", "active"]
    await changes.run(service, key_rotation.remove, active, actor=ACTOR)
    before = await everything(service.store)
    with pytest.raises(NotFound):
        await changes.run(service, key_rotation.remove, "nobody", actor=ACTOR)
    with pytest.raises(FailedPrecondition):
        await changes.run(service, key_rotation.remove, active, actor=ACTOR)

    assert await everything(service.store) == before


async def test_a_removal_and_a_rotation_at_once_leave_nothing_of_the_removed_key(service):
    (active,) = (await stored_keys(service))["RS256", "active"]
    await asyncio.gather(
        changes.run(service, key_rotation.remove, active, actor=ACTOR),
        changes.run(twin(service), key_rotation.rotate, actor=ACTOR),
        return_exceptions=True,
    )

    assert active in (await stored_keys(service))["RS256", "removed"]
    await invariants.hold(service.store)
