"""Chance that repeats itself, for tests."""

from __future__ import annotations

import random

from idp.foundation.randomness import Random


class SeededRandom(Random):
    """The same bytes at every run. Worthless as a source of secrets."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def token_bytes(self, n: int) -> bytes:
        return self._random.randbytes(n)
