"""The seam to JWS for our own tokens, held against jwcrypto in both directions."""

from __future__ import annotations

import json

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from hypothesis import given, settings
from hypothesis import strategies as st
from jwcrypto.jwk import JWK
from jwcrypto.jws import JWS

from idp.foundation.randomness import SystemRandom
from idp.keys import algorithms, jws, key_ring
from idp.keys.master_key import MasterKey
from tests.support.attacks import forged
from tests.support.clock import SteppingClock
from tests.support.service import shared_key

VAULT = MasterKey(bytes(range(32)))
NOW = SteppingClock().now()


def make(number: int, algorithm: str = "RS256") -> key_ring.LoadedKey:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algorithms.rsa, "generate_private_key", lambda **_: shared_key(number))
        record = key_ring.new_signing_key(VAULT, SystemRandom(), NOW, "active", algorithm)
    return key_ring.load(VAULT, record)


OURS, THEIRS = make(0), make(1)
BY_CURVES = make(0, "ES256"), make(0, "EdDSA")
PUBLIC = JWK(**OURS.jwk)
SEALING = key_ring.load(VAULT, key_ring.new_sealing_key(VAULT, SystemRandom(), NOW))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
CLAIMS = st.dictionaries(st.text(), JSON, max_size=5)


@pytest.fixture(params=[OURS, *BY_CURVES], ids=lambda key: key.record.algorithm)
def key(request):
    """A key of each algorithm."""
    return request.param


@pytest.mark.full
@settings(deadline=None, max_examples=50)
@given(st.sampled_from([OURS, *BY_CURVES]), CLAIMS)
def test_what_is_signed_here_verifies_in_jwcrypto(key, claims):
    token = JWS()
    token.allowed_algs = ["RS256", "ES256", "EdDSA"]
    token.deserialize(jws.sign(key, "JWT", claims), JWK(**key.jwk))

    assert json.loads(token.payload) == claims
    assert json.loads(token.objects["protected"]) == {
        "alg": key.record.algorithm,
        "kid": key.kid,
        "typ": "JWT",
    }


@pytest.mark.full
@settings(deadline=None, max_examples=50)
@given(st.sampled_from([OURS, *BY_CURVES]), CLAIMS)
def test_what_jwcrypto_signs_verifies_here(key, claims):
    token = JWS(json.dumps(claims).encode())
    header = {"alg": key.record.algorithm, "kid": key.kid, "typ": "at+jwt"}
    private = JWK.from_pyca(key.private)
    token.add_signature(private, key.record.algorithm, protected=json.dumps(header))
    parsed = jws.parse(token.serialize(compact=True))
    jws.verify(key, parsed)

    assert json.loads(parsed.payload) == claims
    assert (parsed.header.kid, parsed.header.typ) == (key.kid, "at+jwt")


@settings(deadline=None)
@given(st.text() | st.from_regex(r"[A-Za-z0-9_.=-]*", fullmatch=True))
def test_no_text_is_more_than_not_a_token(text):
    with pytest.raises(jws.NotAToken):
        jws.verify(OURS, jws.parse(text))


@settings(deadline=None)
@given(st.binary(max_size=60), st.binary(max_size=60), st.binary(max_size=300))
def test_no_three_parts_are_more_than_not_a_token(header, payload, signature):
    text = ".".join(forged.encode(part) for part in (header, payload, signature))

    with pytest.raises(jws.NotAToken):
        jws.verify(OURS, jws.parse(text))


def test_no_changed_cut_or_longer_token_verifies(key):
    token = jws.sign(key, "JWT", {"sub": "a", "n": [1, 2, {"x": None}]})
    for hostile in (*forged.changed(token), *forged.cut(token), *forged.longer(token)):
        with pytest.raises(jws.NotAToken):
            jws.verify(key, jws.parse(hostile))


def test_no_hostile_token_verifies(key):
    token = jws.sign(key, "JWT", {"sub": "a"})
    hostile = forged.hostile_jwts(token, JWK(**key.jwk).export_to_pem())
    for text in hostile.values():
        with pytest.raises(jws.NotAToken):
            jws.verify(key, jws.parse(text))


@pytest.mark.parametrize("other", [THEIRS, SEALING, make(0, "ES256"), make(0, "EdDSA")])
def test_another_key_verifies_nothing_of_ours(key, other):
    parsed = jws.parse(jws.sign(key, "JWT", {"sub": "a"}))

    with pytest.raises(jws.NotAToken):
        jws.verify(other, parsed)


def test_a_sealing_key_signs_nothing():
    with pytest.raises(TypeError):
        jws.sign(SEALING, "JWT", {})


def test_a_token_beyond_16_kb_is_not_looked_at():
    fits = jws.sign(OURS, "JWT", {"x": "a" * 11_000})
    too_long = jws.sign(OURS, "JWT", {"x": "a" * 13_000})
    jws.verify(OURS, jws.parse(fits))

    with pytest.raises(jws.NotAToken):
        jws.parse(too_long)


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
    with pytest.raises(jws.NotAToken):
        jws.parse(f"{forged.encode(header)}.e30.AA")


@pytest.mark.parametrize("alg", ["RS256", "RS384", "RS512", "PS256", "HS256", "none", "rs256", ""])
def test_the_algorithm_is_the_key_s_whatever_the_header_says(alg):
    head = forged.encode(json.dumps({"alg": alg, "kid": OURS.kid}).encode())
    signed = OURS.private.sign(f"{head}.e30".encode(), padding.PKCS1v15(), hashes.SHA256())
    parsed = jws.parse(f"{head}.e30.{forged.encode(signed)}")
    if alg == "RS256":
        jws.verify(OURS, parsed)
    else:
        with pytest.raises(jws.NotAToken):
            jws.verify(OURS, parsed)


# OpenID Connect Core gives no vectors; these are SHA-256's and SHA-512's of "abc" (FIPS 180-2).
HALVES = {
    "RS256": "ba7816bf8f01cfea414140de5dae2223",
    "ES256": "ba7816bf8f01cfea414140de5dae2223",
    "EdDSA": "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a",
}


@pytest.mark.parametrize("algorithm", HALVES)
def test_at_hash_is_the_left_half_of_the_algorithm_s_own_digest(algorithm):
    assert forged.decode(jws.half_hash(algorithm, "abc")).hex() == HALVES[algorithm]
