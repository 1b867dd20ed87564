from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from idp.foundation import base64url
from idp.foundation.randomness import UNAMBIGUOUS, Random, SystemRandom
from tests.support.random import SeededRandom

NOW = datetime(2026, 3, 4, 5, 6, 7, 89_000, tzinfo=UTC)


@pytest.fixture
def random():
    return SeededRandom()


def test_the_system_source_gives_the_bytes_asked_for_and_never_the_same_twice():
    source = SystemRandom()

    assert len(source.token_bytes(33)) == 33
    assert len({source.token() for _ in range(100)}) == 100


def test_a_seeded_source_repeats_itself_and_another_seed_differs():
    assert SeededRandom(1).token() == SeededRandom(1).token() != SeededRandom(2).token()


@pytest.mark.parametrize(("bits", "characters"), [(128, 22), (160, 27), (250, 43), (256, 43)])
def test_a_token_has_at_least_the_bits_asked_for(random, bits, characters):
    token = random.token(bits)

    assert re.fullmatch(r"[A-Za-z0-9_-]+", token)
    assert len(token) == characters
    assert len(base64url.decode(token)) * 8 >= bits


def test_an_id_has_22_characters_and_begins_with_a_letter_or_digit(random):
    ids = {random.id() for _ in range(2000)}

    assert len(ids) == 2000
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{21}", id) for id in ids)


def test_an_id_that_would_begin_with_a_dash_is_drawn_again():
    class Dashing(Random):
        drawn = iter([b"\xf8" * 16, b"\xff" * 16, b"\x00" * 16])

        def token_bytes(self, n):
            return next(self.drawn)

    assert Dashing().id() == "A" * 22


def test_an_ordered_id_is_a_uuid_of_version_7_that_has_its_time(random):
    uuid = UUID(random.ordered_id(NOW))

    assert (uuid.version, uuid.variant) == (7, "specified in RFC 4122")
    assert uuid.int >> 80 == int(NOW.timestamp() * 1000)


def test_ordered_ids_sort_by_the_time_they_were_made(random):
    ids = [random.ordered_id(NOW + timedelta(milliseconds=step)) for step in range(500)]

    assert ids == sorted(ids)
    assert len({random.ordered_id(NOW) for _ in range(500)}) == 500


def test_a_one_time_password_has_four_groups_without_look_alikes(random):
    passwords = [random.one_time_password() for _ in range(500)]

    group = f"[{UNAMBIGUOUS}]{{4}}"
    assert all(re.fullmatch(f"{group}(-{group}){{3}}", each) for each in passwords)
    assert not set("0Oo1IilL") & set(UNAMBIGUOUS)
    assert 16 * math.log2(len(set(UNAMBIGUOUS))) >= 80


def test_every_letter_of_a_one_time_password_is_as_likely_as_any_other(random):
    drawn = "".join(random.one_time_password() for _ in range(5000)).replace("-", "")

    expected = len(drawn) / len(UNAMBIGUOUS)
    assert all(0.85 < drawn.count(letter) / expected < 1.15 for letter in UNAMBIGUOUS)


def test_base64url_is_read_back(random):
    for size in range(70):
        data = random.token_bytes(size)

        assert base64url.decode(base64url.encode(data)) == data


@pytest.mark.parametrize("text", ["A", "AB=", "AB==", "A+", "A/", "AB\n", " AB", "AC", "Ａ", "é"])
def test_base64url_has_one_form_for_each_value(text):
    with pytest.raises(ValueError, match="base64url"):
        base64url.decode(text)
