"""Which of a million keys were seen, and with which number: 18 to 54 octets for each."""

from __future__ import annotations

from array import array
from typing import Final

_FIRST_SIZE: Final = 1 << 10
_MASK: Final = (1 << 64) - 1


class KeyIndex:
    """Numbers from 0 to 2³² - 1 by texts, of which 64 bits of a keyed hash are kept.

    That two of a million texts share these, by chance, happens once in 37 million runs; whoever
    can't bear that compares the texts. A table with open addressing, at most two thirds full.
    """

    def __init__(self) -> None:
        self._hashes = array("Q", [0]) * _FIRST_SIZE
        self._numbers = array("I", [0]) * _FIRST_SIZE
        self._count = 0

    def add(self, key: str, number: int) -> int | None:
        """Keep the number of a new key; the number of one that is there already."""
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
        """The number of the key, if it is there."""
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
    """Python's own keyed hash; never 0, which marks what is empty."""
    return hash(key) & _MASK or 1
