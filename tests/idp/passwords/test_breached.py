"""Lists of breached passwords: three forms with the same answers, and lists that are refused."""

from __future__ import annotations

import hashlib
import random
import time
import tracemalloc
from pathlib import Path

import pytest

from idp.passwords import breached, compaction
from idp.passwords.breached import MAGIC, UnusableList, open_list
from tests.support.transfer.breached_lists import compact_file, directory, sha1, text_file

COUNTS = {f"breached {number}": number % 7 + 1 for number in range(1, 5001)}
OTHERS = [f"unknown {number}" for number in range(5000)]


@pytest.fixture(scope="module")
def lists(tmp_path_factory) -> dict[str, Path]:
    path = tmp_path_factory.mktemp("breached")
    text = text_file(path / "list.txt", COUNTS)
    return {
        "text": text,
        "directory": directory(path / "ranges", COUNTS),
        "plain directory": directory(path / "plain", COUNTS, suffix=""),
        "compact": compact_file(path / "list.idpb", text),
    }


@pytest.mark.promise("passwords: breached")
@pytest.mark.full
@pytest.mark.parametrize("form", ["text", "directory", "plain directory", "compact"])
def test_the_forms_agree_on_10_000_words(lists, form):
    listed = open_list(lists[form])

    assert all(listed.contains(password) for password in COUNTS)
    assert not any(listed.contains(password) for password in OTHERS)


@pytest.mark.full
@pytest.mark.parametrize("form", ["text", "directory", "compact"])
def test_a_password_that_was_seen_less_often_does_not_count(lists, tmp_path, form):
    path = lists[form]
    if form == "compact":
        path = compact_file(tmp_path / "often.idpb", lists["text"], 5)
    listed = open_list(path, 5)

    assert {password for password in COUNTS if listed.contains(password)} == {
        password for password, count in COUNTS.items() if count >= 5
    }


@pytest.mark.parametrize("source", ["text", "directory"])
def test_what_is_made_compact_is_the_same_whatever_it_was_made_of(lists, tmp_path, source):
    made = compact_file(tmp_path / "made.idpb", lists[source])

    assert made.read_bytes() == lists["compact"].read_bytes()
    assert len(made.read_bytes()) == 13 + 8 * len(COUNTS)


@pytest.mark.parametrize("password", ["", "ü", "密码", "x" * 200])
def test_any_text_can_be_looked_up(lists, tmp_path, password):
    assert not any(open_list(path).contains(password) for path in lists.values())
    assert open_list(text_file(tmp_path / "one.txt", {password: 1})).contains(password)


def test_the_first_and_the_last_line_are_found_also_without_a_line_feed(tmp_path):
    path = text_file(tmp_path / "list.txt", COUNTS, end="\n")
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    ordered = sorted(COUNTS, key=sha1)
    listed = open_list(path)

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
        (MAGIC, "truncated"),
        (MAGIC + (2).to_bytes(8, "big") + bytes(8), "truncated"),
        (MAGIC + (2).to_bytes(8, "big") + b"\xff" * 8 + bytes(8), "sorted"),
    ],
)
def test_a_file_that_is_cut_out_of_order_or_of_another_form_is_refused(tmp_path, content, reason):
    path = tmp_path / "list"
    path.write_bytes(content)

    with pytest.raises(UnusableList, match=reason):
        open_list(path)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "no range files"),
        ({"README": ""}, "hex digits"),
        ({"0A1B2.txt": "0" * 35 + ":1\n", "0A1B3": ""}, "some without"),
        ({"0A1B2.txt": "password:1\n"}, "SUFFIX:COUNT"),
        ({"0A1B2.txt": "0" * 35}, "SUFFIX:COUNT"),
    ],
)
def test_a_directory_of_something_else_is_refused(tmp_path, files, reason):
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="ascii")

    with pytest.raises(UnusableList, match=reason):
        open_list(tmp_path)


def test_what_is_not_there_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_list(tmp_path / "nowhere")


def test_an_unsorted_list_is_not_made_compact_and_nothing_is_left(tmp_path):
    path = tmp_path / "out.idpb"

    with pytest.raises(UnusableList, match="sorted"):
        compaction.compact(iter([b"\x02" * 20, b"\x01" * 20]), path, "draft")

    assert list(tmp_path.iterdir()) == []


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
    listed = open_list(path)
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
