"""What tests of the master key's replacement share."""

from __future__ import annotations

import pytest

from tests.support.service import use_settings
from tests.support.store.backups import master_key_of
from tests.support.store.master_keys import give


@pytest.fixture
def former(server) -> bytes:
    """The master key of before."""
    return master_key_of(server.service)


@pytest.fixture
def data(server, tmp_path, former):
    """The data directory of the service, with its key."""
    directory = tmp_path / "data"
    settings = give(directory, former)
    use_settings(server.service, **settings)
    return directory
