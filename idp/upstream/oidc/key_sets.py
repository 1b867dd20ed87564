"""Keys of another provider, from its key set (RFC 7517, RFC 7518 section 6, RFC 8037)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from msgspec import Struct

from idp.foundation import base64url
from idp.keys.algorithms import ALGORITHMS, PublicKey

MAX_KEYS: Final = 50
_MAX_PARAMETER: Final = 2000
_COORDINATE_BYTES: Final = 32


class UpstreamKey(Struct, frozen=True):
    """A key that verifies signatures, its id or an empty text, and the algorithm and the issuer
    that it is limited to, if any (Microsoft Entra ID states the issuer of each key)."""

    id: str
    public: PublicKey
    algorithm: str | None = None
    issuer: str | None = None


def read(key_set: Mapping[str, Any]) -> list[UpstreamKey]:
    """Returns the usable keys among the first fifty of a key set. A key that is malformed, too
    weak, of another kind or not for signatures is left out."""
    jwks = key_set.get("keys")
    return list(_usable(jwks[:MAX_KEYS])) if isinstance(jwks, list) else []


def _usable(jwks: list[Any]) -> Iterator[UpstreamKey]:
    for each in jwks:
        if not isinstance(each, dict) or each.get("use", "sig") != "sig" or "d" in each:
            continue
        try:
            public = _public(each)
        except (ValueError, TypeError, KeyError):
            continue
        key_id, algorithm, issuer = each.get("kid", ""), each.get("alg"), each.get("issuer")
        is_limit_valid = isinstance(algorithm, str | None) and isinstance(issuer, str | None)
        is_named = isinstance(key_id, str) and is_limit_valid
        if is_named and any(known.fits(public) for known in ALGORITHMS.values()):
            yield UpstreamKey(key_id, public, algorithm, issuer)


def _public(jwk: Mapping[str, Any]) -> PublicKey:
    """Returns the public key. Raises ValueError, TypeError and KeyError if it is malformed."""
    match jwk["kty"], jwk.get("crv"):
        case "RSA", _:
            return rsa.RSAPublicNumbers(_number(jwk["e"]), _number(jwk["n"])).public_key()
        case "EC", "P-256":
            x, y = (_number(jwk[name], _COORDINATE_BYTES) for name in ("x", "y"))
            return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        case "OKP", "Ed25519":
            return ed25519.Ed25519PublicKey.from_public_bytes(base64url.decode(jwk["x"]))
    raise ValueError("a key of another kind")


def _number(text: str, length: int | None = None) -> int:
    if len(text) > _MAX_PARAMETER:
        raise ValueError("too long")
    data = base64url.decode(text)
    if length is not None and len(data) != length:
        raise ValueError("not a coordinate")
    return int.from_bytes(data)
