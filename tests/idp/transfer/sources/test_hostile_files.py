"""Files that nobody wrote with good intentions, or that were cut off on their way."""

from __future__ import annotations

import io
import json
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from idp.transfer.sources import source
from idp.transfer.sources.json_text_reader import JsonTextReader
from idp.transfer.sources.key_index import KeyIndex
from idp.transfer.sources.source import SourceRefused
from tests.support.transfer.migrating import (
    auth0_files,
    auth0_password,
    auth0_user,
    keycloak_user,
    lines,
    migrate,
    realm,
)

GOOD = json.dumps(auth0_user(7)).encode()
BAD = {
    "cut off in a text": (b'{"user_id": "auth0|1', "source.unreadable"),
    "cut off behind a comma": (b'{"user_id": "auth0|1",', "source.unreadable"),
    "single quotation marks": (b"{'user_id': 'x'}", "source.unreadable"),
    "a comma too much": (b'{"user_id": "x",}', "source.unreadable"),
    "no object": (b"17", "field.wrong_type"),
    "a text": (b'"x"', "field.wrong_type"),
    "a word": (b"null", "field.wrong_type"),
    "nonsense": (b"<html>", "source.unreadable"),
    "a doubled name": (b'{"user_id": "x", "user_id": "y"}', "json.duplicate"),
    "NaN": (b'{"user_id": "x", "logins_count": NaN}', "json.number"),
    "endless": (b'{"user_id": "x", "logins_count": 1e400}', "json.number"),
    "5,000 digits": (b'{"user_id": "x", "n": ' + b"9" * 5000 + b"}", "json.number"),
    "half a character": (b'{"user_id": "\\ud800"}', "json.characters"),
    "NUL": (b'{"user_id": "\\u0000"}', "json.characters"),
    "not UTF-8": (b'{"user_id": "J\xf6rg"}', "source.encoding"),
    "nested": (b'{"user_id": ' + b"[" * 100 + b"]" * 100 + b"}", "json.too_deep"),
    "nested endlessly": (b'{"user_id": ' + b"[" * 9999 + b"]" * 9999 + b"}", "json.too_deep"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("layout", ["stream", "array"])
def test_a_record_that_can_not_be_read_is_reported_and_the_others_go_in(tmp_path, name, layout):
    bad, error_code = BAD[name]
    others = [json.dumps(auth0_user(n)).encode() for n in (1, 2)]
    records = [others[0], bad, others[1]]
    content = b"\n".join(records) if layout == "stream" else b"[\n" + b",\n".join(records) + b"]"

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, content)))

    assert made.code == 3
    assert [each["user"]["userName"] for each in made.people] == [
        "user1@example.com",
        "user2@example.com",
    ]
    assert (made.rows[0]["action"], made.error_codes[0]) == ("fail", error_code)
    assert made.rows[0]["path"] == f"users.json:{2 if layout == 'stream' else 3}"


@pytest.mark.parametrize("end", range(1, len(GOOD), 7))
def test_a_file_that_ends_in_the_middle_is_reported(tmp_path, end):
    content = lines(auth0_user(1)) + GOOD[:end]

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, content)))

    assert made.code == 3
    assert len(made.people) == 1
    assert made.rows[0]["row"] == 2


def test_a_line_that_ends_in_the_middle_is_reported_by_its_own_number(tmp_path):
    content = lines(auth0_user(1)) + b'{"user_id":\n' + lines(auth0_user(3))

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, content)))

    (problem,) = made.rows[0]["problems"]
    assert made.rows[0]["path"] == "users.json:2"
    assert problem["message"] == "is not JSON: it ends too early in line 2"
    assert len(made.people) == 2


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_realm_that_ends_in_the_middle_of_its_users_is_reported(tmp_path, share):
    whole = realm(*map(keycloak_user, range(1, 21)), clients=[], keycloakVersion="")
    (tmp_path / "realm.json").write_bytes(whole[: int(len(whole) * share)])

    made = migrate(tmp_path, "keycloak", "--realm", str(tmp_path / "realm.json"))

    assert made.code == 3
    assert made.people == [
        {**each, "userId": keycloak_user(n)["id"]} for n, each in enumerate(made.people, 1)
    ]
    assert made.error_codes[0] in ("source.cut_off", "source.unreadable")


