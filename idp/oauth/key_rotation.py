"""The life cycle of keys: generated in pairs, rotated on schedule or request, removed in an
emergency.

Every algorithm in use has one active key, and one next key that waits until every cache of the
published key set has it. Each change is one unit with the state that it expects, so of two
processes that do the same concurrently one succeeds, and the other continues from its result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Final, Literal

import msgspec

from idp import changes
from idp.audit import events
from idp.audit.events import AuditEntry
from idp.changes import Change, Part, Planned
from idp.foundation.errors import FailedPrecondition, NotFound
from idp.keys.key_ring import (
    HINT_DAYS,
    PUBLISHED_CACHE_SECONDS,
    SEALING,
    new_sealing_key,
    new_signing_key,
)
from idp.records import INSTANCE_ID, INSTANCES, SIGNING_KEYS, SigningAlgorithm, SigningKey
from idp.service import Service
from storage import Update, Write
from storage.codec import instant_text

Algorithm = SigningAlgorithm | Literal["A256GCM"]
Pairs = dict[Algorithm, dict[str, SigningKey]]

SCHEDULE: Final = "schedule"  # the actor of scheduled changes
_PAIR: Final = ("active", "next")


async def ensure(service: Service, algorithm: Algorithm, *, actor: str) -> None:
    """Generates an active and a next key of the algorithm, unless it has them. `actor` is the
    actor of the events. Raises `LookupError` before the set-up has run."""

    async def plan() -> Planned[None]:
        return await missing_keys(service, algorithm, actor=actor) or Change(None)

    await changes.commit(service, plan)


async def missing_keys(service: Service, algorithm: Algorithm, *, actor: str) -> Part | None:
    """Returns the unit that stores an active and a next key of the algorithm; None if it has them.

    It precedes each change by which an application signs by the algorithm: an algorithm has no
    keys, and none are published, until the first application uses it. Raises `LookupError` before
    the set-up has run.
    """
    # The instance is read before the keys: if another process generates keys in between, this unit
    # fails as `Stale`.
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is None:
        raise LookupError("the set-up has not run on this store")
    pair = _pairs(await _trusted(service)).get(algorithm, {})
    new_keys = [await _new(service, algorithm, state) for state in _PAIR if state not in pair]
    if not new_keys:
        return None
    now = service.clock.now()
    writes = events.update(
        service.random, INSTANCES, instance, {}, AuditEntry("instance.keys_made", actor, now)
    )
    for key in new_keys:
        writes += _insertion(service, key, now, actor)
    return Part(writes, [service.keys.forget])


async def rotate(
    service: Service, *, actor: str, algorithms: Collection[Algorithm] | None = None
) -> Planned[dict[Algorithm, SigningKey]]:
    """Makes the next keys the active ones, and generates new next keys.

    This concerns `algorithms`, or all of them if it is None; `actor` is for the events. The answer
    has the keys that sign from then on. Raises `FailedPrecondition`, which says when it will be
    possible: a key waits until every cache of the published key set has it.
    """
    for algorithm in {key.algorithm for key in await _trusted(service)}:
        part = await missing_keys(service, algorithm, actor=actor)
        if part is not None:
            return part
    trusted = await _trusted(service)
    pairs = _pairs(trusted)
    rotated = {each: pairs[each] for each in pairs if algorithms is None or each in algorithms}
    _check_ready(rotated.values(), trusted, service.clock.now())
    new_keys = [await _new(service, algorithm, "next") for algorithm in rotated]
    now = service.clock.now()
    writes: list[Write] = []
    for pair, next_key in zip(rotated.values(), new_keys, strict=True):
        writes += _state_change(service, pair["active"], "retired", now, actor)
        writes += _state_change(service, pair["next"], "active", now, actor)
        writes += _insertion(service, next_key, now, actor)
    # The former next key is the active one then.
    answer = {algorithm: pair["next"] for algorithm, pair in rotated.items()}
    return Change(answer, writes, [service.keys.forget])


async def remove(service: Service, kid: str, *, actor: str) -> Planned[None]:
    """Removes a key immediately, because it may be known to others. `actor` is for the events.

    Everything that it signed or sealed is invalid, and its private part is deleted. If it was
    active, the next key replaces it in the same unit. Raises `NotFound` and `FailedPrecondition`.
    """
    key = await service.store.get(SIGNING_KEYS, kid)
    if key is None:
        raise NotFound("there is no key of this id", error_code="key.not_found")
    if key.state == "removed":
        raise FailedPrecondition("the key was removed before", error_code="key.removed")
    now = service.clock.now()
    writes = _state_change(service, key, "removed", now, actor)
    if key.state in _PAIR:
        part = await missing_keys(service, key.algorithm, actor=actor)
        if part is not None:
            return part
        writes += _insertion(service, await _new(service, key.algorithm, "next"), now, actor)
    if key.state == "active":
        next_key = _pairs(await _trusted(service))[key.algorithm]["next"]
        writes += _state_change(service, next_key, "active", now, actor)
    return Change(None, writes, [service.keys.forget])


async def maintain(service: Service) -> None:
    """Rotates the keys that have signed for the configured time, and removes old retired ones.

    A retired key is removed once no token that it signed is accepted any longer, not even as
    an `id_token_hint`.
    """
    for algorithm in {key.algorithm for key in await _trusted(service)}:
        await ensure(service, algorithm, actor=SCHEDULE)
    trusted, now = await _trusted(service), service.clock.now()
    rotation_period = timedelta(seconds=service.config.key_rotation_seconds)
    due = [
        algorithm
        for algorithm, pair in _pairs(trusted).items()
        if pair["active"].changed_at + rotation_period <= now
        and _ready_at(pair["next"], trusted) <= now
    ]
    if due:
        await changes.run(service, rotate, actor=SCHEDULE, algorithms=due)
    for key in trusted:
        if key.state == "retired" and key.changed_at + timedelta(days=HINT_DAYS) < now:
            await changes.run(service, remove, key.id, actor=SCHEDULE)


async def all_keys(service: Service) -> list[SigningKey]:
    """Returns every key, also those that were removed, the oldest first."""
    keys = [key async for key in service.store.scan(SIGNING_KEYS)]
    return sorted(keys, key=lambda key: (key.created_at, key.algorithm, key.state))


async def _trusted(service: Service) -> list[SigningKey]:
    return [key for key in await all_keys(service) if key.state != "removed"]


def _pairs(trusted: Iterable[SigningKey]) -> Pairs:
    """Returns the active and the next key of each algorithm."""
    pairs: Pairs = {}
    for key in trusted:
        pair = pairs.setdefault(key.algorithm, {})
        if key.state in _PAIR:
            pair[key.state] = key
    return pairs


def _check_ready(
    pairs: Iterable[dict[str, SigningKey]], trusted: list[SigningKey], now: datetime
) -> None:
    ready_at = max(_ready_at(pair["next"], trusted) for pair in pairs)
    if now < ready_at:
        raise FailedPrecondition(
            f"the keys can be rotated again from {instant_text(ready_at)} on: until then,"
            " applications may keep a key set that does not hold the next key",
            error_code="keys.too_soon",
        )


def _ready_at(next_key: SigningKey, trusted: Iterable[SigningKey]) -> datetime:
    """Returns the time from which on every cache of the key set has the key.

    A cache may have been filled just before the key was published. The first pair is in every key
    set.
    """
    if next_key.created_at <= min(key.created_at for key in trusted):
        return next_key.created_at
    return next_key.created_at + timedelta(seconds=PUBLISHED_CACHE_SECONDS)


async def _new(service: Service, algorithm: Algorithm, state: str) -> SigningKey:
    """Returns a new key; one for signatures is generated in a thread, as that takes long.

    Its times are those of its completion, because it is published only then.
    """
    master_key, random, now = service.master_key, service.random, service.clock.now()
    if algorithm == SEALING:
        return new_sealing_key(master_key, random, now, state)
    key = await asyncio.to_thread(new_signing_key, master_key, random, now, state, algorithm)
    completed_at = service.clock.now()
    return msgspec.structs.replace(key, created_at=completed_at, changed_at=completed_at)


def _insertion(service: Service, key: SigningKey, now: datetime, actor: str) -> list[Write]:
    return events.insertion(service.random, SIGNING_KEYS, key, AuditEntry("key.made", actor, now))


def _state_change(
    service: Service, key: SigningKey, state: str, now: datetime, actor: str
) -> list[Write]:
    # The record stays in the list of keys, without the part that could sign.
    erased = {"sealed_private": ""} if state == "removed" else {}
    change = Update(
        SIGNING_KEYS,
        key.id,
        set={"state": state, "changed_at": now, **erased},
        increment={"sequence": 1},
        expect={"state": key.state, "sequence": key.sequence},
    )
    event = events.changed(
        service.random, SIGNING_KEYS, key, AuditEntry(f"key.{state}", actor, now)
    )
    return [change, event]
