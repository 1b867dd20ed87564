"""Argon2 (RFC 9106): `$argon2id$v=19$m=…,t=…,p=…$salt$hash`, and argon2i to verify."""

from __future__ import annotations

import re
from typing import Final

from argon2.exceptions import VerifyMismatchError
from argon2.low_level import Type, hash_secret, verify_secret

from idp.foundation.randomness import Random
from idp.passwords.schemes.base import (
    ParsedHash,
    Recipe,
    Strength,
    UnreadableHash,
    base64_bytes,
    number,
    unpadded,
)

# Bounds: one verification stays below half a second and 128 MiB on a current machine. Django's own
# parameters (100 MiB, 2 passes, 8 lanes) are within.
MAX_MEMORY_KIB: Final = 128 * 1024
MAX_PASSES: Final = 10
MAX_LANES: Final = 16
MAX_KIB_PASSES: Final = 512 * 1024
SECONDS_PER_KIB_PASS: Final = 8e-7
MIN_KIB_PER_LANE: Final = 8  # RFC 9106, section 3.1

# The minimum of OWASP and ASVS 5.0 (appendix C): about 25 ms on one core.
MEMORY_KIB: Final = 19_456
PASSES: Final = 2
LANES: Final = 1
SALT_BYTES: Final = 16
HASH_BYTES: Final = 32

_ENCODED: Final = re.compile(
    r"\$(argon2id|argon2i)\$v=19\$m=([0-9]{1,10}),t=([0-9]{1,10}),p=([0-9]{1,10})"
    r"\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)"
)
_TYPES: Final = {"argon2id": Type.ID, "argon2i": Type.I}


def read(encoded: str) -> ParsedHash:
    """Returns the hash, ready to verify. Raises UnreadableHash."""
    match = _ENCODED.fullmatch(encoded)
    if not match:
        raise UnreadableHash("argon2 is written $argon2id$v=19$m=…,t=…,p=…$salt$hash")
    scheme, memory, passes, lanes, salt, digest = match.groups()
    p = number(lanes, "p", 1, MAX_LANES)
    t = number(passes, "t", 1, MAX_PASSES)
    m = number(memory, "m", MIN_KIB_PER_LANE * p, MAX_MEMORY_KIB)
    if m * t > MAX_KIB_PASSES:
        raise UnreadableHash(f"m times t must be at most {MAX_KIB_PASSES}")
    base64_bytes(salt, "the salt", 8, 64)
    base64_bytes(digest, "the hash", 16, 64)
    kind = _TYPES[scheme]
    strength = Strength("imported_argon2_min_kib", m)
    seconds = m * t * SECONDS_PER_KIB_PASS
    return ParsedHash(
        scheme, (m, t, p), lambda password: _verify(encoded, password, kind), seconds, strength
    )


def _verify(encoded: str, password: bytes, kind: Type) -> bool:
    try:
        return verify_secret(encoded.encode("ascii"), password, kind)
    except VerifyMismatchError:
        return False


def _hash(password: bytes, random: Random) -> str:
    salt = random.token_bytes(SALT_BYTES)
    computed = hash_secret(password, salt, PASSES, MEMORY_KIB, LANES, HASH_BYTES, Type.ID)
    return computed.decode("ascii")


def _decoy(random: Random) -> str:
    salt, digest = random.token_bytes(SALT_BYTES), random.token_bytes(HASH_BYTES)
    cost = f"m={MEMORY_KIB},t={PASSES},p={LANES}"
    return f"$argon2id$v=19${cost}${unpadded(salt)}${unpadded(digest)}"


RECIPE: Final = Recipe("argon2id", (MEMORY_KIB, PASSES, LANES), _hash, _decoy)
