"""JWTs that others sign: which keys and algorithms count, held against jwcrypto, and no others."""

from __future__ import annotations

import json

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jwcrypto.jws import JWS

from idp.keys import jws
from tests.support.attacks import forged
from tests.support.protocol.asserting import jwk_of
from tests.support.service import shared_key

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
RSA, OTHER_RSA = shared_key(0), shared_key(1)
P256, OTHER_P256 = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
ED25519, OTHER_ED25519 = (ed25519.Ed25519PrivateKey.generate() for _ in range(2))
KEYS = {"RS256": RSA, "PS256": RSA, "ES256": P256, "EdDSA": ED25519}
OTHERS = {
    "RS256": OTHER_RSA,
    "PS256": OTHER_RSA,
    "ES256": OTHER_P256,
    "EdDSA": OTHER_ED25519,
}
CLAIMS = {"iss": "a", "sub": "a"}
IGNORED: dict[str, object] = {
    "jwk": {"kty": "oct", "k": "AA"},
    "jku": "https://evil.example/keys",
    "x5u": "https://evil.example/cert",
    "x5c": ["AA"],
    "x5t": "AA",
    "x5t#S256": "AA",
    "cty": "JWT",
    "b64": False,
    "zip": "DEF",
    "p2c": 1_000_000,
    "enc": "A256GCM",
    "kids": "k",
    "KID": 7,
    "": None,
    "https://example.com/private": {"deep": [1, {"x": None}]},
}


def pem(private) -> str:
    return (
        private.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )


def der(private) -> bytes:
    return private.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def public_jwk(private) -> dict:
    return json.loads(jwk_of(private).export_public())


def loaded(algorithm: str):
    return jws.load_public(pem(KEYS[algorithm]))


def signed(algorithm: str, key=None, **header) -> str:
    """A token as jwcrypto makes it."""
    token = JWS(json.dumps(CLAIMS).encode())
    token.allowed_algs = [*ALGORITHMS, "RS384", "ES384"]
    protected = {"alg": algorithm, "kid": "k", "typ": "JWT"} | header
    private = jwk_of(key or KEYS[algorithm])
    token.add_signature(private, algorithm, protected=json.dumps(protected))
    return token.serialize(compact=True)


