"""Everything that a master key has encrypted can be read with the next one, whatever happens
meanwhile."""

from __future__ import annotations

import typing
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest
from msgspec import Struct

from idp.records import ALL, EVENTS, INSTANCE_ID, INSTANCES, USERS
from idp.records.connections import ConnectionSecrets
from idp.records.sealed_fields import MAC_ROOT, SEALED_FIELDS, TOTP_SECRET
from idp.start import master_keys, resealing
from storage import Delete, Insert, Unavailable, Update
from storage.lists import value_at
from tests.support.store.backups import master_key_of
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401
from tests.support.store.generated import Generator
from tests.support.store.master_keys import (
    LONG,
    NEW,
    alone,
    begun,
    done,
    instance_of,
    restart,
    waiting,
)
from tests.support.store.stored import everything

OF_THE_INSTALLATION = {field for field in SEALED_FIELDS if field.collection is INSTANCES}


def members(hint) -> set:
    """The types in a type, such as those of a union or of a list's items."""
    return {hint}.union(*[members(each) for each in typing.get_args(hint)])


def sealed_paths(kind, above=()) -> set[str]:
    """The paths of the fields of a record that hold a value that is encrypted, by their names."""
    found = set()
    for name, hint in typing.get_type_hints(kind).items():
        for each in members(hint) - {kind, *above}:
            if isinstance(each, type) and issubclass(each, Struct):
                found |= {f"{name}.{path}" for path in sealed_paths(each, (*above, kind))}
            elif each is str and (name.startswith("sealed") or kind is ConnectionSecrets):
                found.add(name)
    return found


def test_every_field_that_is_named_as_sealed_is_encrypted_again():
    named = {(each.name, path) for each in ALL for path in sealed_paths(each.record)}

    assert {(each.collection.name, each.path) for each in SEALED_FIELDS} == named


def made_with(server, collection, fields):
    """A record whose fields are encrypted with the present key; its other values are any."""
    parents = {field.path.rpartition(".")[0] for field in fields} - {""}
    generator = Generator(1, server.clock.now() + LONG)
    while True:
        record = generator.record(collection)
        if all(isinstance(value_at(record, parent), Struct) for parent in parents):
            break
    document = msgspec.to_builtins(record)
    for field in fields:
        *path, last = field.path.split(".")
        place = document
        for name in path:
            place = place[name]
        place[last] = server.service.master_key.seal(f"of {field.path}", field.purpose)
    return msgspec.convert(document, collection.record)


async def fill(server) -> dict:
    """A record in each collection with encrypted fields; what they hold, by field."""
    held = {}
    for collection in {
        field.collection.name: field.collection for field in SEALED_FIELDS
    }.values():
        if collection is not INSTANCES:
            fields = [field for field in SEALED_FIELDS if field.collection is collection]
            record = made_with(server, collection, fields)
            await server.store.commit(Insert(collection, record))
            held |= {field: (record.id, f"of {field.path}") for field in fields}
    for field in OF_THE_INSTALLATION - {MAC_ROOT}:
        sealed = value_at(await instance_of(server.service), field.path)
        held[field] = INSTANCE_ID, server.service.master_key.open(sealed, field.purpose).decode()
    return held


async def opened(server, held, key) -> dict:
    """What the encrypted fields hold, by this key."""
    return {
        field: (
            id,
            key.open(
                value_at(await server.store.get(field.collection, id), field.path), field.purpose
            ).decode(),
        )
        for field, (id, _) in held.items()
    }


@pytest.mark.promise("master key: replacement")
@pytest.mark.every_row
@on_both_stores
async def test_every_encrypted_field_can_be_read_with_the_new_key_alone(server, tmp_path):
    held, root = await fill(server), master_key_of(server.service)
    assert set(held) == set(SEALED_FIELDS) - {MAC_ROOT}
    before = await everything(server.store)

    await begun(server.service, tmp_path / "keys")
    await done(server)

    assert await opened(server, held, alone(NEW, root)) == held
    assert (await resealing.status(server.service)).counts == {}
    assert is_unchanged(before, await everything(server.store), held)


def is_unchanged(before, after, held) -> bool:
    """Whether records differ in nothing but the encrypted fields."""
    for name in {field.collection.name for field in held} - {INSTANCES.name}:
        for id, record in after[name].items():
            was, now = (msgspec.to_builtins(each) for each in (before[name][id], record))
            for field in SEALED_FIELDS:
                if field.collection.name == name:
                    *path, last = field.path.split(".")
                    for document in (was, now):
                        for part in path:
                            document = document.get(part) or {}
                        document.pop(last, None)
            if was != now:
                return False
    return True


async def test_the_end_is_one_event_and_only_the_new_key_is_needed(server, tmp_path):
    former = server.service.master_key.fingerprint()
    await begun(server.service, tmp_path / "keys")
    await done(server)
    await resealing.reseal(server.service)

    found = [each async for each in server.store.scan(EVENTS)]
    assert [each.type for each in found].count("instance.master_key_rotated") == 1
    instance = await instance_of(server.service)
    assert instance.key_replacement is None
    assert instance.replaced_key_checks == [former]
    assert master_keys.needed(instance, [NEW]) == [NEW]


async def test_nothing_is_encrypted_again_before_sign_ins_in_progress_have_ended(server, tmp_path):
    await begun(server.service, tmp_path / "keys")
    server.clock.advance(waiting(server.service) - timedelta(seconds=1))

    assert not await resealing.has_work(server.service)
    server.clock.advance(1)
    assert await resealing.has_work(server.service)


