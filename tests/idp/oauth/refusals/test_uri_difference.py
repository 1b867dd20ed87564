"""How an address differs from the registered ones: one hint, about the one that was meant."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idp.oauth.refusals import uri_difference

KNOWN = [
    "https://client.example/cb",
    "http://127.0.0.1:8080/cb",
    "https://client.example/other/",
    "https://client.example/find?tenant=1",
    "app.example:/cb",
]
HINTS = [
    ("http://client.example/cb", "http was sent, https is registered."),
    ("https://127.0.0.1:8080/cb", "https was sent, http is registered."),
    ("https://client.example/cb/", "There is an extra / at the end."),
    ("https://client.example/other", "The / at the end is missing."),
    ("https://client.example/find", "The registered query is missing."),
    ("https://client.example/find?tenant=1&x=2", "was added. Send values"),
    ("https://client.example/cb?", "was added. Send values"),
    ("https://client.example/cb#", "A fragment, the part"),
    ("http://127.0.0.1/cb", "No port was sent, and port 8080 is registered."),
    ("http://127.0.0.1:/cb", "No port was sent, and port 8080 is registered."),
    (
        "https://client.example:8443/cb",
        "Port 8443 was sent, and the URI is registered without",
    ),
    ("http://[::1]:8080/cb", "[::1] was sent, 127.0.0.1 is registered"),
    ("HTTPS://client.example/cb", "Uppercase and lowercase letters differ."),
    ("https://client.example/CB", "Uppercase and lowercase letters differ."),
    ("https%253A%252F%252Fclient.example%252Fcb", "percent-encoded twice"),
    (" https://client.example/cb", "There is a space or a line break"),
    ("https://client.example/cb\r\n", "There is a space or a line break"),
]
NO_HINT = [
    "https://evil.example/cb",
    "https://client.example:/cb",
    "http://client.example/cb/",
    "http://localhost:3000/cb",
    "http://[",
    "//client.example/cb",
    "https://client.example@evil.example/cb",
    "javascript:alert(1)",
    "app.example://cb",
]


@pytest.mark.parametrize(("sent", "hint"), HINTS)
def test_what_can_be_recognised_is_reported(sent, hint):
    assert hint in uri_difference.english(uri_difference.closest(sent, KNOWN).hint)


@pytest.mark.parametrize("sent", NO_HINT)
def test_what_can_not_be_recognised_is_not_guessed(sent):
    assert uri_difference.closest(sent, KNOWN).hint is None


def test_where_nothing_is_registered_there_is_nothing_to_compare():
    assert uri_difference.closest("https://client.example/cb", []) is None
    assert uri_difference.difference("https://client.example/cb", []) == ""


def test_a_hint_wins_over_a_longer_common_beginning():
    known = ["https://client.example/callback", "http://client.example/cb"]

    assert uri_difference.closest("https://client.example/cb", known).address == known[1]


@given(st.text(), st.lists(st.text(), max_size=4))
def test_no_text_is_too_odd_to_be_compared(sent, known):
    said = uri_difference.difference(sent, known)

    assert bool(said) == bool(known)
    assert not [letter for letter in said if unicodedata.category(letter) in ("Cc", "Cs")]
