"""Which master key is in charge, in each process, while it is replaced and afterwards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from idp.foundation import private_files
from idp.foundation.errors import AlreadyRunning, ConfigError, FailedPrecondition
from idp.keys import key_files
from idp.keys.master_key import MasterKey, SealingStopped, WrongKey, fingerprint
from idp.start import first_start, master_keys
from tests.support.clock import SteppingTimer
from tests.support.patience import until
from tests.support.store.master_keys import (
    NEW,
    begun,
    done,
    give,
    instance_of,
    process,
    write,
)
from tests.support.store.stored import everything

PURPOSE = "totp"


# Several machines


@pytest.mark.promise("master key: order")
async def test_in_the_documented_order_no_process_meets_a_value_that_it_cannot_open(
    server, tmp_path, former
):
    service = server.service
    old = await process(service, tmp_path / "old", former)
    early = await process(service, tmp_path / "early", former, NEW)  # the new key is an old one
    late = await process(service, tmp_path / "late", NEW, former)

    async def exchange(*processes):
        for writer in processes:
            sealed = writer.master_key.seal("secret", PURPOSE)
            for reader in processes:
                assert reader.master_key.open(sealed, PURPOSE) == b"secret"
                assert reader.master_key.mac("code", "1") == old.master_key.mac("code", "1")

    await exchange(old, early)
    await exchange(early, late)
    await master_keys.follow(late)
    await exchange(early, late)
    await master_keys.follow(early)
    assert early.master_key.fingerprint() == late.master_key.fingerprint() == fingerprint(NEW)
    await exchange(early, late, await process(service, tmp_path / "new", NEW, former))
    await done(server, late)
    await exchange(early, late, await process(service, tmp_path / "alone", NEW))


@pytest.mark.promise("master key: order")
async def test_a_process_that_starts_with_earlier_settings_does_not_bring_the_old_key_back(
    server, tmp_path, former
):
    await begun(server.service, tmp_path / "keys")
    during = await process(server.service, tmp_path / "during", former, NEW)
    assert during.master_key.fingerprint() == fingerprint(NEW)
    await master_keys.follow(during)
    await done(server)
    after = await process(server.service, tmp_path / "after", former, NEW)
    await master_keys.follow(after)

    assert (await instance_of(server.service)).key_replacement is None
    assert after.master_key.fingerprint() == fingerprint(NEW)


async def test_of_two_processes_with_different_new_keys_one_replaces_the_key(
    server, tmp_path, former
):
    one = await process(server.service, tmp_path / "one", NEW, former)
    two = await process(server.service, tmp_path / "two", bytes(32), former)

    await master_keys.begin(one, await instance_of(one), NEW)
    await master_keys.follow(one)
    with pytest.raises(ConfigError, match="another master key"):
        await master_keys.follow(two)

    assert master_keys.in_charge(await instance_of(one)) == fingerprint(NEW)


async def test_a_new_key_without_the_former_one_is_refused_and_changes_nothing(
    server, tmp_path, former
):
    before = await everything(server.store)

    with pytest.raises(ConfigError, match="made with another master key"):
        await process(server.service, tmp_path / "keys", NEW)
    with pytest.raises(ConfigError, match="made with another master key"):
        await process(server.service, tmp_path / "keys", NEW, bytes(32))

    assert await everything(server.store) == before


async def test_a_start_without_the_former_key_is_refused_until_nothing_needs_it(
    server, tmp_path, former
):
    await begun(server.service, tmp_path / "keys")

    with pytest.raises(ConfigError, match=r"master\.key\.old.*old_master_key_files"):
        await process(server.service, tmp_path / "alone", NEW)

    await done(server)
    assert (await process(server.service, tmp_path / "alone", NEW)).master_key


async def test_an_earlier_release_refuses_the_store_with_either_key(server, tmp_path, former):
    """It compares `key_check` with the fingerprint of its key."""
    await begun(server.service, tmp_path / "keys")
    check = (await instance_of(server.service)).key_check

    assert check not in (MasterKey(former).fingerprint(), MasterKey(NEW).fingerprint())


async def test_a_process_that_lacks_the_new_key_says_so_and_encrypts_nothing_until_it_has_it(
    server, tmp_path, former
):
    lacking = await process(server.service, tmp_path / "lacking", former)
    await begun(server.service, tmp_path / "keys")
    sealed = lacking.master_key.seal("secret", PURPOSE)

    with pytest.raises(ConfigError, match="another master key"):
        await master_keys.follow(lacking)

    with pytest.raises(SealingStopped, match="has not been given the master key in charge"):
        lacking.master_key.seal("secret", PURPOSE)
    assert lacking.master_key.open(sealed, PURPOSE) == b"secret"
    give(tmp_path / "lacking", NEW, former)
    await master_keys.follow(lacking)
    sealed = lacking.master_key.seal("secret", PURPOSE)
    assert server.service.master_key.open(sealed, PURPOSE) == b"secret"


async def test_what_the_former_key_encrypts_is_worth_nothing_once_it_was_replaced(
    server, tmp_path, former
):
    forged = MasterKey(former).seal("forged", PURPOSE)
    await begun(server.service, tmp_path / "keys")
    assert server.service.master_key.open(forged, PURPOSE) == b"forged"

    await done(server)
    await master_keys.follow(server.service)

    restarted = await process(server.service, tmp_path / "keys", NEW, former)
    for each in (server.service, restarted):
        with pytest.raises(WrongKey):
            each.master_key.open(forged, PURPOSE)


# The data directory


async def test_the_key_in_the_data_directory_is_replaced_while_the_service_runs(
    server, tmp_path, data, former
):
    running = await process(server.service, data, former)

    await master_keys.replace_in_data_dir(server.service)

    present, old = master_keys.given(server.service.config, server.service.random)
    assert (old, present == former) == (former, False)
    assert (data / "master.key").stat().st_mode & 0o777 == 0o600
    assert (data / "master.key.old").stat().st_mode & 0o777 == 0o600
    await master_keys.follow(server.service)
    sealed = server.service.master_key.seal("secret", PURPOSE)
    assert running.master_key.open(sealed, PURPOSE) == b"secret"
    await master_keys.follow(running)
    assert running.master_key.fingerprint() == fingerprint(present)
    await first_start.ensure_instance(running)


async def test_the_former_key_is_removed_from_the_data_directory_when_nothing_needs_it(
    server, data
):
    await master_keys.replace_in_data_dir(server.service)
    await master_keys.follow(server.service)
    assert sorted(each.name for each in data.iterdir()) == ["master.key", "master.key.old"]

    await done(server)
    await master_keys.follow(server.service)

    assert [each.name for each in data.iterdir()] == ["master.key"]


async def test_a_second_replacement_is_refused_until_the_first_is_done(server, data):
    await master_keys.replace_in_data_dir(server.service)
    before = {each.name: each.read_bytes() for each in data.iterdir()}

    with pytest.raises(FailedPrecondition, match="is being replaced already"):
        await master_keys.replace_in_data_dir(server.service)

    assert {each.name: each.read_bytes() for each in data.iterdir()} == before
    await done(server)
    await master_keys.replace_in_data_dir(server.service)
    assert (await instance_of(server.service)).key_replacement is not None


async def test_a_command_that_meets_another_one_is_refused(server, data):
    before = await everything(server.store)

    with key_files.locked(data), pytest.raises(AlreadyRunning, match="try again"):
        await master_keys.replace_in_data_dir(server.service)

    assert [each.name for each in data.iterdir()] == ["master.key"]
    assert await everything(server.store) == before


class Killed(BaseException):
    """The end of the process."""


@pytest.mark.promise("master key: interruption")
@pytest.mark.parametrize("at", [1, 2, 3, 4, 5])
async def test_a_command_that_is_killed_anywhere_leaves_the_right_key_and_can_be_repeated(
    server, tmp_path, data, former, monkeypatch, at
):
    calls = iter(range(1, 100))

    def dying(function):
        def call(*arguments, **named):
            if next(calls) == at:
                raise Killed
            return function(*arguments, **named)

        return call

    monkeypatch.setattr(key_files, "_encoded", dying(key_files._encoded))
    monkeypatch.setattr(private_files, "sync_directory", dying(private_files.sync_directory))
    monkeypatch.setattr(master_keys, "begin", dying(master_keys.begin))
    with pytest.raises(Killed):
        await master_keys.replace_in_data_dir(server.service)
    monkeypatch.undo()

    instance = await instance_of(server.service)
    given = master_keys.given(server.service.config, server.service.random)
    assert master_keys.needed(instance, given)
    await master_keys.replace_in_data_dir(server.service)
    after = await instance_of(server.service)
    present, old = master_keys.given(server.service.config, server.service.random)
    assert (old, master_keys.in_charge(after)) == (former, fingerprint(present))


async def test_a_start_after_a_killed_command_goes_on_with_it(server, data, former):
    key_files.replace(data, former, server.service.random)

    await master_keys.follow(server.service)

    instance = await instance_of(server.service)
    present, _ = master_keys.given(server.service.config, server.service.random)
    assert master_keys.in_charge(instance) == fingerprint(present) != fingerprint(former)


async def test_an_unrelated_old_key_in_the_data_directory_is_left_there(server, data):
    write(data / "master.key.old", bytes(32))

    await master_keys.follow(server.service)

    assert (data / "master.key.old").exists()


async def test_an_old_key_that_others_can_read_is_refused(server, data, former):
    write(data / "master.key.old", bytes(32))
    (data / "master.key.old").chmod(0o644)

    with pytest.raises(ConfigError, match="open to others"):
        master_keys.given(server.service.config, server.service.random)


async def test_a_running_service_follows_by_itself_and_again_after_a_failure(
    server, tmp_path, data, former, monkeypatch
):
    timer = SteppingTimer()
    running = replace(await process(server.service, data, former), timer=timer)
    async with master_keys.following(running):
        monkeypatch.setattr(master_keys, "_given_now", lambda *_: [])
        await master_keys.replace_in_data_dir(server.service)
        await until(lambda: timer.sleepers)
        await timer.advance(master_keys.FOLLOW_SECONDS)
        await until(lambda: timer.sleepers)
        assert running.master_key.fingerprint() == fingerprint(former)
        monkeypatch.undo()
        await timer.advance(master_keys.FOLLOW_SECONDS)

        await until(lambda: running.master_key.fingerprint() != fingerprint(former))
