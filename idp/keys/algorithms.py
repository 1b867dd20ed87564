"""Signature algorithms of JWTs (RFC 7518 section 3, RFC 8037), and the keys that fit each.

RSA keys have 2048 to 8192 bits and an odd exponent of 3 to 64 bits: weaker ones are not secure,
and larger ones make verification expensive.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey

RSA_BITS: Final = (2048, 8192)
_MAX_EXPONENT_BITS: Final = 64
_SHA256: Final = hashes.SHA256()
_PKCS1: Final = padding.PKCS1v15()
# The salt is as long as the digest (RFC 7518 3.5).
_PSS: Final = padding.PSS(padding.MGF1(_SHA256), padding.PSS.DIGEST_LENGTH)
_ECDSA: Final = ec.ECDSA(_SHA256)
_COORDINATE_BYTES: Final = 32


class Algorithm(NamedTuple):
    """A signature algorithm: which public keys `fits` accepts, how keys are generated, and how
    data is signed and verified.

    `verify` gets the public key, the signature and the data, and raises InvalidSignature; `digest`
    is the hash function for `at_hash` and `c_hash`.
    """

    fits: Callable[[object], bool]
    generate: Callable[[], PrivateKey]
    sign: Callable[[Any, bytes], bytes]
    verify: Callable[[Any, bytes, bytes], None]
    digest: Callable[[bytes], Any] = hashlib.sha256


def _is_secure_rsa(key: object) -> bool:
    if not isinstance(key, rsa.RSAPublicKey):
        return False
    exponent = key.public_numbers().e
    is_secure = exponent >= 3 and exponent % 2 == 1 and exponent.bit_length() <= _MAX_EXPONENT_BITS
    return is_secure and RSA_BITS[0] <= key.key_size <= RSA_BITS[1]


def _is_p256(key: object) -> bool:
    return isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1)


def _is_ed25519(key: object) -> bool:
    return isinstance(key, ed25519.Ed25519PublicKey)


def _generate_rsa() -> PrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS[0])


def _generate_p256() -> PrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _sign_rs256(key: rsa.RSAPrivateKey, data: bytes) -> bytes:
    return key.sign(data, _PKCS1, _SHA256)


def _verify_rs256(key: rsa.RSAPublicKey, signature: bytes, data: bytes) -> None:
    key.verify(signature, data, _PKCS1, _SHA256)


def _sign_ps256(key: rsa.RSAPrivateKey, data: bytes) -> bytes:
    return key.sign(data, _PSS, _SHA256)


def _verify_ps256(key: rsa.RSAPublicKey, signature: bytes, data: bytes) -> None:
    key.verify(signature, data, _PSS, _SHA256)


def _sign_es256(key: ec.EllipticCurvePrivateKey, data: bytes) -> bytes:
    """r and s concatenated, unlike the DER form of the library (RFC 7518 3.4)."""
    pair = decode_dss_signature(key.sign(data, _ECDSA))
    return b"".join(number.to_bytes(_COORDINATE_BYTES) for number in pair)


def _verify_es256(key: ec.EllipticCurvePublicKey, signature: bytes, data: bytes) -> None:
    if len(signature) != 2 * _COORDINATE_BYTES:
        raise InvalidSignature
    r, s = signature[:_COORDINATE_BYTES], signature[_COORDINATE_BYTES:]
    pair = encode_dss_signature(int.from_bytes(r), int.from_bytes(s))
    key.verify(pair, data, _ECDSA)


def _sign_eddsa(key: ed25519.Ed25519PrivateKey, data: bytes) -> bytes:
    return key.sign(data)


def _verify_eddsa(key: ed25519.Ed25519PublicKey, signature: bytes, data: bytes) -> None:
    key.verify(signature, data)


# This service signs with all but PS256, which clients may use in their assertions.
ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    "RS256": Algorithm(_is_secure_rsa, _generate_rsa, _sign_rs256, _verify_rs256),
    "PS256": Algorithm(_is_secure_rsa, _generate_rsa, _sign_ps256, _verify_ps256),
    "ES256": Algorithm(_is_p256, _generate_p256, _sign_es256, _verify_es256),
    "EdDSA": Algorithm(
        _is_ed25519,
        ed25519.Ed25519PrivateKey.generate,
        _sign_eddsa,
        _verify_eddsa,
        hashlib.sha512,
    ),
}
