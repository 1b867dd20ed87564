"""The outermost members of a document, found while it passes by in pieces."""

from __future__ import annotations

import json
import random

import pytest

from idp.foundation.errors import InvalidArgument
from idp.transfer.package.envelope_scanner import MAX_TEXT, EnvelopeScanner

TEXTS = ["", "a", '"', "\\", '\\"', "{", "]}", "\\u0000", "é", "\u2028", "x" * 70]


def document(chance, depth):
    kind = chance.random()
    if depth == 0 or kind < 0.3:
        return chance.choice([1, -2.5, None, True, *TEXTS])
    if kind < 0.65:
        return {f"{chance.choice(TEXTS)}{n}": document(chance, depth - 1) for n in range(4)}
    return [document(chance, depth - 1) for _ in range(4)]


def pieces(chance, octets):
    at = 0
    while at < len(octets):
        size = chance.choice([1, 2, 3, 7, 20, 100, 1000])
        yield octets[at : at + size]
        at += size


def surface(*fed):
    found = EnvelopeScanner()
    for octets in fed:
        found.feed(octets)
    return found.read()


def outermost(found):
    within = dict | list
    return {name: None if isinstance(value, within) else value for name, value in found.items()}


@pytest.mark.full
@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_same_in_whatever_pieces_the_document_comes(seed):
    chance = random.Random(seed)
    for _ in range(50):
        whole = {f"m{n}": document(chance, 5) for n in range(4)}
        octets = json.dumps(whole, ensure_ascii=chance.random() < 0.5).encode()

        assert surface(*pieces(chance, octets)) == outermost(whole)
        assert surface(octets) == outermost(whole)


def test_a_member_behind_a_large_one_is_found():
    whole = {"rows": [{"name": 'a"b', "tags": ["x", "y"]}] * 5000, "timeout": "3s"}

    assert surface(*pieces(random.Random(1), json.dumps(whole).encode())) == outermost(whole)


@pytest.mark.parametrize("levels", [3, 15, 16, 17, 18, 200])
def test_a_member_behind_one_that_is_nested_deeply_is_found(levels):
    octets = b'{"rows":' + b"[" * levels + b"1" + b"]" * levels + b',"timeout":"3s"}'

    for fed in ([octets], pieces(random.Random(levels), octets)):
        assert surface(*fed) == {"rows": None, "timeout": "3s"}


def test_a_long_text_is_only_reported_as_present():
    assert surface(json.dumps({"a": "x" * (MAX_TEXT + 1), "b": 1}).encode()) == {"a": "", "b": 1}


@pytest.mark.parametrize("cut", [1, 4, 9, 12, 20])
def test_a_document_that_was_cut_off_is_reported_as_such(cut):
    with pytest.raises(InvalidArgument, match="truncated"):
        surface(b'{"a": [{"b": "c"}, "d"]}'[:cut])


def test_what_is_no_json_is_not_reported_at_a_place_that_it_does_not_have():
    with pytest.raises(InvalidArgument) as caught:
        surface(b'{"a":[' + b"1," * 1000 + b"1]} x")

    assert caught.value.problems[0].message == "the body is not JSON: Extra data"
