"""A backup has everything, and a restore brings everything back, on whatever store."""

from __future__ import annotations

import io
import typing
from datetime import timedelta

import msgspec
import pytest

from idp.backup import contents
from idp.backup.contents import COLLECTIONS, Head, NewerBackup
from idp.backup.restoring import PENDING
from idp.backup.sealed_files import DamagedBackup, SealedWriter, WrongPassphrase, decrypted
from idp.foundation.errors import ConfigError, NotFound
from idp.foundation.randomness import SystemRandom
from idp.keys.master_key import MasterKey
from idp.records import (
    EVENTS,
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    OUTBOX,
    SCHEMA,
    Instance,
    MailState,
    OutboxMessage,
)
from storage import COUNTERS, META, SCHEMA_ID, HalfFilled, Insert, TooNew, Update
from tests.support.clock import SteppingClock
from tests.support.servers.mongod import fresh_database
from tests.support.store.backups import (
    PASSPHRASE,
    all_of,
    as_it_is,
    as_served,
    backed_up,
    make_backups_cheap,
    restored,
)
from tests.support.store.generated import Generator

KEY = bytes(range(32))


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    make_backups_cheap(monkeypatch)


@pytest.fixture
def clock():
    return SteppingClock()


@pytest.fixture
def sqlite(tmp_path):
    """Makes URLs of stores that are not there yet."""
    numbers = iter(range(100))
    return lambda: f"sqlite:///{tmp_path}/{next(numbers)}.sqlite3"


def instance(clock) -> Instance:
    check = MasterKey(KEY).fingerprint()
    return Instance(id=INSTANCE_ID, stamp="s", key_check=check, org_id="o", created_at=clock.now())


async def make_store(url, clock, seed=0, most=4) -> None:
    """A store with records of every collection, and counters."""
    made = Generator(seed, clock.now()).store(most)
    units = [[Insert(collection, each)] for collection, records in made for each in records]
    async with as_served(url, clock, SCHEMA) as store:
        outcomes = await store.commit_each([*units, [Insert(INSTANCES, instance(clock))]])
        assert outcomes == [None] * len(outcomes)
        await store.increment("failures:address:192.0.2.1", 3, window=timedelta(hours=1))


async def backup_of(url, clock, key=KEY) -> bytes:
    async with as_it_is(url, clock) as store:
        return await backed_up(store, key, clock)


async def there_and_back(urls, clock) -> None:
    """Each store is restored from the backup of the one before it: all of them are equal."""
    first, *others = urls
    before = await all_of(first, clock)
    assert {each[0].name for each in before[1:]} == {each.name for each in COLLECTIONS}
    backup = await backup_of(first, clock)
    for url in others:
        assert await restored(url, backup, clock) == KEY
        assert await all_of(url, clock) == before
        backup = await backup_of(url, clock)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
async def test_every_record_of_every_collection_comes_back(sqlite, clock, seed):
    urls = [sqlite(), sqlite()]
    await make_store(urls[0], clock, seed)

    await there_and_back(urls, clock)


async def test_from_sqlite_to_mongodb_and_back_nothing_is_changed(sqlite, mongodb, clock):
    urls = [sqlite(), mongodb, sqlite()]
    await make_store(urls[0], clock)

    await there_and_back(urls, clock)


@pytest.mark.load
@pytest.mark.gen_test(timeout=600)
async def test_many_generated_stores_go_from_sqlite_to_mongodb_and_back(sqlite, mongod, clock):
    for seed in range(100, 130):
        with fresh_database(mongod) as one, fresh_database(mongod) as two:
            urls = [sqlite(), one, two, sqlite()]
            await make_store(urls[0], clock, seed, most=12)
            await there_and_back(urls, clock)


@pytest.mark.full
async def test_the_backups_of_equal_stores_say_the_same_of_what_they_have(sqlite, clock):
    one, two = sqlite(), sqlite()
    await make_store(one, clock)
    backup = await backup_of(one, clock)
    await restored(two, backup, clock)

    manifests = [
        contents.read_whole(io.BytesIO(each), PASSPHRASE).manifest
        for each in (backup, await backup_of(two, clock))
    ]

    assert manifests[0] == manifests[1]


@pytest.mark.full
async def test_what_expires_before_the_restore_does_not_come_back(sqlite, clock):
    one, two = sqlite(), sqlite()
    await make_store(one, clock)
    backup = await backup_of(one, clock)
    clock.advance(timedelta(days=40_000))

    await restored(two, backup, clock)

    found = await all_of(two, clock)
    assert found == await all_of(one, clock)
    assert not [each for collection, each in found[1:] if collection is COUNTERS]


