"""Lists of breached passwords: what is in them, and files that are refused."""

from __future__ import annotations

import hashlib
import random
import time
import tracemalloc
from pathlib import Path

import pytest

from idp.passwords import breached
from idp.passwords.breached import BreachedPasswords, UnusableList
from tests.support.transfer.breached_lists import sha1, text_file

COUNTS = {f"breached {number}": number % 7 + 1 for number in range(1, 5001)}
OTHERS = [f"unknown {number}" for number in range(5000)]


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    return text_file(tmp_path_factory.mktemp("breached") / "list.txt", COUNTS)


@pytest.mark.promise("passwords: breached")
@pytest.mark.full
def test_the_passwords_of_the_list_are_in_it_and_no_others(path):
    listed = BreachedPasswords(path)

    assert all(listed.contains(password) for password in COUNTS)
    assert not any(listed.contains(password) for password in OTHERS)


@pytest.mark.full
def test_a_password_that_was_seen_less_often_does_not_count(path):
    listed = BreachedPasswords(path, 5)

    assert {password for password in COUNTS if listed.contains(password)} == {
        password for password, count in COUNTS.items() if count >= 5
    }


@pytest.mark.parametrize("password", ["", "ü", "密码", "x" * 200])
def test_any_text_can_be_looked_up(path, tmp_path, password):
    assert not BreachedPasswords(path).contains(password)
    assert BreachedPasswords(text_file(tmp_path / "one.txt", {password: 1})).contains(password)


def test_the_first_and_the_last_line_are_found_also_without_a_line_feed(tmp_path):
    path = text_file(tmp_path / "list.txt", COUNTS, end="\n")
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    ordered = sorted(COUNTS, key=sha1)
    listed = BreachedPasswords(path)

    assert listed.contains(ordered[0])
    assert listed.contains(ordered[-1])


def _lines(*passwords: str) -> bytes:
    return b"".join(f"{sha1(password)}:1\n".encode() for password in passwords)


def _ordered() -> list[str]:
    return sorted(COUNTS, key=sha1)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"\n", "SHA1:COUNT"),
        (b"password\n123456\n", "SHA1:COUNT"),
        (b"x" * 100_000, "SHA1:COUNT"),
        (_lines(*reversed(_ordered())), "sorted"),
        (_lines(*_ordered())[:-30], "SHA1:COUNT"),
        (_lines(*_ordered())[7:], "SHA1:COUNT"),
        (_lines(*_ordered()).replace(b":1\n", b"\n"), "SHA1:COUNT"),
        (b"IDPB1" + (2).to_bytes(8, "big") + bytes(16), "SHA1:COUNT"),
    ],
)
def test_a_file_that_is_cut_out_of_order_or_of_another_form_is_refused(tmp_path, content, reason):
    path = tmp_path / "list"
    path.write_bytes(content)

    with pytest.raises(UnusableList, match=reason):
        BreachedPasswords(path)


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        BreachedPasswords(tmp_path / "nowhere")
    with pytest.raises(UnusableList, match="directory"):
        BreachedPasswords(tmp_path)


@pytest.mark.promise("passwords: breached")
@pytest.mark.load
def test_a_list_of_10_million_lines_answers_within_5_ms_in_5_mb(tmp_path):
    path, number = tmp_path / "list.txt", 10_000_000
    generator = random.Random(1)
    with path.open("wb") as file:
        step = (1 << 160) // number
        for index in range(number):
            value = index * step + generator.randrange(step)
            file.write(b"%040X:%d\n" % (value, index % 50 + 1))
    listed = BreachedPasswords(path)
    tracemalloc.start()
    took = []
    for index in range(300):
        began = time.perf_counter()
        assert not listed.contains(f"unknown {index}")
        took.append(time.perf_counter() - began)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert sorted(took)[-3] < 0.005
    assert peak < 5_000_000


def test_a_digest_is_that_of_the_bytes_in_utf_8():
    expected = hashlib.sha1("pässword".encode(), usedforsecurity=False).digest()

    assert breached.digest("pässword") == expected
