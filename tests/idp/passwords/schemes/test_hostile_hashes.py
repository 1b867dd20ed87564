"""Hostile password hashes: refused at once, and nothing is hashed to find that out."""

from __future__ import annotations

import hashlib
import itertools
import random
import time

import argon2.low_level
import bcrypt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from idp.passwords import schemes
from idp.passwords.schemes import UnreadableHash, yescrypt
from idp.passwords.schemes import argon2 as argon2_format
from idp.passwords.schemes import bcrypt as bcrypt_format
from tests.support.transfer.foreign_hashes import VERIFIED
from tests.support.transfer.refused_hashes import REFUSED

ENCODED = [encoded for rows in VERIFIED.values() for _, encoded in rows]
SECONDS = 0.001

# What stands where a number belongs.
NUMBERS = [
    *("-1", "0", "00", "01", "+5", "1_000", "1e9", "0x10", "1.5", " 8", "8 ", "", "٣", "１２"),
    *("4294967295", "4294967296", "18446744073709551616", "9" * 100, "NaN", "inf", "²", "1\n"),
]
NUMERIC_FORMATS = [
    "$argon2id$v=19$m={},t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA$" + "A" * 43,
    "$argon2id$v=19$m=4096,t={},p=1$cmFuZG9tc2FsdGlzaGFyZA$" + "A" * 43,
    "$argon2id$v=19$m=4096,t=3,p={}$cmFuZG9tc2FsdGlzaGFyZA$" + "A" * 43,
    "$argon2i$v={}$m=4096,t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA$" + "A" * 43,
    "$2b${}$" + "." * 53,
    "$2y${}$" + "." * 53,
    "$scrypt$ln={},r=8,p=1$c2FsdA$" + "A" * 43,
    "$scrypt$ln=14,r={},p=1$c2FsdA$" + "A" * 43,
    "$scrypt$ln=14,r=8,p={}$c2FsdA$" + "A" * 43,
    "$7$ln={},r=8,p=1$c2FsdA$" + "A" * 43,
    "$pbkdf2${}$c2FsdA$" + "A" * 27,
    "$pbkdf2-sha256${}$c2FsdA$" + "A" * 43,
    "$pbkdf2-sha512${}$c2FsdA$" + "A" * 86,
    "$5$rounds={}$salt$" + "." * 43,
    "$6$rounds={}$salt$" + "." * 86,
    "pbkdf2_sha256${}$salt$" + "A" * 43 + "=",
    "pbkdf2_sha1${}$salt$" + "A" * 27 + "=",
    "scrypt${}$salt$8$1$" + "A" * 86 + "==",
    "scrypt$16384$salt${}$1$" + "A" * 86 + "==",
    "scrypt$16384$salt$8${}$" + "A" * 86 + "==",
    "pbkdf2:sha256:{}$salt$" + "a" * 64,
    "scrypt:{}:8:1$salt$" + "a" * 128,
    "scrypt:16384:{}:1$salt$" + "a" * 128,
    "scrypt:16384:8:{}$salt$" + "a" * 128,
]
SPOILERS = {
    "cut": lambda text: text[: len(text) // 3],
    "longer": lambda text: text + "!",
    "201 characters": lambda text: text.ljust(201, "A"),
    "a line's end": lambda text: text + "\n",
    "a space before": lambda text: " " + text,
    "another alphabet": lambda text: text[:-2] + "é" + text[-1:],
    "half a character": lambda text: text[:-2] + "\ud800" + text[-1:],
    "a NUL": lambda text: text[:-2] + "\0" + text[-1:],
    "no salt": lambda text: text.replace("$", "$$"),
    "a field too many": lambda text: text + "$",
    "twice": lambda text: text * 2,
}
LISTED = [
    *("", "$", "$$", "$$$$", "{", "{SSHA", "{SSHA}", "{SSHA}=", "{SHA}!", "x", "plain text"),
    *(
        "$unknown$x",
        "$argon2id$",
        "$2b$",
        "$y$",
        "$P$",
        "$S$",
        "$7$",
        "scrypt:",
        "pbkdf2_",
        "\x00$2b$",
    ),
    *("\ud800", "$" + "a" * 150 + "$", "$2b$12$" + "a" * 10_000_000, "0" * 31, "g" * 32, "0" * 41),
    *("$y$jZT$salt$" + "." * 43, "$P$Z12345678" + "." * 22, "$S$Z12345678" + "." * 43),
]
NUMERIC = [form.format(number) for form, number in itertools.product(NUMERIC_FORMATS, NUMBERS)]
SPOILT = [spoil(text) for spoil, text in itertools.product(SPOILERS.values(), ENCODED)]
SPOILT = [each for each in SPOILT if each not in ENCODED]
HOSTILE = list(dict.fromkeys([*REFUSED, *LISTED, *NUMERIC, *SPOILT]))


class Hashed(BaseException):
    """A hash function ran."""


@pytest.fixture
def nothing_is_hashed(monkeypatch):
    """Every door through which a password is hashed is shut."""

    def refuse(*_, **__):
        raise Hashed

    for name in ("pbkdf2_hmac", "scrypt"):
        monkeypatch.setattr(hashlib, name, refuse)
    monkeypatch.setattr(bcrypt, "hashpw", refuse)
    monkeypatch.setattr(argon2.low_level, "verify_secret", refuse)
    monkeypatch.setattr(argon2_format, "verify_secret", refuse)
    monkeypatch.setattr(bcrypt_format, "_verify", refuse)
    monkeypatch.setattr(yescrypt, "_verify", refuse)


def is_read(encoded):
    try:
        schemes.read(encoded)
    except UnreadableHash:
        return False
    return True


def seconds_of_reading(encoded):
    """The best of some: another process may have the core."""
    best = 1.0
    for _ in range(5):
        started = time.thread_time()
        is_read(encoded)
        best = min(best, time.thread_time() - started)
    return best


@pytest.mark.promise("user creation: hashedPassword")
def test_hostile_hashes_are_refused(nothing_is_hashed):
    assert len(HOSTILE) >= 1000
    assert [each for each in HOSTILE if is_read(each)] == []


@pytest.mark.load
def test_hostile_hashes_are_refused_in_under_a_millisecond_each():
    is_read(VERIFIED["yescrypt"][0][1])  # libcrypt is loaded once

    assert [each[:99] for each in HOSTILE if seconds_of_reading(each) >= SECONDS] == []


def test_no_refusal_contains_the_hash(nothing_is_hashed):
    for encoded in HOSTILE:
        with pytest.raises(UnreadableHash) as refused:
            schemes.read(encoded)
        longest = max(encoded.split("$"), key=len)
        assert len(longest) < 20 or longest not in refused.value.message


def test_what_is_read_well_is_not_hashed_before_it_is_verified(nothing_is_hashed):
    for encoded in ENCODED:
        stored = schemes.read(encoded)
        assert stored.scheme


texts = st.text(max_size=220)
near = st.builds(
    lambda encoded, at, junk, gone: encoded[:at] + junk + encoded[at + gone :],
    st.sampled_from([*ENCODED, *REFUSED]),
    st.integers(0, 200),
    st.text(max_size=4) | st.sampled_from(NUMBERS),
    st.integers(0, 3),
)
dollars = st.lists(st.sampled_from(["$", "=", ",", "+", "/", ".", *schemes.SCHEMES]) | texts).map(
    "".join
)


@pytest.mark.load
@pytest.mark.full
@settings(max_examples=1000, deadline=None)
@given(texts | near | dollars)
@example("$pbkdf2-sha256$1$" + "=" * 180)
@example("{SSHA512}" + "A" * 176 + "==")
def test_whatever_is_read_raises_nothing_else_and_takes_no_time(encoded):
    started = time.thread_time()
    is_read(encoded)
    seconds = time.thread_time() - started

    assert seconds < SECONDS or seconds_of_reading(encoded) < SECONDS


@pytest.mark.load
def test_a_million_readings_raise_nothing_else():
    chance = random.Random(4)
    alphabet = "$={},:+/.0123456789abcdefARSHP_-é\n"
    for _ in range(1_000_000):
        text = chance.choice(ENCODED)
        at, length = chance.randrange(len(text)), chance.randrange(4)
        junk = "".join(chance.choices(alphabet, k=chance.randrange(4)))
        is_read(text[:at] + junk + text[at + length :])
