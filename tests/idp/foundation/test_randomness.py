"""Nothing that is given out can be guessed: a hundred thousand samples of each kind."""

from __future__ import annotations

from collections import Counter
from math import sqrt

import pytest

from idp.foundation import base64url
from idp.foundation.randomness import BufferedRandom, SystemRandom

SAMPLES = 100_000
SIGMAS = 6.5  # one run in 20 million is further off by chance, over all 384 bits
PREFIX = 14  # of base64url: 84 bits, which no two of so many share

KINDS = {
    "token": (SystemRandom().token, 32),
    "id": (SystemRandom().id, 16),
    "of a stock": (BufferedRandom(SystemRandom()).token, 32),
}


@pytest.mark.load
@pytest.mark.parametrize("kind", KINDS)
def test_no_two_of_many_begin_or_end_alike(kind):
    make, _ = KINDS[kind]
    made = [make() for _ in range(SAMPLES)]

    assert len({each[:PREFIX] for each in made}) == SAMPLES
    assert len({each[-PREFIX:] for each in made}) == SAMPLES


@pytest.mark.load
@pytest.mark.parametrize("kind", ["token", "of a stock"])
def test_every_bit_of_a_token_is_as_often_set_as_not(kind):
    make, octets = KINDS[kind]
    numbers = [int.from_bytes(base64url.decode(make())) for _ in range(SAMPLES)]
    often = Counter(bit for number in numbers for bit in range(8 * octets) if number >> bit & 1)
    off = SIGMAS * sqrt(SAMPLES) / 2

    assert len(often) == 8 * octets
    assert all(abs(count - SAMPLES / 2) < off for count in often.values())


@pytest.mark.load
def test_a_token_reveals_nothing_about_the_next():
    made = [base64url.decode(SystemRandom().token()) for _ in range(SAMPLES)]
    alike = Counter(
        at
        for one, next in zip(made, made[1:], strict=False)
        for at in range(32)
        if one[at] == next[at]
    )
    expected = (SAMPLES - 1) / 256

    assert all(abs(alike[at] - expected) < SIGMAS * sqrt(expected) for at in range(32))