# What is refused


def sealed(*lines: bytes) -> bytes:
    file = io.BytesIO()
    writer = SealedWriter(file, PASSPHRASE, SystemRandom())
    writer.write(b"".join(lines))
    writer.finish()
    return file.getvalue()


def lines_of(backup: bytes) -> list[bytes]:
    text = b"".join(decrypted(io.BytesIO(backup), PASSPHRASE))
    return text.splitlines(keepends=True)


def check(backup: bytes, passphrase: str = PASSPHRASE):
    return contents.read_whole(io.BytesIO(backup), passphrase)


@pytest.fixture
def small(io_loop, sqlite, clock) -> bytes:
    """The backup of a small store."""

    async def make():
        url = sqlite()
        async with as_served(url, clock, SCHEMA) as store:
            await store.commit(Insert(INSTANCES, instance(clock)))
        return await backup_of(url, clock)

    return io_loop.run_sync(make)


def test_a_wrong_passphrase_is_distinguished_from_damage(small):
    with pytest.raises(WrongPassphrase):
        check(small, "another passphrase")
    with pytest.raises(DamagedBackup):
        check(small[:-1])


@pytest.mark.load
def test_every_byte_of_a_small_backup_counts(small):
    for place in range(len(small)):
        damaged = bytearray(small)
        damaged[place] ^= 1 << place % 8
        with pytest.raises((DamagedBackup, WrongPassphrase)):
            check(bytes(damaged))


@pytest.mark.load
def test_no_end_of_a_small_backup_can_be_left_out(small):
    for end in range(len(small)):
        with pytest.raises((DamagedBackup, WrongPassphrase)):
            check(small[:end])


def test_lines_that_are_missing_doubled_moved_or_more_are_refused_though_well_sealed(small):
    head, record, manifest = lines_of(small)
    other = record.replace(b'"stamp":"s"', b'"stamp":"t"')
    assert other != record

    check(sealed(head, record, manifest))
    for lines in (
        (),
        (head,),
        (head, record),
        (head, manifest),
        (record, manifest),
        (head, record, record, manifest),
        (head, other, manifest),
        (head, record, manifest, record),
        (head, record, manifest, manifest),
        (head, record, manifest[:-1]),
        (b"[]\n", record, manifest),
        (head, b'["instance"]\n', manifest),
        (head, b'["instance",{}]\n', manifest),
        (head, b'["instance",{"id":1}]\n', manifest),
        (head, b"\xff\n", manifest),
    ):
        with pytest.raises(DamagedBackup):
            check(sealed(*lines))


def with_schema(backup: bytes, **changes) -> bytes:
    head, *rest = lines_of(backup)
    made = msgspec.json.decode(head, type=Head)
    schema = msgspec.structs.replace(made.schema, **changes)
    return sealed(contents.head_line(msgspec.structs.replace(made, schema=schema)), *rest)


def test_what_a_newer_program_has_made_is_refused(small):
    with pytest.raises(NewerBackup, match="schema version 9"):
        check(with_schema(small, version=9))
    with pytest.raises(TooNew):
        check(with_schema(small, oldest_reader=9))
    with pytest.raises(NewerBackup, match="a later step"):
        check(with_schema(small, done=["a later step"]))


def with_record(backup: bytes, name: str, record: dict) -> bytes:
    """The backup with this record alone, and a manifest that says so."""
    head, _, _ = lines_of(backup)
    encoded = msgspec.json.encode(record)
    line = msgspec.json.encode([name, msgspec.Raw(encoded)]) + b"\n"
    digests = contents.CollectionDigests()
    digests.add(type("Named", (), {"name": name}), encoded)
    return sealed(
        head, line, contents.manifest_line(contents.Manifest(collections=digests.by_collection()))
    )


def test_a_collection_or_a_field_that_this_program_does_not_know_is_refused(small):
    plain = msgspec.json.decode(lines_of(small)[1])[1]

    check(with_record(small, "instance", plain))
    with pytest.raises(NewerBackup, match="robots"):
        check(with_record(small, "robots", plain))
    with pytest.raises(NewerBackup, match=r"instance\.colour"):
        check(with_record(small, "instance", plain | {"colour": "red"}))
    demo = {"client_id": "c", "sealed_client_secret": "", "user_id": "", "sealed_password": ""}
    with pytest.raises(NewerBackup, match=r"instance\.demo\.colour"):
        check(with_record(small, "instance", plain | {"demo": demo | {"colour": "red"}}))


