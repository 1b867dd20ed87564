"""A package takes memory and files as it should, whatever its size."""

from __future__ import annotations

import io
import json
import tracemalloc

import pytest

from idp.transfer.package import format as package_format
from idp.transfer.package.format import PackageRefused
from tests.support.transfer.packing import KINDS, of


def test_what_is_spooled_can_be_read_by_nobody_else(open_package, tmp_path):
    open_package({"data_orgsv1": json.dumps(of({"orgId": "o", "humanUsers": [{}]})["dataOrgs"])})

    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.name for path in files] == ["rows-1.ndjson"]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_which_rows_are_doubles_can_be_read_by_nobody_else(open_package, tmp_path):
    open_package(of({"orgId": "o", "humanUsers": [{"userId": "u"}] * 2}))

    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("rows-*")}
    assert modes == {"rows-1.ndjson": 0o600, "rows-1.firsts": 0o600}


class Endless(io.RawIOBase):
    """A package that is made while it is read."""

    def __init__(self, head, body, times, tail):
        self.parts = iter([head, *(body for _ in range(times)), tail])

    def read(self, octets=-1):
        return next(self.parts, b"")


USER = json.dumps(
    {
        "userId": "auth0|6042",
        "user": {
            "userName": "ada@example.com",
            "profile": {"firstName": "Ada", "lastName": "Lovelace", "preferredLanguage": "en"},
            "email": {"email": "ada@example.com", "isEmailVerified": True},
            "hashedPassword": {"value": "$2b$12$" + "a" * 53},
        },
    }
).encode()
HUGE = {
    "users": (b'{"orgs":[{"humanUsers":[0', (b"," + USER) * 1000, b'],"orgId":"o"}]}'),
    "a string": (b'{"data_orgsv1":"{\\"orgs\\":[]', b" " * 300_000, b'}"}'),
    "spaces": (b'{"orgs":[', b" " * 300_000, b"]}"),
    "a value": (b'{"orgs":[{"orgId":"o","x":[0', (b',"\\"]' + b"x" * 500 + b'"') * 600, b"]}]}"),
    "brackets": (b'{"orgs":[{"orgId":"o","x":', b"[" * 300_000, b""),
    "a number": (b'{"orgs":[{"orgId":"o","x":1', b"0" * 300_000, b"}]}"),
}


def peak(name, times, folder):
    head, body, tail = HUGE[name]
    tracemalloc.start()
    try:
        with_end = package_format.read_package(Endless(head, body, times, tail), folder, KINDS)
        for _ in with_end.batches(0, 500):
            pass
    except PackageRefused:
        assert name == "brackets"
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return most


@pytest.mark.load
@pytest.mark.parametrize("name", HUGE)
def test_a_package_of_hundreds_of_megabytes_takes_no_more_memory_than_a_small_one(tmp_path, name):
    """A small one has as many megabytes as a value may have, and twice that."""
    for folder in ("small", "large"):
        (tmp_path / folder).mkdir()
    octets = len(HUGE[name][1])

    small = peak(name, 40_000_000 // octets, tmp_path / "small")
    large = peak(name, 500_000_000 // octets, tmp_path / "large")

    assert large < small * 1.2 + 1_000_000 < 100_000_000
