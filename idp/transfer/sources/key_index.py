"""An index from text keys to numbers for millions of keys, in 18 to 54 bytes per key."""

from __future__ import annotations

from array import array
from typing import Final

_FIRST_SIZE: Final = 1 << 10
_MASK: Final = (1 << 64) - 1


class KeyIndex:
    """An index from texts to numbers from 0 to 2³² - 1, by 64 bits of a keyed hash.

    The probability that any two of a million texts share a hash is one in 37 million; a caller
    that cannot accept that compares the texts. The table uses open addressing and is at most two
    thirds full.
    """

    def __init__(self) -> None:
        self._hashes = array("Q", [0]) * _FIRST_SIZE
        self._numbers = array("I", [0]) * _FIRST_SIZE
        self._count = 0

    def add(self, key: str, number: int) -> int | None:
        """Stores `number` under a new key and returns None. If the key is in the index already,
        stores nothing and returns its number.
        """
        hashed = _hash(key)
        at = self._place(hashed)
        if self._hashes[at]:
            return self._numbers[at]
        self._hashes[at], self._numbers[at] = hashed, number
        self._count += 1
        if 3 * self._count > 2 * len(self._hashes):
            self._grow()
        return None

    def get(self, key: str) -> int | None:
        """Returns the number of the key; None if it is not in the index."""
        at = self._place(_hash(key))
        return self._numbers[at] if self._hashes[at] else None

    def _place(self, hashed: int) -> int:
        hashes, last = self._hashes, len(self._hashes) - 1
        at = hashed & last
        while hashes[at] not in (0, hashed):
            at = (at + 1) & last
        return at

    def _grow(self) -> None:
        hashes, numbers = self._hashes, self._numbers
        self._hashes = array("Q", [0]) * (2 * len(hashes))
        self._numbers = array("I", [0]) * (2 * len(hashes))
        for hashed, number in zip(hashes, numbers, strict=True):
            if hashed:
                at = self._place(hashed)
                self._hashes[at], self._numbers[at] = hashed, number


def _hash(key: str) -> int:
    """Returns Python's keyed hash, but never 0, which marks an empty slot."""
    return hash(key) & _MASK or 1
