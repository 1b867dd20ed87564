"""A repeatable source of random values, for tests."""

from __future__ import annotations

import random

from idp.foundation.randomness import Random


class SeededRandom(Random):
    """Returns the same bytes in every run; it must not be used for secrets."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def token_bytes(self, n: int) -> bytes:
        return self._random.randbytes(n)
