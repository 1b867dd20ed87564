"""The seam to JWS, held against jwcrypto in both directions."""

from __future__ import annotations

import json

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from hypothesis import given, settings
from hypothesis import strategies as st
from jwcrypto.jwk import JWK
from jwcrypto.jws import JWS

from idp.ids import SystemRandom
from idp.oauth import jose, keys
from idp.vault import Vault
from tests.support import forged
from tests.support.clock import SteppingClock
from tests.support.service import shared_key

VAULT = Vault(bytes(range(32)))
NOW = SteppingClock().now()


def make(number: int) -> keys.LoadedKey:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys.rsa, "generate_private_key", lambda **_: shared_key(number))
        record = keys.new_signing_key(VAULT, SystemRandom(), NOW, "active")
    return keys.load(VAULT, record)


OURS, THEIRS = make(0), make(1)
PRIVATE, PUBLIC = JWK.from_pyca(OURS.private), JWK(**OURS.jwk)
SEALING = keys.load(VAULT, keys.new_sealing_key(VAULT, SystemRandom(), NOW))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
CLAIMS = st.dictionaries(st.text(), JSON, max_size=5)


@settings(deadline=None, max_examples=50)
@given(CLAIMS)
def test_what_is_signed_here_verifies_in_jwcrypto(claims):
    token = JWS()
    token.deserialize(jose.sign(OURS, "JWT", claims), PUBLIC)

    assert json.loads(token.payload) == claims
    assert json.loads(token.objects["protected"]) == {
        "alg": "RS256",
        "kid": OURS.kid,
        "typ": "JWT",
    }


@settings(deadline=None, max_examples=50)
@given(CLAIMS)
def test_what_jwcrypto_signs_verifies_here(claims):
    token = JWS(json.dumps(claims).encode())
    header = {"alg": "RS256", "kid": OURS.kid, "typ": "at+jwt"}
    token.add_signature(PRIVATE, protected=json.dumps(header))
    parsed = jose.parse(token.serialize(compact=True))
    jose.verify(OURS, parsed)

    assert json.loads(parsed.payload) == claims
    assert (parsed.header.kid, parsed.header.typ) == (OURS.kid, "at+jwt")


@settings(deadline=None)
@given(st.text() | st.from_regex(r"[A-Za-z0-9_.=-]*", fullmatch=True))
def test_no_text_is_more_than_not_a_token(text):
    with pytest.raises(jose.NotAToken):
        jose.verify(OURS, jose.parse(text))


@settings(deadline=None)
@given(st.binary(max_size=60), st.binary(max_size=60), st.binary(max_size=300))
def test_no_three_parts_are_more_than_not_a_token(header, payload, signature):
    text = ".".join(forged.encode(part) for part in (header, payload, signature))

    with pytest.raises(jose.NotAToken):
        jose.verify(OURS, jose.parse(text))


def test_no_changed_cut_or_longer_token_verifies():
    token = jose.sign(OURS, "JWT", {"sub": "a", "n": [1, 2, {"x": None}]})
    for hostile in (*forged.changed(token), *forged.cut(token), *forged.longer(token)):
        with pytest.raises(jose.NotAToken):
            jose.verify(OURS, jose.parse(hostile))


def test_no_hostile_token_verifies():
    token = jose.sign(OURS, "JWT", {"sub": "a"})
    hostile = forged.hostile_jwts(token, PUBLIC.export_to_pem())
    for text in hostile.values():
        with pytest.raises(jose.NotAToken):
            jose.verify(OURS, jose.parse(text))


@pytest.mark.parametrize("key", [THEIRS, SEALING])
def test_another_key_verifies_nothing_of_ours(key):
    parsed = jose.parse(jose.sign(OURS, "JWT", {"sub": "a"}))

    with pytest.raises(jose.NotAToken):
        jose.verify(key, parsed)


def test_a_sealing_key_signs_nothing():
    with pytest.raises(TypeError):
        jose.sign(SEALING, "JWT", {})


def test_a_token_beyond_16_kb_is_not_looked_at():
    fits = jose.sign(OURS, "JWT", {"x": "a" * 11_000})
    too_long = jose.sign(OURS, "JWT", {"x": "a" * 13_000})
    jose.verify(OURS, jose.parse(fits))

    with pytest.raises(jose.NotAToken):
        jose.parse(too_long)


HEADERS = [
    b"",
    b"[]",
    b"null",
    b'"RS256"',
    b"{}",
    b'{"alg":"RS256"}',
    b'{"alg":"RS256","kid":null}',
    b'{"alg":"RS256","kid":7}',
    b'{"alg":["RS256"],"kid":"k"}',
    b'{"alg":"RS256","kid":"k","typ":1}',
    b'{"alg":"RS256","kid":"k","crit":[]}',
    b'{"alg":"RS256","kid":"k","zip":"DEF"}',
    b'{"alg":"RS256","kid":"k"} x',
    b'{"alg":"RS256","kid":"k",}',
    b"\xff\xfe",
    b'{"alg":"RS256","kid":"\xed\xa0\x80"}',
    b"[" * 5000,
    b'{"a":' * 3000,
]


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_of_another_shape_is_not_a_token(header):
    with pytest.raises(jose.NotAToken):
        jose.parse(f"{forged.encode(header)}.e30.AA")


@pytest.mark.parametrize("alg", ["RS256", "RS384", "RS512", "PS256", "HS256", "none", "rs256", ""])
def test_the_algorithm_is_the_key_s_whatever_the_header_says(alg):
    head = forged.encode(json.dumps({"alg": alg, "kid": OURS.kid}).encode())
    signed = OURS.private.sign(f"{head}.e30".encode(), padding.PKCS1v15(), hashes.SHA256())
    parsed = jose.parse(f"{head}.e30.{forged.encode(signed)}")
    if alg == "RS256":
        jose.verify(OURS, parsed)
    else:
        with pytest.raises(jose.NotAToken):
            jose.verify(OURS, parsed)
