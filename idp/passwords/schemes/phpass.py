"""PHPass of WordPress and phpBB (`$P$`, `$H$`), and its variant in Drupal 7 (`$S$`)."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from functools import partial
from typing import Final

from idp.passwords.schemes import crypt_base64
from idp.passwords.schemes.base import ParsedHash, UnreadableHash

# The rounds as a power of two; PHPass itself allows none below.
MIN_EXPONENT: Final = 7
MAX_EXPONENT: Final = 19
_SECONDS_PER_ROUND: Final = 5e-7

_PHPASS: Final = re.compile(r"\$[PH]\$([./A-Za-z0-9])([./A-Za-z0-9]{8})([./A-Za-z0-9]{21}[./01])")
_DRUPAL: Final = re.compile(r"\$S\$([./A-Za-z0-9])([./A-Za-z0-9]{8})([./A-Za-z0-9]{43})")

_Hash = Callable[[bytes], "hashlib._Hash"]
_MD5: Final[_Hash] = partial(hashlib.md5, usedforsecurity=False)


def read(encoded: str) -> ParsedHash:
    """Returns the hash, ready to verify. Raises UnreadableHash."""
    match = _PHPASS.fullmatch(encoded)
    if not match:
        raise UnreadableHash("PHPass is written $P$ or $H$ and 31 characters")
    return _parsed("phpass", _MD5, *match.groups())


def read_drupal(encoded: str) -> ParsedHash:
    """Returns the hash of Drupal 7, ready to verify. Raises UnreadableHash."""
    match = _DRUPAL.fullmatch(encoded)
    if not match:
        raise UnreadableHash("Drupal's form is $S$ and 52 characters")
    return _parsed("drupal7", hashlib.sha512, *match.groups())


def _parsed(
    scheme: str, hash_function: _Hash, rounds: str, salt: str, expected: str
) -> ParsedHash:
    exponent = crypt_base64.ALPHABET.index(rounds)
    if not MIN_EXPONENT <= exponent <= MAX_EXPONENT:
        raise UnreadableHash(f"the rounds must be 2 to the {MIN_EXPONENT} to {MAX_EXPONENT}")

    def verify(password: bytes) -> bool:
        digest = hash_function(salt.encode("ascii") + password).digest()
        for _ in range(1 << exponent):
            digest = hash_function(digest + password).digest()
        computed = crypt_base64.encode(digest)[: len(expected)]
        return hmac.compare_digest(computed.encode("ascii"), expected.encode("ascii"))

    return ParsedHash(scheme, (exponent,), verify, 2**exponent * _SECONDS_PER_ROUND)
