"""What follows a replacement of the master key: processes that were stopped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from idp.audit import event_streams
from idp.foundation.randomness import SystemRandom
from idp.keys import key_files
from idp.keys.master_key import MasterKey, SealingStopped, WrongKey
from idp.oauth.endpoints import end_session
from idp.start import master_keys
from tests.support.clock import SteppingTimer
from tests.support.patience import until
from tests.support.service import use_settings
from tests.support.store.master_keys import (
    NEW,
    begun,
    done,
    instance_of,
    restart,
    waiting,
)

PURPOSE = "totp"


async def test_a_restart_with_the_new_key_alone_recognises_what_it_did_before(
    server, tmp_path, former
):
    mac = server.service.master_key.mac("refresh-token", "a token")
    await begun(server.service, tmp_path / "keys")
    await done(server)
    await restart(server.service, tmp_path / "alone", NEW)

    assert server.service.master_key.mac("refresh-token", "a token") == mac
    assert MasterKey(NEW).mac("refresh-token", "a token") != mac


async def test_a_cursor_of_the_event_stream_is_read_after_the_key_was_replaced(server, tmp_path):
    cursor = event_streams.encode(server.service.master_key, {"change": 7})
    await begun(server.service, tmp_path / "keys")
    await done(server)
    await restart(server.service, tmp_path / "alone", NEW)

    assert event_streams.decode(server.service.master_key, cursor) == {"change": 7}


async def test_values_that_no_key_opens_have_the_files_read_once_a_second(
    server, tmp_path, former, monkeypatch
):
    timer, reads = SteppingTimer(), []
    monkeypatch.setattr(master_keys, "SystemTimer", lambda: timer)
    monkeypatch.setattr(master_keys, "given", lambda *_: reads.append(1) or [former])
    key = master_keys.opened(
        server.service.config, server.service.random, await instance_of(server), [former]
    )
    for _ in range(3):
        with pytest.raises(WrongKey):
            key.open("v1.forged", PURPOSE)
    first = len(reads)
    await timer.advance(1)
    with pytest.raises(WrongKey):
        key.open("v1.forged", PURPOSE)

    assert (first, len(reads)) == (1, 2)


async def test_a_process_that_was_stopped_encrypts_nothing_before_it_knows_the_key_in_charge(
    server,
):
    timer = SteppingTimer()
    service = replace(server.service, timer=timer)
    async with master_keys.following(service):
        timer._now += master_keys.MAX_BEHIND_SECONDS  # it stands still, and its loop does not run
        with pytest.raises(SealingStopped):
            service.master_key.seal("secret", PURPOSE)
        await timer.advance(master_keys.FOLLOW_SECONDS)
        await until(lambda: _seals(service))


def _seals(service) -> bool:
    try:
        return bool(service.master_key.seal("secret", PURPOSE))
    except SealingStopped:
        return False


async def test_a_key_that_another_command_has_put_aside_meanwhile_is_not_removed(
    server, data, former, monkeypatch
):
    """Between the look at the former key and the lock, a whole replacement begins."""
    await master_keys.replace_in_data_dir(server.service)
    await done(server)
    locked = key_files.locked

    def after_another(directory):
        monkeypatch.setattr(key_files, "locked", locked)
        with locked(directory):
            key_files.replace(
                directory, key_files.master_key(directory, SystemRandom()), SystemRandom()
            )
        return locked(directory)

    in_charge = key_files.master_key(data, SystemRandom())
    monkeypatch.setattr(key_files, "locked", after_another)
    await master_keys.follow(server.service)

    assert key_files.read_old(data) == in_charge


async def test_a_process_that_meets_the_lock_of_another_follows_all_the_same(server, data, former):
    await master_keys.replace_in_data_dir(server.service)
    await done(server)
    with key_files.locked(data):
        await master_keys.follow(server.service)
        assert key_files.read_old(data) == former

    await master_keys.follow(server.service)
    assert key_files.read_old(data) is None


async def test_a_logout_that_was_begun_before_is_read_until_records_are_encrypted_again(
    server, tmp_path
):
    use_settings(server.service, sign_in_seconds=300)

    assert waiting(server.service) > end_session.LIFETIME
