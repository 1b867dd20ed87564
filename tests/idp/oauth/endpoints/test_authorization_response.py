"""Where an authorization response is put, and that every value survives the way."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idp.config.settings import Config
from idp.foundation import uris
from idp.oauth.endpoints import authorization_response
from idp.oauth.endpoints.authorization_response import ReturnTo
from idp.oauth.errors import AccessDenied

CONFIG = Config(issuer="https://id.example")
URI = "https://client.example/cb"
TEXT = st.text(st.characters(codec="utf-8"), min_size=1)


def pairs_of(part: str) -> list[tuple[str, str]]:
    return parse_qsl(part, keep_blank_values=True, strict_parsing=True)


@pytest.mark.full
@settings(deadline=None)
@given(TEXT, TEXT, st.sampled_from(["query", "fragment"]))
def test_any_state_and_value_survive(state, code, mode):
    to = ReturnTo(redirect_uri=URI, mode=mode, state=authorization_response.encode_state(state))
    parts = urlsplit(authorization_response.success(CONFIG, to, code=code).address)
    sent, empty = (parts.query, parts.fragment)[:: 1 if mode == "query" else -1]

    assert pairs_of(sent) == [("code", code), ("state", state), ("iss", CONFIG.issuer)]
    assert empty == ""


@settings(deadline=None)
@given(TEXT)
def test_a_location_is_printable_ascii_whatever_it_holds(state):
    to = ReturnTo(redirect_uri=URI, state=authorization_response.encode_state(state))
    location = authorization_response.success(CONFIG, to, code="c").address

    assert location.isascii()
    assert location.isprintable()
    assert "+" not in location
    assert " " not in location


@settings(deadline=None)
@given(TEXT)
def test_a_state_can_be_stored_by_every_back_end(state):
    kept = authorization_response.encode_state(state)

    assert kept.isascii()
    assert "\0" not in kept


@pytest.mark.promise("authorization: exact state")
def test_no_state_is_invented():
    assert authorization_response.encode_state(None) is None
    assert (
        "state"
        not in authorization_response.success(CONFIG, ReturnTo(redirect_uri=URI), code="c").address
    )


def test_a_failure_has_its_code_description_state_and_issuer():
    to = ReturnTo(redirect_uri=URI, state="s")
    reply = authorization_response.failure(CONFIG, to, AccessDenied("cancelled by the user"))

    assert pairs_of(urlsplit(reply.address).query) == [
        ("error", "access_denied"),
        ("error_description", "cancelled by the user"),
        ("state", "s"),
        ("iss", CONFIG.issuer),
    ]


@settings(deadline=None)
@given(TEXT, TEXT)
def test_a_form_has_the_values_themselves_and_leaves_the_address_alone(state, code):
    to = ReturnTo(
        redirect_uri=URI, mode="form_post", state=authorization_response.encode_state(state)
    )
    reply = authorization_response.success(CONFIG, to, code=code)

    assert reply.form == [("code", code), ("state", state), ("iss", CONFIG.issuer)]
    assert reply.address == URI
    assert authorization_response.can_post(to) == (not set(state) & set("\0\r\n"))


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("https://c.example/cb", "https://c.example/cb?a=1"),
        ("https://c.example/cb?", "https://c.example/cb?a=1"),
        ("https://c.example/cb?x=1", "https://c.example/cb?x=1&a=1"),
        ("https://c.example/cb?x=1&", "https://c.example/cb?x=1&a=1"),
        ("https://c.example/cb?x=%20+%2B", "https://c.example/cb?x=%20+%2B&a=1"),
        ("app:/cb", "app:/cb?a=1"),
    ],
)
def test_the_query_of_a_redirect_uri_stays_as_it_is(uri, expected):
    assert uris.with_parameters(uri, [("a", "1")]) == expected
    assert uris.with_parameters(uri, [("a", "1")], mode="fragment") == f"{uri}#a=1"
    assert uris.with_parameters(uri, []) == uri


@pytest.mark.promise("logout: methods")
def test_after_a_logout_only_the_state_is_added():
    assert (
        authorization_response.with_state(ReturnTo(redirect_uri=URI, state="a%20b"))
        == f"{URI}?state=a%20b"
    )
    assert authorization_response.with_state(ReturnTo(redirect_uri=URI)) == URI
