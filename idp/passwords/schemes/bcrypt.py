"""bcrypt: `$2b$12$` and 53 characters. `2a` and `2y` are other names of the same scheme."""

from __future__ import annotations

import hmac
import re
from typing import Final

import bcrypt

from idp.foundation.randomness import Random
from idp.passwords.schemes.base import (
    ParsedHash,
    Recipe,
    Strength,
    UnreadableHash,
    number,
    unpadded,
)

MAX_PASSWORD_BYTES: Final = 72
MIN_COST: Final = 4
MAX_COST: Final = 14  # about a second on one core
COST: Final = 12
_SECONDS_OF_COST_0: Final = 6.2e-5
_SALT_BYTES: Final = 16
_HASH_BYTES: Final = 23

_STANDARD: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BCRYPT: Final = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

_ENCODED: Final = re.compile(r"\$2[aby]\$([0-9]{2})\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})")
# The last characters of salt and hash hold 2 and 4 bits: with other bits set, the same hash would
# have several encodings.
_SALT_ENDS: Final = ".Oeu"
_HASH_ENDS: Final = ".CGKOSWaeimquy26"


def read(encoded: str) -> ParsedHash:
    """Returns the hash, ready to verify. Raises UnreadableHash."""
    match = _ENCODED.fullmatch(encoded)
    if not match:
        raise UnreadableHash("bcrypt is written $2b$, two digits of cost, $ and 53 characters")
    _check_ends(match[2], match[3])
    cost = number(match[1].lstrip("0"), "the cost", MIN_COST, MAX_COST)
    strength = Strength("imported_bcrypt_min_cost", cost)
    seconds = _SECONDS_OF_COST_0 * 2**cost
    return ParsedHash(
        "bcrypt", (cost,), lambda password: _verify(encoded, password), seconds, strength
    )


def _check_ends(salt: str, digest: str) -> None:
    if salt[-1] not in _SALT_ENDS:
        same = _BCRYPT[_BCRYPT.index(salt[-1]) & 0b110000]
        raise UnreadableHash(
            "its 29th character, the last of the salt, has bits set that bcrypt ignores:"
            f" replace it by {same}, which is the same salt"
        )
    if digest[-1] not in _HASH_ENDS:
        raise UnreadableHash(
            f"its last character can't end a bcrypt hash ({_HASH_ENDS} can): it was altered or cut"
            " off, so export it again"
        )


def _verify(encoded: str, password: bytes) -> bool:
    """Only the first 72 bytes are used, as in the systems that created these hashes."""
    stored = encoded.encode("ascii")
    return hmac.compare_digest(bcrypt.hashpw(password[:MAX_PASSWORD_BYTES], stored), stored)


def _hash(password: bytes, random: Random) -> str:
    salt = f"$2b${COST}${_text(random.token_bytes(_SALT_BYTES))}"
    return bcrypt.hashpw(password, salt.encode("ascii")).decode("ascii")


def _decoy(random: Random) -> str:
    salt, digest = random.token_bytes(_SALT_BYTES), random.token_bytes(_HASH_BYTES)
    return f"$2b${COST}${_text(salt)}{_text(digest)}"


def _text(data: bytes) -> str:
    """Base64 in bcrypt's own alphabet."""
    return unpadded(data).translate(str.maketrans(_STANDARD, _BCRYPT))


RECIPE: Final = Recipe("bcrypt", (COST,), _hash, _decoy, max_bytes=MAX_PASSWORD_BYTES)
