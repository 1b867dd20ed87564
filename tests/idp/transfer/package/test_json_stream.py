"""The reader of JSON of any size gives what another parser gives, wherever the document is cut."""

from __future__ import annotations

import io
import json
import re
from contextlib import suppress

import ijson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.transfer.package.envelope_scanner import EnvelopeScanner
from idp.transfer.package.json_stream import JsonStream

TEXTS = st.text(max_size=12) | st.text('"\\{}[],:/\n\u20ac\U0001f600', max_size=12)
TEXTS = TEXTS.filter(lambda text: "\0" not in text)
# The other parser refuses the smallest integer of 64 bits.
NUMBERS = st.integers(1 - 2**63, 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=30,
)
LAYOUTS = st.fixed_dictionaries(
    {"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 0, 1, 3])}
)
STRICTER = ("json.duplicate", "json.characters", "json.number")
SIZES = st.lists(st.integers(1, 7) | st.integers(1, 300), min_size=1, max_size=8)


class Cut(io.BytesIO):
    """A file that gives as many octets at a time as `sizes` say, over and over."""

    def __init__(self, octets, sizes):
        super().__init__(octets)
        self.sizes = sizes

    def read(self, octets=-1):
        self.sizes = [*self.sizes[1:], self.sizes[0]]
        return super().read(min(octets, self.sizes[0]))


def walked(stream, depth):
    """The value that begins here: the outer levels as the package's reader walks through them."""
    match stream.peek() if depth else "":
        case "{":
            return {name: walked(stream, depth - 1) for name in stream.members()}
        case "[":
            return [walked(stream, depth - 1) for _ in stream.elements()]
        case '"':
            return encodable("".join(stream.text()))
    return stream.value()


def encodable(text):
    """The text, unless it holds a lone surrogate, which whoever writes it out refuses."""
    if re.search("[\ud800-\udfff]", text):
        raise InvalidArgument([FieldProblem("json.characters", "", "contains a lone surrogate")])
    return text


def read(octets, sizes, depth):
    stream = JsonStream(Cut(octets, sizes))
    value = walked(stream, depth)
    stream.end()
    return value


def oracle(octets):
    (value,) = ijson.items(io.BytesIO(octets), "", use_float=True)
    return value


def written(document, layout):
    return json.dumps(document, **layout).encode()


@pytest.mark.full
@given(DOCUMENTS, LAYOUTS, SIZES, st.integers(0, 6))
@settings(deadline=None, max_examples=150)
def test_a_document_is_the_same_wherever_it_is_cut(document, layout, sizes, depth):
    octets = written(document, layout)

    assert read(octets, sizes, depth) == oracle(octets) == document


@pytest.mark.full
@given(st.dictionaries(TEXTS, DOCUMENTS, max_size=6), LAYOUTS, SIZES)
@settings(deadline=None, max_examples=100)
def test_the_outermost_members_are_the_same_wherever_it_is_cut(document, layout, sizes):
    octets, surface = written(document, layout), EnvelopeScanner()
    file = Cut(octets, sizes)
    while chunk := file.read(300):
        surface.feed(chunk)

    assert surface.read() == {
        name: None if isinstance(value, dict | list) else value
        for name, value in oracle(octets).items()
    }


@pytest.mark.full
@given(DOCUMENTS, SIZES, st.integers(0, 6), st.data())
@settings(deadline=None, max_examples=150)
def test_what_another_parser_refuses_is_refused_with_its_position(document, sizes, depth, data):
    whole = json.dumps(document)
    at = data.draw(st.integers(0, len(whole)))
    mistake = data.draw(st.sampled_from([*'{}[],:"\\1ax ', ""]))
    octets = (whole[:at] + mistake + whole[at + data.draw(st.integers(0, 2)) :]).encode()
    expected = None
    with suppress(ijson.JSONError, ValueError):
        expected = [oracle(octets)]
    try:
        found = [read(octets, sizes, depth)]
    except InvalidArgument as refused:
        problem = refused.problems[0]
        place = re.search(r"at character ([0-9]+)$", problem.message)
        assert place is None or int(place[1]) <= len(octets)
        assert (place is not None) == (problem.error_code == "json.malformed")
        # Stricter than the other parser, which overlooks half a text behind the end.
        is_stricter = problem.error_code in STRICTER or "behind its end" in problem.message
        assert expected is None or is_stricter
    else:
        assert found == expected