def with_header(octets: bytes) -> str:
    """A token with just this header, signed as RS256 asks for."""
    head = forged.encode(octets)
    signature = RSA.sign(f"{head}.e30".encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{head}.e30.{forged.encode(signature)}"


def verify(key, token: str, algorithms=ALGORITHMS) -> jws.Parsed:
    parsed = jws.parse_foreign(token)
    jws.verify_foreign(key, parsed, algorithms)
    return parsed


# What counts


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_jwcrypto_signs_verifies_by_a_registered_key(algorithm):
    parsed = verify(loaded(algorithm), signed(algorithm))

    assert json.loads(parsed.payload) == CLAIMS
    assert (parsed.header.alg, parsed.header.kid) == (algorithm, "k")


@pytest.mark.parametrize("typ", ["JWT", "client-authentication+jwt", None])
def test_a_type_may_be_stated_or_left_out(typ):
    header = {"alg": "RS256", "kid": "k"} | ({"typ": typ} if typ else {})

    assert verify(loaded("RS256"), with_header(json.dumps(header).encode())).header.typ == typ


def test_members_of_a_header_may_stand_in_any_order_with_spaces():
    verify(loaded("RS256"), with_header(b' { "typ" : "JWT" , "kid":"k",\n"alg":"RS256"} '))


# Signatures


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_changed_cut_or_longer_token_verifies(algorithm):
    key, token = loaded(algorithm), signed(algorithm)
    for hostile in (*forged.changed(token), *forged.cut(token), *forged.longer(token)):
        with pytest.raises(jws.NotAToken):
            verify(key, hostile)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_another_key_of_the_same_kind_verifies_nothing(algorithm):
    with pytest.raises(jws.NotAToken, match="does not verify"):
        verify(loaded(algorithm), signed(algorithm, OTHERS[algorithm]))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_hostile_token_verifies(algorithm):
    key, token = loaded(algorithm), signed(algorithm)
    for hostile in forged.hostile_jwts(token, pem(KEYS[algorithm]).encode()).values():
        with pytest.raises(jws.NotAToken):
            verify(key, hostile)


@pytest.mark.parametrize("said", [*ALGORITHMS, "none", "HS256", "RS384", "ES384", "rs256", ""])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_signature_counts_for_the_algorithm_that_made_it_alone(algorithm, said):
    head, body, _ = signed(algorithm).split(".")
    head = forged.encode(json.dumps({"alg": said, "kid": "k"}).encode())
    key, signing_input = KEYS[algorithm], f"{head}.{body}".encode()
    signature = {
        "RS256": lambda: key.sign(signing_input, padding.PKCS1v15(), hashes.SHA256()),
        "PS256": lambda: key.sign(
            signing_input, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256()
        ),
        "ES256": lambda: raw(key.sign(signing_input, ec.ECDSA(hashes.SHA256()))),
        "EdDSA": lambda: key.sign(signing_input),
    }[algorithm]()
    token = f"{head}.{body}.{forged.encode(signature)}"

    if said == algorithm:
        verify(loaded(algorithm), token)
    else:
        with pytest.raises(jws.NotAToken):
            verify(loaded(algorithm), token)


def raw(signature: bytes) -> bytes:
    return b"".join(number.to_bytes(32) for number in decode_dss_signature(signature))


def test_an_ecdsa_signature_in_its_asn_1_form_is_refused():
    head, body, _ = signed("ES256").split(".")
    signature = P256.sign(f"{head}.{body}".encode(), ec.ECDSA(hashes.SHA256()))

    with pytest.raises(jws.NotAToken):
        verify(loaded("ES256"), f"{head}.{body}.{forged.encode(signature)}")


@pytest.mark.parametrize("signature", [bytes(64), b"\xff" * 64, bytes(63) + b"\1", b"", b"\0"])
@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA"])
def test_a_signature_of_zeros_or_beyond_the_curve_is_none(algorithm, signature):
    head, body, _ = signed(algorithm).split(".")

    with pytest.raises(jws.NotAToken):
        verify(loaded(algorithm), f"{head}.{body}.{forged.encode(signature)}")


@pytest.mark.parametrize("salt", [0, 20, padding.PSS.MAX_LENGTH])
def test_a_pss_salt_has_the_length_of_the_digest(salt):
    head, body, _ = signed("PS256").split(".")
    pss = padding.PSS(padding.MGF1(hashes.SHA256()), salt)
    signature = RSA.sign(f"{head}.{body}".encode(), pss, hashes.SHA256())

    with pytest.raises(jws.NotAToken):
        verify(loaded("PS256"), f"{head}.{body}.{forged.encode(signature)}")


def test_only_the_algorithms_that_a_caller_names_count():
    with pytest.raises(jws.NotAToken, match="alg"):
        verify(loaded("PS256"), signed("PS256"), ("RS256", "ES256"))


# Headers


@pytest.mark.parametrize(
    "more",
    [
        {"crit": ["exp"]},
        {"crit": []},
        {"crit": None},
        {"crit": ["x5t"], "x5t": "AA"},
        {"b64": False, "crit": ["b64"]},
        {"alg": None},
        {"alg": ["RS256"]},
        {"kid": None},
        {"kid": ["k"]},
        {"kid": {"$ne": ""}},
        {"kid": 7},
        {"typ": 1},
    ],
)
def test_a_header_with_crit_or_without_a_readable_alg_and_kid_is_refused(more):
    header = {"alg": "RS256", "kid": "k"} | more

    with pytest.raises(jws.NotAToken, match="header"):
        jws.parse_foreign(with_header(json.dumps(header).encode()))


@pytest.mark.parametrize("name", IGNORED)
def test_a_header_parameter_that_is_not_read_changes_nothing(name):
    header = {"alg": "RS256", "kid": "k", name: IGNORED[name]}
    parsed = verify(loaded("RS256"), with_header(json.dumps(header).encode()))

    assert parsed.header == jws.Header("RS256", "k")


@pytest.mark.parametrize("name", ["jwk", "x5c"])
def test_a_key_that_a_header_brings_verifies_nothing(name):
    own = {"jwk": public_jwk(OTHER_RSA), "x5c": [forged.base64.b64encode(der(OTHER_RSA)).decode()]}
    token = signed("RS256", OTHER_RSA, **{name: own[name]})

    with pytest.raises(jws.NotAToken, match="signature does not verify"):
        verify(loaded("RS256"), token)


@pytest.mark.parametrize(
    "octets",
    [
        b"",
        b"[]",
        b"null",
        b"7",
        b'"RS256"',
        b"{}",
        b'{"alg":"RS256"}',
        b'{"kid":"k"}',
        b'{"alg":"RS256","kid":"k","kid":"j"}',
        b'{"alg":"none","alg":"RS256","kid":"k"}',
        b'{"alg":"RS256","\\u0061lg":"none","kid":"k"}',
        b'{"alg":"RS256","kid":"k"} x',
        b'{"alg":"RS256","kid":"k"}{}',
        b'{"alg":"RS256","kid":"k",}',
        b'\xef\xbb\xbf{"alg":"RS256","kid":"k"}',
        b'{"alg":"RS256","kid":"\xff"}',
        b'{"alg":"RS256","kid":"\\ud800"}',
        b'{"alg":"RS256","kid":"\\u0000"}',
        b"[" * 5000,
        b'{"a":' * 2000,
    ],
)
def test_a_header_that_readers_could_disagree_on_is_refused(octets):
    with pytest.raises(jws.NotAToken):
        jws.parse_foreign(with_header(octets))


@pytest.mark.full
@settings(deadline=None)
@given(st.text() | st.from_regex(r"[A-Za-z0-9_.=-]*", fullmatch=True))
@example("\ud800.\ud800.\ud800")
@example("e30.\ud800.")
@example("." * 5000)
@example("a" * 1_000_000)
def test_no_text_is_more_than_not_a_token(text):
    with pytest.raises(jws.NotAToken):
        verify(loaded("EdDSA"), text)


# Keys


def integer(value: int) -> bytes:
    return tagged(2, value.to_bytes(value.bit_length() // 8 + 1))


def tagged(tag: int, content: bytes) -> bytes:
    length = len(content)
    if length < 128:
        return bytes([tag, length]) + content
    octets = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes([tag, 128 + len(octets)]) + octets + content


def rsa_pem(modulus: int, exponent: int) -> str:
    """An RSA public key that no library would make (RFC 8017, A.1.1)."""
    key = tagged(0x30, integer(modulus) + integer(exponent))
    body = forged.base64.encodebytes(key).decode()
    return f"-----BEGIN RSA PUBLIC KEY-----\n{body}-----END RSA PUBLIC KEY-----\n"


MODULUS = RSA.public_key().public_numbers().n


@pytest.mark.parametrize("exponent", [3, 17, 65537, 2**33 + 1])
def test_an_rsa_key_with_an_odd_exponent_is_taken(exponent):
    key = jws.load_public(rsa_pem(MODULUS, exponent))

    assert key.public_numbers().e == exponent


@pytest.mark.parametrize(
    "exponent", [0, 1, 2, 4, 65536, 2**64 + 1, pytest.param(MODULUS - 2, id="the largest")]
)
def test_an_rsa_key_whose_exponent_is_insecure_or_costs_too_much_is_refused(exponent):
    with pytest.raises(jws.UnusableKey):
        jws.load_public(rsa_pem(MODULUS, exponent))


@pytest.mark.parametrize("bits", [512, 1024, 2047, 8193, 16_384])
def test_an_rsa_key_that_is_too_short_or_too_long_is_refused(bits):
    with pytest.raises(jws.UnusableKey, match="2048 to 8192 bits|not a public key"):
        jws.load_public(rsa_pem(2 ** (bits - 1) + 1, 65537))


REFUSED = {
    "P-384": pem(ec.generate_private_key(ec.SECP384R1())),
    "secp256k1": pem(ec.generate_private_key(ec.SECP256K1())),
    "Ed448": pem(ed448.Ed448PrivateKey.generate()),
    "a private key": P256.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode(),
    "nothing": "",
    "no PEM": "hello",
    "an empty PEM": "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n",
    "not ASCII": pem(P256) + "é",
    "half a character": pem(P256) + "\ud800",
    "a cut PEM": pem(P256)[:100],
    "NUL": "\0" * 500,
    "20 KB": pem(P256) + " " * 20_000,
}


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED)
def test_no_other_kind_of_key_and_no_other_text_is_taken(refused):
    with pytest.raises(jws.UnusableKey):
        jws.load_public(refused)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("of", ["RS256", "ES256", "EdDSA"])
def test_an_algorithm_fits_keys_of_its_own_kind_alone(algorithm, of):
    token = signed(algorithm)

    if KEYS[of] is KEYS[algorithm]:
        verify(loaded(of), token)
    else:
        with pytest.raises(jws.NotAToken, match="does not fit"):
            verify(loaded(of), token)


def test_a_key_that_was_not_loaded_here_is_held_to_the_same_rules():
    weak = rsa.generate_private_key(public_exponent=65537, key_size=1024)

    with pytest.raises(jws.NotAToken, match="does not fit"):
        verify(weak.public_key(), signed("RS256", weak))


def test_what_a_refusal_says_of_a_key_helps_and_quotes_nothing_of_it():
    with pytest.raises(jws.UnusableKey) as short:
        jws.load_public(rsa_pem(2**1023 + 1, 65537))
    with pytest.raises(jws.UnusableKey) as foreign:
        jws.load_public(REFUSED["P-384"])

    assert "2048" in str(short.value)
    assert "P-256" in str(foreign.value)
