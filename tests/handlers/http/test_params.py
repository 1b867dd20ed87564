"""Strict reading of query and form octets, held against the standard library where it agrees."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handlers.http import params
from handlers.http.params import FORM_TYPE, MAX_FIELDS
from idp.oauth.errors import InvalidRequest

TEXT = st.text(st.characters(codec="utf-8"))
PAIRS = st.lists(st.tuples(TEXT, TEXT), max_size=20)


def in_order(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """`Params.pairs` keeps repeated values together, each name where it came first."""
    names = list(dict.fromkeys(name for name, _ in pairs))
    return [(name, value) for name in names for sent, value in pairs if sent == name]


@pytest.mark.full
@settings(deadline=None)
@given(PAIRS, st.sampled_from([quote, None]))
def test_whatever_was_encoded_is_read_back(pairs, quote_via):
    options = {"quote_via": quote_via} if quote_via else {}
    raw = urlencode(pairs, **options).encode()

    assert params.parse(raw).pairs() == in_order(pairs)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_at_most_an_invalid_request(raw):
    try:
        read = params.parse(raw).pairs()
    except InvalidRequest:
        return
    assert all(value.encode() is not None for pair in read for value in pair)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "=", "&", "+", "%41", "%20", "%26", "%3D", ";"])))
def test_the_standard_library_reads_well_formed_text_alike(pieces):
    raw = "".join(pieces)

    assert params.parse(raw.encode()).pairs() == in_order(
        parse_qsl(raw, keep_blank_values=True, separator="&")
    )


@pytest.mark.parametrize(
    ("raw", "pairs"),
    [
        (b"", []),
        (b"&&&", []),
        (b"a", [("a", "")]),
        (b"a=", [("a", "")]),
        (b"=b", [("", "b")]),
        (b"a=b=c", [("a", "b=c")]),
        (b"a=+%2B%20", [("a", " + ")]),
        (b"a=%00%0D%0A", [("a", "\0\r\n")]),
        (b"a= b ", [("a", " b ")]),
        (b"a=1;b=2", [("a", "1;b=2")]),
        (b"a=\xc3\xa9", [("a", "\u00e9")]),
        (b"a=%EF%BB%BF", [("a", "\ufeff")]),
        (b"a[]=1&a[$ne]=2", [("a[]", "1"), ("a[$ne]", "2")]),
        (b"a=1&a=2", [("a", "1"), ("a", "2")]),
    ],
)
def test_nothing_is_stripped_merged_or_replaced(raw, pairs):
    assert params.parse(raw).pairs() == pairs


@pytest.mark.parametrize(
    "raw",
    [
        b"a=%",
        b"a=%4",
        b"a=%zz",
        b"%=a",
        b"a=%u0041",
        b"a=%+1",
        b"a=%ff",
        b"a=\xff",
        b"a=%c0%af",
        b"a=%ed%a0%80",
        b"a=%f5%80%80%80",
        b"%ff=a",
    ],
)
def test_what_is_not_percent_encoded_utf_8_is_refused(raw):
    with pytest.raises(InvalidRequest):
        params.parse(raw)


def test_a_hundred_parameters_are_the_most():
    def fields(count: int) -> bytes:
        return "&".join(f"p{n}=1" for n in range(count)).encode()

    assert len(params.parse(fields(MAX_FIELDS)).pairs()) == MAX_FIELDS
    with pytest.raises(InvalidRequest):
        params.parse(fields(MAX_FIELDS + 1))


@pytest.mark.parametrize(
    "kind",
    [
        FORM_TYPE,
        FORM_TYPE.upper(),
        f" {FORM_TYPE} ",
        f"{FORM_TYPE};",
        f"{FORM_TYPE}; charset=utf-8",
        f"{FORM_TYPE};charset=UTF-8",
        f'{FORM_TYPE}; charset="utf-8"',
        f"{FORM_TYPE}; charset=ISO-8859-1",
        f"{FORM_TYPE}; charset=latin-1",
        f"{FORM_TYPE}; charset=",
        f"{FORM_TYPE}; boundary=x",
        f"{FORM_TYPE}; charset=utf-8; version=1",
    ],
)
def test_a_form_is_read_whatever_the_case_and_the_parameters_of_its_type(kind):
    assert params.parse_form(kind, b"a=%C3%A9").get("a") == "\u00e9"


@pytest.mark.parametrize("body", [b"a=\xe9", b"a=%E9"])
def test_a_charset_does_not_change_that_a_form_is_utf_8(body):
    with pytest.raises(InvalidRequest, match="not UTF-8"):
        params.parse_form(f"{FORM_TYPE}; charset=ISO-8859-1", body)


@pytest.mark.parametrize(
    "kind",
    [
        None,
        "",
        "application/json",
        "multipart/form-data; boundary=x",
        "text/plain",
        f"{FORM_TYPE}x",
        f"x{FORM_TYPE}",
        f"{FORM_TYPE} charset=utf-8",
        f"{FORM_TYPE}, {FORM_TYPE}",
    ],
)
def test_any_other_type_is_refused(kind):
    with pytest.raises(InvalidRequest):
        params.parse_form(kind, b"a=1")
