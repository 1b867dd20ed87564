"""Proof Key for Code Exchange (RFC 7636), S256 only."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idp.oauth import pkce
from idp.oauth.errors import InvalidGrant, InvalidRequest
from idp.oauth.params import Params

# RFC 7636, appendix B
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
VERIFIERS = st.text(UNRESERVED, min_size=43, max_size=128)


def oracle(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@pytest.mark.promise("authorization: code_challenge")
def test_the_challenge_is_the_one_of_the_rfc():
    assert pkce.challenge_of(VERIFIER) == CHALLENGE


@pytest.mark.full
@settings(deadline=None)
@given(VERIFIERS)
def test_a_verifier_fits_its_own_challenge(verifier):
    challenge = oracle(verifier)
    sent = Params([("code_challenge", challenge), ("code_challenge_method", "S256")])

    assert pkce.read_challenge(sent, is_required=True) == challenge
    pkce.verify(challenge, verifier)


@pytest.mark.full
@settings(deadline=None)
@given(VERIFIERS, VERIFIERS)
def test_no_other_verifier_fits(one, other):
    if one != other:
        with pytest.raises(InvalidGrant):
            pkce.verify(oracle(one), other)


@pytest.mark.full
@settings(deadline=None)
@given(st.text(UNRESERVED, max_size=42) | st.text(UNRESERVED, min_size=129, max_size=200))
def test_a_verifier_of_another_length_never_fits(verifier):
    with pytest.raises(InvalidGrant):
        pkce.verify(oracle(verifier), verifier)


@pytest.mark.full
@settings(deadline=None)
@given(VERIFIERS, st.characters(codec="utf-8").filter(lambda c: c not in UNRESERVED))
def test_a_verifier_with_another_character_never_fits(verifier, other):
    hostile = verifier[:-1] + other

    with pytest.raises(InvalidGrant):
        pkce.verify(oracle(hostile), hostile)


def test_what_was_promised_is_asked_for():
    with pytest.raises(InvalidGrant, match="code_verifier is missing"):
        pkce.verify(CHALLENGE, None)
    with pytest.raises(InvalidGrant):
        pkce.verify(None, VERIFIER)
    pkce.verify(None, None)


REFUSED = [
    {"code_challenge_method": "S256"},
    {"code_challenge": CHALLENGE},
    {"code_challenge": CHALLENGE, "code_challenge_method": "plain"},
    {"code_challenge": CHALLENGE, "code_challenge_method": "s256"},
    {"code_challenge": CHALLENGE[:42], "code_challenge_method": "S256"},
    {"code_challenge": CHALLENGE + "A", "code_challenge_method": "S256"},
    {"code_challenge": CHALLENGE + "\n", "code_challenge_method": "S256"},
    {"code_challenge": CHALLENGE[:42] + "=", "code_challenge_method": "S256"},
    {"code_challenge": CHALLENGE[:42] + "\u0661", "code_challenge_method": "S256"},
    {"code_challenge": VERIFIER[:42] + "~", "code_challenge_method": "S256"},
]


@pytest.mark.promise("authorization: code_challenge_method")
@pytest.mark.parametrize("sent", REFUSED)
@pytest.mark.parametrize("is_required", [True, False])
def test_a_challenge_of_another_shape_is_refused(sent, is_required):
    with pytest.raises(InvalidRequest):
        pkce.read_challenge(Params(sent.items()), is_required=is_required)


def test_a_client_that_need_not_may_send_none():
    assert pkce.read_challenge(Params(), is_required=False) is None
    with pytest.raises(InvalidRequest):
        pkce.read_challenge(Params(), is_required=True)
