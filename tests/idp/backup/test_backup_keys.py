"""The master key on its way through a backup."""

from __future__ import annotations

import pytest

from idp.backup.contents import Head
from idp.foundation.errors import ConfigError
from idp.foundation.randomness import SystemRandom
from idp.keys import key_files
from storage import SCHEMA_ID, MetaRecord
from tests.support.clock import SteppingClock

KEY = bytes(range(32))


def test_the_masters_key_is_stored_once_and_never_replaced(tmp_path):
    key_files.store(tmp_path, KEY, SystemRandom())
    key_files.store(tmp_path, KEY, SystemRandom())

    path = tmp_path / key_files.KEY_FILE
    assert key_files.master_key(tmp_path, SystemRandom(), may_create=False) == KEY
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(ConfigError, match="another master key"):
        key_files.store(tmp_path, bytes(32), SystemRandom())
    assert key_files.master_key(tmp_path, SystemRandom(), may_create=False) == KEY
    assert [each.name for each in tmp_path.iterdir()] == [key_files.KEY_FILE]


def test_nobody_learns_the_master_key_from_a_traceback():
    schema = MetaRecord(id=SCHEMA_ID, version=1, oldest_reader=1)
    head = Head(made_at=SteppingClock().now(), program="1", schema=schema, master_key="canary")

    assert "canary" not in repr(head)
