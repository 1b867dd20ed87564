"""The rules of fields, each with what it takes and what it refuses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, ClassVar

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idp.foundation import strict_json
from idp.foundation.errors import InvalidArgument
from idp.schema import field_rules, reading
from idp.schema.field_rules import (
    Base64,
    Duration,
    EmailRule,
    FieldRefused,
    Instant,
    Integer,
    Items,
    Name,
    NotYet,
    OneOf,
    Text,
)
from idp.schema.reading import Request
from tests.support.management.api_samples import CALLS
from tests.support.slices import one_in

NOON = datetime(2030, 1, 31, 12, tzinfo=UTC)

TAKEN = [
    (Integer(), 0, 0),
    (Integer(), "-5", -5),
    (Integer(), "9223372036854775807", 2**63 - 1),
    (Integer(), -(2**63), -(2**63)),
    (Integer(1, 3), "3", 3),
    (Instant(), "2030-01-31T12:00:00Z", NOON),
    (Instant(), "2030-01-31t12:00:00z", NOON),
    (Instant(), "2030-01-31T14:00:00+02:00", NOON),
    (Instant(), "2030-01-31T12:00:00.123456789Z", NOON + timedelta(milliseconds=123)),
    (Duration(), "1h30m0s", timedelta(minutes=90)),
    (Duration(), "3600s", timedelta(hours=1)),
    (Duration(), "+1.5h", timedelta(minutes=90)),
    (Duration(), "0", timedelta(0)),
    (Base64(8), "cmVk", b"red"),
    (Base64(8), "-_8=", b"\xfb\xff"),
    (Base64(8), "+/8=", b"\xfb\xff"),
    (Text(), "", ""),
    (Text(max=3), "ü😀x", "ü😀x"),
    (Text(1, is_free=True), " \t", " \t"),
    (Items(2), [1, 2], [1, 2]),
    (NotYet("x.unsupported", list), [], []),
    (NotYet("x.unsupported"), False, False),
]
REFUSED = [
    *[(Integer(), value, "field.wrong_type") for value in (True, None, 1.0, "", "1.5", "0x1")],
    *[(Integer(), value, "field.wrong_type") for value in ("+1", "01", " 1", "１", "1_0", "-")],
    (Integer(), "9" * 20, "field.wrong_type"),
    (Integer(), "9223372036854775808", "field.out_of_range"),
    *[
        (EmailRule(), f"d{each}ana@bücher.example", "email.invalid")
        for each in "\ufe0f\u3164\u034f"
    ],
    (Integer(1, 3), 0, "field.out_of_range"),
    (Integer(1, 3), 4, "field.out_of_range"),
    *[
        (Instant(), value, "field.timestamp")
        for value in (
            "2030-01-31",
            "2030-01-31T12:00:00",
            "2030-01-31 12:00:00Z",
            "2030-02-30T12:00:00Z",
            "2030-01-31T25:00:00Z",
            "2030-01-31T12:00:60Z",
            "2030-01-31T12:00:00+24:00",
            "0000-01-01T00:00:00Z",
            "0001-01-01T00:00:00+23:00",
            "9999-12-31T23:59:59-23:00",
            "２030-01-31T12:00:00Z",
            "1896091200",
        )
    ],
    (Instant(), 1896091200, "field.wrong_type"),
    *[(Duration(), value, "field.duration") for value in ("", "5", "-1s", "1d", "NaN", "1e9s")],
    *[(Base64(8), value, "field.base64") for value in ("cmV", "cm k", "cmVk\n", "ä", "====")],
    (Base64(8), "", "field.empty"),
    (Base64(8), "A" * 12, "field.too_long"),
    (Text(3), "ab", "field.too_short"),
    (Text(max=3), "abcd", "field.too_long"),
    (Text(1), "   ", "field.empty"),
    (Text(), "a\tb", "field.characters"),
    (OneOf(("A",), ("B",), "x.unsupported"), "B", "x.unsupported"),
    (OneOf(("A",), ("B",), "x.unsupported"), "C", "field.unknown_name"),
    (OneOf(("A",)), 1, "field.wrong_type"),
    (Items(2), [1, 2, 3], "field.too_many"),
    (Items(2, min=1), [], "field.too_few"),
    (Items(2), "ab", "field.wrong_type"),
    (NotYet("x.unsupported"), True, "x.unsupported"),
    (NotYet("x.unsupported"), 0, "field.wrong_type"),
    (NotYet("x.unsupported", int), False, "field.wrong_type"),
    (NotYet("x.unsupported", str), "5s", "x.unsupported"),
]


@pytest.mark.parametrize(("rule", "value", "expected"), TAKEN)
def test_a_rule_takes_what_it_says(rule, value, expected):
    assert rule.read(value) == expected


@pytest.mark.parametrize(("rule", "value", "error_code"), REFUSED)
def test_a_rule_refuses_the_rest_by_an_error_code(rule, value, error_code):
    with pytest.raises(FieldRefused) as refused:
        rule.read(value)

    assert refused.value.error_code == error_code


def test_instants_are_utc_whatever_zone_they_came_in():
    at = Instant().read("2030-01-31T06:30:00-05:30")

    assert at == NOON
    assert at.tzinfo in (UTC, UTC)


class Inner(Request, frozen=True, kw_only=True):
    one_of: ClassVar = (("by_name", "by_id"),)

    by_name: Name | None = None
    by_id: Annotated[int, Integer()] | None = None


class Outer(Request, frozen=True, kw_only=True):
    first_name: Name
    inner: Inner | None = None
    inners: list[Inner] = []


def problems(document):
    with pytest.raises(InvalidArgument) as refused:
        reading.read(Outer, document)
    return {each.field: each.error_code for each in refused.value.problems}


def test_a_request_is_read_into_its_struct():
    read = reading.read(Outer, {"firstName": "A", "inner": {"by_id": "3"}, "inners": [{}]})

    assert read == Outer(first_name="A", inner=Inner(by_id=3), inners=[Inner()])


def test_of_a_group_one_may_be_sent_wherever_it_is():
    both = {"byName": "x", "byId": 1}

    assert problems({"firstName": "A", "inner": both, "inners": [{}, both]}) == {
        "inner.byId": "field.conflict",
        "inners[1].byId": "field.conflict",
    }


def test_problems_stand_at_their_paths_in_lists_and_objects():
    assert problems({"inner": {"by_id": True}, "inners": [{"x": 1}, 3, {"byName": ""}]}) == {
        "firstName": "field.required",
        "inner.byId": "field.wrong_type",
        "inners[0].x": "field.unknown",
        "inners[1]": "field.wrong_type",
        "inners[2].byName": "field.empty",
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def read_or_refused(read):
    """The problems that were found; nothing else may be raised."""
    try:
        read()
    except InvalidArgument as refused:
        return refused.problems
    return None


@pytest.mark.full
@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8")))
def test_any_bytes_are_read_or_refused(octets):
    assert read_or_refused(lambda: strict_json.decode(octets)) != ()


@pytest.mark.full
@pytest.mark.parametrize("call", one_in(8, (name for name, one in CALLS.items() if one.request)))
@settings(deadline=None)
@given(document=JSON)
def test_any_document_is_read_or_refused_in_words_that_can_be_sent(call, document):
    problems = read_or_refused(lambda: reading.read(CALLS[call].request, document))

    assert problems != ()
    assert msgspec.json.encode(problems)


@pytest.mark.full
@given(
    st.from_regex(r"[A-Za-z0-9_+.-]{1,12}@[a-z0-9.-]{1,12}\.[a-z]{1,4}", fullmatch=True),
)
def test_a_plain_address_is_read_as_the_library_would(address):
    """Most addresses are known by their looks; what isn't, goes to the library."""
    found = _library(address)

    assert not field_rules._PLAIN_ADDRESS.fullmatch(address) or found == address


def _library(address):
    checker = field_rules._email_checker()
    try:
        return checker.validate_email(
            address,
            check_deliverability=False,
            globally_deliverable=False,
            allow_quoted_local=True,
            allow_domain_literal=True,
        ).normalized
    except checker.EmailNotValidError:
        return None