async def test_a_replacement_that_is_in_progress_says_how_many_records_are_left(server, tmp_path):
    await fill(server)
    former = server.service.master_key.fingerprint()
    await begun(server.service, tmp_path / "keys")

    found = await resealing.status(server.service)

    assert (found.former, found.in_charge) == (former, server.service.master_key.fingerprint())
    assert found.counts["users"] == 1
    assert set(found.counts) == {field.collection.name for field in SEALED_FIELDS}


class Interrupted:
    """A store that fails before or after its nth commit, as if the process were killed there."""

    def __init__(self, store, at: int, *, is_done: bool) -> None:
        self._store, self._at, self._is_done = store, at, is_done

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def commit(self, *writes):
        self._at -= 1
        if self._at or self._is_done:
            await self._store.commit(*writes)
        if not self._at:
            raise Unavailable("killed")

    async def commit_each(self, units):
        for writes in units:
            await self.commit(*writes)
        return [None] * len(units)


@pytest.mark.promise("master key: interruption")
@pytest.mark.parametrize("is_done", [False, True], ids=["before a write", "after a write"])
async def test_a_replacement_that_is_interrupted_at_any_write_is_continued(
    server, tmp_path, monkeypatch, is_done
):
    monkeypatch.setattr(resealing, "_PAGE", 1)
    held, root = await fill(server), master_key_of(server.service)
    await begun(server.service, tmp_path / "keys")
    server.clock.advance(waiting(server.service))

    kills = 0
    while await resealing.has_work(server.service):
        kills += 1
        killed = replace(
            server.service, store=Interrupted(server.store, 1 + kills % 3, is_done=is_done)
        )
        with suppress(Unavailable):
            await resealing.reseal(killed)
        both = server.service.master_key
        assert await opened(server, held, both) == held

    assert kills > 10
    assert await opened(server, held, alone(NEW, root)) == held


async def test_work_that_takes_longer_than_a_turn_is_continued_where_it_was(
    server, tmp_path, monkeypatch, timer
):
    monkeypatch.setattr(resealing, "_PAGE", 1)
    monkeypatch.setattr(resealing, "_RUN_SECONDS", 0.0)
    held, root = await fill(server), master_key_of(server.service)
    await begun(server.service, tmp_path / "keys")
    server.clock.advance(waiting(server.service))

    positions = []
    while await resealing.has_work(server.service):
        await resealing.reseal(server.service)
        replacement = (await instance_of(server.service)).key_replacement
        if replacement:
            positions.append((replacement.collection, replacement.after))

    assert len(positions) > 2
    assert positions == sorted(set(positions))
    assert await opened(server, held, alone(NEW, root)) == held


class Overtaken(Interrupted):
    """A store in which another process changes the user just before they are encrypted again."""

    def __init__(self, store, change) -> None:
        self._store, self._change = store, change

    async def commit(self, *writes):
        await self._store.commit(*writes)

    async def commit_each(self, units):
        if self._change and [each for each in units if each[0].collection is USERS]:
            change, self._change = self._change, None
            await self._store.commit(change)
        return await self._store.commit_each(units)


async def test_a_change_while_a_record_is_encrypted_again_is_not_lost(server, tmp_path):
    (id, _), former = (await fill(server))[TOTP_SECRET], server.service.master_key
    other = former.seal("another secret", TOTP_SECRET.purpose)
    await begun(server.service, tmp_path / "keys")
    server.clock.advance(waiting(server.service))
    change = Update(USERS, id, set={"totp.sealed_secret": other, "totp.name": "renamed"})

    await resealing.reseal(replace(server.service, store=Overtaken(server.store, change)))

    user = await server.store.get(USERS, id)
    key = alone(NEW, NEW)
    assert key.open(user.totp.sealed_secret, TOTP_SECRET.purpose) == b"another secret"
    assert user.totp.name == "renamed"


async def test_a_user_who_is_deleted_meanwhile_stays_deleted(server, tmp_path):
    id, _ = (await fill(server))[TOTP_SECRET]
    await begun(server.service, tmp_path / "keys")
    server.clock.advance(waiting(server.service))

    await resealing.reseal(
        replace(server.service, store=Overtaken(server.store, Delete(USERS, id)))
    )

    assert await server.store.get(USERS, id) is None


async def test_an_altered_value_does_not_stop_the_others(server, tmp_path):
    held, root = await fill(server), master_key_of(server.service)
    id, _ = held.pop(TOTP_SECRET)
    await server.store.commit(Update(USERS, id, set={"totp.sealed_secret": "v1.altered"}))

    await begun(server.service, tmp_path / "keys")
    await done(server)

    assert await opened(server, held, alone(NEW, root)) == held
    assert (await server.store.get(USERS, id)).totp.sealed_secret == "v1.altered"
    assert (await resealing.status(server.service)).counts == {"users": 1}


async def test_a_key_that_was_replaced_is_replaced_again(server, tmp_path):
    held, root = await fill(server), master_key_of(server.service)
    mac = server.service.master_key.mac("recovery-code", "a code")
    newest = bytes(32)

    await begun(server.service, tmp_path / "first")
    await done(server)
    await begun(server.service, tmp_path / "second", newest)
    await done(server)

    await restart(server.service, tmp_path / "third", newest)
    assert await opened(server, held, alone(newest, root)) == held
    assert server.service.master_key.mac("recovery-code", "a code") == mac
