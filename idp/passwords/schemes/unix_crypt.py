"""Unix's crypt with MD5 and SHA-2: `$1$`, `$5$`, `$6$` (Drepper, "Unix crypt using SHA-256 and
SHA-512"). The three share one loop."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from typing import Final

from idp.passwords.schemes import crypt_base64
from idp.passwords.schemes.base import ParsedHash, UnreadableHash, number

MIN_ROUNDS: Final = 1000  # the minimum of the format itself
MAX_ROUNDS: Final = 1_000_000
# Rounds times bytes of the password, which every round hashes.
MAX_ROUND_BYTES: Final = 128_000_000
_DEFAULT_ROUNDS: Final = 5000
_MD5_ROUNDS: Final = 1000
_SECONDS_PER_ROUND: Final = 4e-7

# The last characters of each hash hold fewer bits: with other bits set, the same hash would have
# several encodings.
_MD5: Final = re.compile(r"\$1\$([./A-Za-z0-9]{1,8})\$([./A-Za-z0-9]{21}[./01])")
_SHA: Final = re.compile(
    r"\$(5|6)\$(?:rounds=([0-9]{1,10})\$)?([./A-Za-z0-9]{1,16})\$([./A-Za-z0-9]{43,86})"
)
_LAST_CHARACTER: Final = {"5": re.compile(r".{42}[./0-9A-D]"), "6": re.compile(r".{85}[./01]")}

_Hash = Callable[[bytes], "hashlib._Hash"]
_MD5_HASH: Final[_Hash] = partial(hashlib.md5, usedforsecurity=False)
_SHA_HASHES: Final[dict[str, _Hash]] = {"5": hashlib.sha256, "6": hashlib.sha512}


def _order(size: int, rotation: int) -> bytes:
    """The order in which the bytes of a SHA-2 digest are written: groups of three, rotated at
    each step."""
    third, order = size // 3, list[int]()
    triple = [2 * third, third, 0]
    for _ in range(third):
        order += triple
        triple = [n + 1 for n in triple[rotation:] + triple[:rotation]]
    return bytes(order + list(range(3 * third, size)))


_MD5_ORDER: Final = bytes((12, 6, 0, 13, 7, 1, 14, 8, 2, 15, 9, 3, 5, 10, 4, 11))
_SHA_ORDERS: Final = {"5": _order(32, 1), "6": _order(64, 2)}


def read_md5(encoded: str) -> ParsedHash:
    """Returns the hash of md5-crypt, ready to verify. Raises UnreadableHash."""
    match = _MD5.fullmatch(encoded)
    if not match:
        raise UnreadableHash("md5-crypt is written $1$, up to 8 characters, $ and 22 characters")
    salt, expected = match[1].encode("ascii"), match[2]
    seconds = _MD5_ROUNDS * _SECONDS_PER_ROUND
    return ParsedHash(
        "md5-crypt", (), lambda password: _equals(_md5(password, salt), expected), seconds
    )


def read_sha(encoded: str) -> ParsedHash:
    """Returns the hash of sha256-crypt or sha512-crypt, ready to verify. Raises UnreadableHash."""
    match = _SHA.fullmatch(encoded)
    if not match or not _LAST_CHARACTER[match[1]].fullmatch(match[4]):
        raise UnreadableHash("sha-crypt is written $6$rounds=…$salt$hash, or without the rounds")
    kind, rounds, salt, expected = match.groups()
    count = number(rounds, "rounds", MIN_ROUNDS, MAX_ROUNDS) if rounds else _DEFAULT_ROUNDS

    def verify(password: bytes) -> bool:
        if count * len(password) > MAX_ROUND_BYTES:
            return False
        return _equals(_sha(kind, password, salt.encode("ascii"), count), expected)

    scheme = {"5": "sha256-crypt", "6": "sha512-crypt"}[kind]
    return ParsedHash(scheme, (count,), verify, count * _SECONDS_PER_ROUND)


def _equals(computed: str, expected: str) -> bool:
    return hmac.compare_digest(computed.encode("ascii"), expected.encode("ascii"))


def _md5(password: bytes, salt: bytes) -> str:
    mixed = _MD5_HASH(password + salt + password).digest()
    seed = password + b"$1$" + salt + _repeated(mixed, len(password))
    seed += b"".join(b"\0" if bit else password[:1] for bit in _bits(len(password)))
    computed = _stretched(_MD5_HASH, _MD5_HASH(seed).digest(), password, salt, _MD5_ROUNDS)
    return crypt_base64.encode(bytes(computed[at] for at in _MD5_ORDER))


def _sha(kind: str, password: bytes, salt: bytes, rounds: int) -> str:
    hash_function = _SHA_HASHES[kind]
    mixed = hash_function(password + salt + password).digest()
    seed = password + salt + _repeated(mixed, len(password))
    seed += b"".join(mixed if bit else password for bit in _bits(len(password)))
    first = hash_function(seed).digest()
    p = _repeated(hash_function(password * len(password)).digest(), len(password))
    s = _repeated(hash_function(salt * (16 + first[0])).digest(), len(salt))
    computed = _stretched(hash_function, first, p, s, rounds)
    return crypt_base64.encode(bytes(computed[at] for at in _SHA_ORDERS[kind]))


def _repeated(data: bytes, length: int) -> bytes:
    return (data * (length // len(data) + 1))[:length]


def _bits(number: int) -> list[bool]:
    """The bits of the number, the least significant one first."""
    return [bool(number >> n & 1) for n in range(number.bit_length())]


def _stretched(hash_function: _Hash, digest: bytes, p: bytes, s: bytes, rounds: int) -> bytes:
    """Returns the digest after all rounds. The parts before and after it repeat after 42 rounds,
    so they are prepared in pairs."""
    parts = [(s if n % 3 else b"") + (p if n % 7 else b"") for n in range(42)]
    pairs = [(parts[n] + p, p + parts[n + 1]) for n in range(0, 42, 2)]
    for after, before in islice(cycle(pairs), rounds // 2):
        digest = hash_function(before + hash_function(digest + after).digest()).digest()
    if rounds % 2:
        digest = hash_function(digest + pairs[rounds // 2 % 21][0]).digest()
    return digest
