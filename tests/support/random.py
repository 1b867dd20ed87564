"""A repeatable source of random values, for tests."""

from __future__ import annotations

import os
import random
import zlib
from collections import Counter

from idp.foundation.randomness import Random

_asked: Counter[str] = Counter()


def seed_of_test() -> int:
    """A seed by the id of the running test, the same in every run, and another at each call."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    _asked[test] += 1
    return zlib.crc32(f"{test} {_asked[test]}".encode())


class SeededRandom(Random):
    """Returns the same bytes in every run; it must not be used for secrets."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def token_bytes(self, n: int) -> bytes:
        return self._random.randbytes(n)