def test_a_record_of_an_older_program_lacks_what_was_added_since(small):
    plain = msgspec.json.decode(lines_of(small)[1])[1]
    del plain["allows_impersonation"], plain["sequence"]

    _, manifest, _ = check(with_record(small, "instance", plain))

    assert manifest.total == 1


@pytest.mark.full
async def test_a_backup_of_an_older_schema_is_upgraded_at_the_next_start(sqlite, clock):
    one, two = sqlite(), sqlite()
    await make_store(one, clock)
    async with as_served(one, clock, None) as store:
        await store.commit(Update(META, SCHEMA_ID, set={"done": []}))
    await restored(two, await backup_of(one, clock), clock)

    async with as_it_is(two, clock) as store:
        assert (await store.get(META, SCHEMA_ID)).done == []
        organizations = [each.primary_domain async for each in store.scan(ORGANIZATIONS)]
    async with as_served(two, clock, SCHEMA) as store:
        assert (await store.get(META, SCHEMA_ID)).done[-1] == "family keys"
        domains = {each.domain async for each in store.scan(_by_name("organization_domains"))}
    assert set(organizations) <= domains


def _by_name(name):
    return next(each for each in COLLECTIONS if each.name == name)


async def test_no_backup_is_made_of_what_is_no_installation(sqlite, clock):
    url = sqlite()
    async with as_served(url, clock, SCHEMA) as store:
        with pytest.raises(NotFound):
            await backed_up(store, KEY, clock)


@pytest.mark.full
async def test_no_backup_is_made_with_another_master_key(sqlite, clock):
    url = sqlite()
    await make_store(url, clock)

    with pytest.raises(ConfigError, match="another master key"):
        await backup_of(url, clock, key=bytes(32))


@pytest.mark.full
@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"oldest_reader": 9, "version": 9}, TooNew),
        ({"version": 9}, NewerBackup),
        ({"filled_since": SteppingClock().now()}, HalfFilled),
    ],
)
async def test_no_backup_is_made_of_what_this_program_can_not_read_whole(
    sqlite, clock, changes, refusal
):
    url = sqlite()
    await make_store(url, clock)
    async with as_it_is(url, clock) as store:
        await store.commit(Update(META, SCHEMA_ID, set=changes))

    with pytest.raises(refusal):
        await backup_of(url, clock)


# Invalidating


@pytest.mark.full
async def test_the_invalidation_is_one_change_of_the_instance_with_its_event(sqlite, clock):
    one, two = sqlite(), sqlite()
    await make_store(one, clock)
    backup = await backup_of(one, clock)
    before = await all_of(one, clock)
    clock.advance(60)

    await restored(two, backup, clock, invalidates=True)

    after = await all_of(two, clock)
    assert after[0] == before[0]
    gone = {id(each) for each in before if each not in after}
    changed = [each for each in before if id(each) in gone]
    pending = {each.name for each in PENDING}
    assert {collection.name for collection, _ in changed} - {"outbox"} == pending | {"instance"}
    new = [each for each in after if each not in before]
    assert {collection for collection, _ in new} == {INSTANCES, EVENTS}
    (event,) = [each for collection, each in new if collection is EVENTS]
    (now,) = [each for collection, each in new if collection is INSTANCES]
    assert (event.type, event.sequence) == ("instance.tokens_invalidated", 2)
    assert now.stamp != "s"
    assert now == msgspec.structs.replace(instance_of(before), stamp=now.stamp, sequence=2)


@pytest.mark.full
@pytest.mark.parametrize("invalidates", [False, True])
async def test_messages_from_before_the_invalidation_are_never_sent(sqlite, clock, invalidates):
    one, two = sqlite(), sqlite()
    states = typing.get_args(MailState)
    async with as_served(one, clock, SCHEMA) as store:
        await store.commit(Insert(INSTANCES, instance(clock)))
        await store.commit(*[Insert(OUTBOX, letter(state, clock)) for state in states])

    await restored(two, await backup_of(one, clock), clock, invalidates=invalidates)

    after = (await all_of(two, clock))[1:]
    left = {each.state for _, each in after if isinstance(each, OutboxMessage)}
    assert left == ({"sent"} if invalidates else set(states))


def letter(state, clock):
    now = clock.now()
    later = now + timedelta(days=1)
    return OutboxMessage(
        id=state, kind="invite", sealed="", state=state, created_at=now, expires_at=later
    )


def instance_of(records):
    (found,) = [
        each
        for collection, each in records[1:]
        if collection is INSTANCES and each.id == INSTANCE_ID
    ]
    return found
