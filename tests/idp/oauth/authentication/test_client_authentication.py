"""What a request says about its client, and whether it is true."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from types import SimpleNamespace
from urllib.parse import quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idp.foundation import opaque_tokens
from idp.oauth.authentication import claimed_client, client_authentication
from idp.oauth.authentication.claimed_client import Claimed
from idp.oauth.errors import InvalidClient, InvalidRequest
from idp.oauth.params import Params

NOW = datetime(2030, 1, 1, tzinfo=UTC)
TEXT = st.text(st.characters(codec="utf-8"))
ASSERTION = ("client_assertion", "e30.e30.e30")
ASSERTION_TYPE = ("client_assertion_type", claimed_client.ASSERTION_TYPE)


def basic(id: str, secret: str) -> str:
    pair = f"{quote_plus(id)}:{quote_plus(secret)}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def client_of(
    method: str, secret: str | None = None, state: str = "active", *, is_strict: bool = False
):
    secret_hash = opaque_tokens.digest(secret) if secret is not None else None
    return SimpleNamespace(
        id="c",
        name="Client",
        auth_method=method,
        is_auth_method_strict=is_strict,
        secret_hash=secret_hash,
        old_secret=None,
        state=state,
    )


@settings(deadline=None)
@given(TEXT, TEXT)
def test_any_id_and_secret_survive_the_basic_header(id, secret):
    assert claimed_client.read(basic(id, secret), Params()) == Claimed(
        method="client_secret_basic", client_id=id, secret=secret
    )


@settings(deadline=None)
@given(st.text())
def test_no_header_is_more_than_invalid(header):
    try:
        claimed = claimed_client.read(header, Params())
    except (InvalidClient, InvalidRequest):
        return
    assert claimed.method == "client_secret_basic"


@settings(deadline=None)
@given(st.binary())
def test_any_bytes_in_the_basic_header_are_at_most_invalid(octets):
    header = "Basic " + base64.b64encode(octets).decode()
    try:
        claimed_client.read(header, Params())
    except InvalidClient:
        return
    assert b":" in octets


def test_the_form_names_the_client_with_or_without_a_secret():
    by_post = Params([("client_id", "c"), ("client_secret", "s")])
    by_name = Params([("client_id", "c"), ("client_secret", "")])

    assert claimed_client.read(None, by_post) == Claimed("client_secret_post", "c", "s")
    assert claimed_client.read(None, by_name) == Claimed("none", "c")


UNCLEAR = [
    (basic("c", "s"), [("client_secret", "s")]),
    (basic("c", "s"), [("client_id", "c"), ("client_secret", "s")]),
    (basic("c", "s"), [("client_id", "other")]),
    (basic("c", "s"), [ASSERTION]),
    ("Bearer x", [("client_secret", "s")]),
    (None, [("client_id", "c"), ("client_secret", "s"), ASSERTION]),
    (None, [("client_id", "c"), ("client_id", "c")]),
    (None, [("client_id", "c"), ASSERTION]),
    (None, [("client_id", "c"), ASSERTION, ("client_assertion_type", "urn:other")]),
    (None, [("client_id", "c"), ASSERTION_TYPE]),
]


@pytest.mark.promise("token error: invalid_request")
@pytest.mark.parametrize(("header", "pairs"), UNCLEAR)
def test_two_ways_at_once_are_an_invalid_request(header, pairs):
    with pytest.raises(InvalidRequest):
        claimed_client.read(header, Params(pairs))


@pytest.mark.parametrize(
    ("header", "pairs"),
    [(None, []), (None, [("client_secret", "s")]), (None, [ASSERTION, ASSERTION_TYPE])],
)
def test_who_names_no_client_is_none(header, pairs):
    with pytest.raises(InvalidClient):
        claimed_client.read(header, Params(pairs))


METHODS = ["client_secret_basic", "client_secret_post", "none"]


@pytest.mark.parametrize("is_strict", [False, True])
@pytest.mark.parametrize("registered", METHODS)
@pytest.mark.parametrize("used", METHODS)
@pytest.mark.parametrize("secret", [None, "", "right", "wrong"])
def test_only_the_right_secret_counts_by_a_method_that_the_client_may_use(
    registered, used, secret, is_strict
):
    due = None if registered == "none" else "right"
    client = client_of(registered, due, is_strict=is_strict)
    claimed = Claimed(method=used, client_id="c", secret=secret)
    may_use = used == registered or not (is_strict or "none" in (used, registered))
    if may_use and secret == due:
        client_authentication.check(claimed, client, NOW)
    else:
        with pytest.raises(InvalidClient):
            client_authentication.check(claimed, client, NOW)


def test_an_inactive_client_is_refused_in_the_same_words_as_any_other():
    inactive = client_of("none", state="inactive")
    with pytest.raises(InvalidClient) as refused:
        client_authentication.check(Claimed(method="none", client_id="c"), inactive, NOW)

    assert refused.value.description == "client authentication failed"


def test_an_endpoint_may_take_fewer_methods():
    claimed = Claimed(method="none", client_id="c")

    with pytest.raises(InvalidClient):
        client_authentication.check(
            claimed, client_of("none"), NOW, methods=("client_secret_basic",)
        )


def test_a_claim_shows_neither_its_secret_nor_what_may_be_one():
    assert repr(Claimed("client_secret_post", "s3cret", "s3cret")) == "Claimed(…)"


@pytest.mark.parametrize("more", ["=", "==", "===="])
def test_padding_beyond_the_end_is_refused(more):
    with pytest.raises(InvalidClient):
        claimed_client.read(basic("id", "secret") + more, Params())