def test_a_broken_user_in_a_realm_is_reported_and_the_others_go_in(tmp_path):
    content = realm(*map(keycloak_user, range(1, 6)))
    (tmp_path / "realm.json").write_bytes(content.replace(b'"username": "user3"', b'"username": '))

    made = migrate(tmp_path, "keycloak", "--realm", str(tmp_path / "realm.json"))

    assert made.code == 3
    assert [each["user"]["userName"] for each in made.people] == [f"user{n}" for n in (1, 2, 4, 5)]
    assert made.error_codes == ["source.unreadable"]


def test_a_realm_without_line_breaks_is_read_too(tmp_path):
    document = json.loads(realm(*map(keycloak_user, range(1, 600))))
    text = json.dumps(document).replace('"username": "user300"', '"username": oops')
    (tmp_path / "realm.json").write_text(text)

    made = migrate(tmp_path, "keycloak", "--realm", str(tmp_path / "realm.json"))

    assert len(made.people) == 598
    assert made.error_codes == ["source.unreadable"]


@pytest.mark.parametrize("record", [b'{"a": "' + b"x" * (9 << 20) + b'"}', b'{"a": ' + b"[" * 99])
def test_what_is_longer_than_any_record_is_passed_over(tmp_path, record):
    content = record + b"\n" + lines(auth0_user(1))

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, content)))

    assert len(made.people) == 1
    assert made.code == 3


def test_broken_passwords_are_reported_and_the_others_count(tmp_path):
    passwords = b'{"email": \n{"email": "x"}\n' + lines(auth0_password(1))

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, lines(auth0_user(1)), passwords)))

    assert made.code == 3
    assert "hashedPassword" in made.people[0]["user"]
    assert [row["path"] for row in made.rows] == ["passwords.json:1", "passwords.json:2"]


RECORDS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*auth0_user(), "app_metadata", "identities", "blocked", "\n", "x"]),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)


@pytest.mark.full
@pytest.mark.promise("migration: from tables and lines")
@given(st.lists(RECORDS | st.integers(1, 5).map(auth0_user), min_size=1, max_size=12))
@settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
def test_each_record_ends_in_the_package_or_in_the_report(tmp_path, records):
    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, lines(*records))))

    told = {row["row"]: row["action"] for row in made.rows}
    left_out = [row for row, action in told.items() if action == "fail"]
    count = sum(len(each) if isinstance(each, list) else 1 for each in records)
    assert len(made.people) + len(left_out) == count
    assert made.code == (3 if left_out else 0)


@pytest.mark.full
@given(st.binary(max_size=200) | st.text('{}[],:"\\ \n\t1ax', max_size=80).map(str.encode))
@settings(deadline=None, max_examples=300)
def test_whatever_the_bytes_are_reading_them_ends(octets):
    if not JsonTextReader(io.BytesIO(octets)).peek():
        with pytest.raises(SourceRefused, match="x is empty"):
            list(source.records(JsonTextReader(io.BytesIO(octets)), "x"))
        return
    pieces = list(source.records(JsonTextReader(io.BytesIO(octets)), "x"))

    assert [piece.row for piece in pieces] == list(range(1, len(pieces) + 1))


@pytest.mark.full
@given(st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=40) | st.integers(0, 9))))
@settings(deadline=None, max_examples=100)
def test_what_was_written_is_read_in_whatever_layout(records):
    layouts = [
        "".join(json.dumps(each) + "\n" for each in records),
        " ".join(json.dumps(each, indent=3, ensure_ascii=False) for each in records),
        json.dumps(records),
        json.dumps(records, indent=2),
    ]
    for content in filter(None, layouts):  # without records, the first two are empty files
        octets = content.encode("utf-8", "surrogatepass")
        found = [each.value for each in source.records(JsonTextReader(io.BytesIO(octets)), "x")]
        assert len(found) == len(records)
        if "\\u0000" not in content and "\\ud" not in content and not _has_halves(content):
            assert found == records


def _has_halves(text):
    return any("\ud800" <= each <= "\udfff" or each == "\0" for each in text)


# What it takes


@pytest.mark.full
def test_a_hundred_thousand_keys_take_54_bytes_each_at_most():
    index, count = KeyIndex(), 100_000
    tracemalloc.start()
    try:
        for number in range(count):
            assert index.add(f"key {number}", number) is None
        size, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert size <= 36 * count
    assert most <= 54 * count
    assert index.add("key 7", 1) == 7
    assert (index.get("key 99999"), index.get("key 100000")) == (99999, None)
