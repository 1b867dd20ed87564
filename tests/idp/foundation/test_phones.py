"""Phone numbers: what is typed, and the one form in which it is kept."""

from __future__ import annotations

import phonenumbers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idp.foundation import phones


def by_the_library(text):
    number = phonenumbers.parse(text)
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


@pytest.mark.full
@given(st.from_regex(r"\+[1-9][0-9]{4,14}", fullmatch=True))
@settings(max_examples=500, deadline=None)
def test_digits_in_one_piece_have_the_form_that_the_library_gives_them(text):
    try:
        found = phones.e164(text)
    except ValueError:
        found = None
    try:
        expected = by_the_library(text)
    except phonenumbers.NumberParseException:
        expected = None

    assert found == (expected if expected and len(expected) <= 16 else None)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("+41791234567", "+41791234567"),
        ("+41 79 123 45 67", "+41791234567"),
        ("+41 (0)79 123-45-67", "+41791234567"),
        ("+410791234567", "+41791234567"),  # what is dialled before it only within the country
        ("+390612345678", "+390612345678"),  # in Italy it belongs to the number
        ("+1 (212) 555-1234", "+12125551234"),
        ("+870773111632", "+870773111632"),  # of no country: a satellite's
    ],
)
def test_a_number_has_one_form(typed, kept):
    assert phones.e164(typed) == kept


@pytest.mark.parametrize(
    "text", ["", "+", "0791234567", "+0791234567", "+999123456789", "+4179123456789012", "+41 79x"]
)
def test_what_is_no_number_with_its_country_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011 - its text is the number, and told to nobody
        phones.e164(text)
