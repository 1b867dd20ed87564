"""Packages that are opened from a file."""

from __future__ import annotations

import json

import pytest

from idp.transfer.package import format as package_format
from tests.support.transfer.packing import KINDS, Trickle


@pytest.fixture
def open_package(tmp_path):
    folders = iter(range(1_000_000))

    def open(octets, most=1 << 30):
        scratch = tmp_path / str(next(folders))
        scratch.mkdir()
        source = octets if isinstance(octets, str | bytes) else json.dumps(octets)
        source = source.encode() if isinstance(source, str) else source
        return package_format.read_package(Trickle(source, most), scratch, KINDS)

    return open
