from __future__ import annotations

import asyncio
import threading
import time
import unicodedata

import bcrypt
import pytest

from idp.config.settings import Config
from idp.foundation.errors import Busy
from idp.passwords import hashing, schemes
from idp.passwords.hashing import Hasher, Verdict
from idp.passwords.hashing_threads import HashingBusy
from idp.passwords.policy import PasswordRefused, compared_forms
from idp.passwords.schemes import ParsedHash
from idp.passwords.schemes import argon2 as argon2_format
from tests.support import patience
from tests.support.patience import loop_turns, until
from tests.support.random import SeededRandom
from tests.support.transfer.foreign_hashes import VERIFIED

OLD = (
    "$argon2id$v=19$m=4096,t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA"
    "$DYojYpnUWSMmTtrkVXyaNWVGxLmGe1n8VJBPDdFkbjU"
)
QUICK = "$quick$x"
SLOW = "$slow$x"


def make(**settings):
    return Hasher(Config(**settings), SeededRandom())


@pytest.fixture
def hasher():
    hasher = make()
    yield hasher
    hasher.close()


@pytest.fixture
def bcrypt_hasher():
    hasher = make(password_hasher="bcrypt")
    yield hasher
    hasher.close()


@pytest.fixture
def gate(monkeypatch):
    """Verifications of SLOW wait for this event; `started` lists those that have begun."""
    event = threading.Event()
    event.started = []

    def verify(password):
        event.started.append(password)
        event.wait(patience.SECONDS)
        return True

    added = {
        "$slow$": ParsedHash("slow", (), verify, seconds=0.03),
        "$quick$": ParsedHash("quick", (), lambda password: password == b"x", seconds=0.0),
    }
    usual = schemes.read
    monkeypatch.setattr(
        schemes,
        "read",
        lambda encoded: (
            next((of for is_, of in added.items() if encoded.startswith(is_)), None)
            or usual(encoded)
        ),
    )
    yield event
    event.set()


async def test_a_hash_verifies_its_password_and_no_other(hasher):
    encoded = await hasher.hash("correct horse")

    assert encoded.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert await hasher.verify("correct horse", encoded) == Verdict(True, False)
    assert await hasher.verify("correct horse ", encoded) == Verdict(False, False)
    assert await hasher.verify("Correct horse", encoded) == Verdict(False, False)


async def test_no_two_hashes_are_alike(hasher):
    assert await hasher.hash("correct horse") != await hasher.hash("correct horse")


async def test_letters_composed_differently_verify(hasher):
    encoded = await hasher.hash(unicodedata.normalize("NFD", "Zürich für alle"))

    assert (await hasher.verify("Zürich für alle", encoded)).ok


@pytest.mark.promise("user creation: hashedPassword")
@pytest.mark.parametrize(
    ("hashed", "typed"),
    [
        pytest.param("cafe\u0301", "cafe\u0301", id="hashed as typed, decomposed"),
        pytest.param("Ｐａｓｓ①", "Ｐａｓｓ①", id="hashed as typed, full width"),
        pytest.param("Pass1", "Ｐａｓｓ①", id="hashed in NFKC"),
        pytest.param("top secret", "top\u00a0secret", id="hashed in NFKC, a no-break space"),
        pytest.param("caf\u00e9", "cafe\u0301", id="hashed in NFC"),
    ],
)
async def test_a_hash_from_elsewhere_is_compared_in_the_form_that_its_system_hashed(
    hasher, hashed, typed
):
    encoded = bcrypt.hashpw(hashed.encode(), bcrypt.gensalt(4)).decode()

    assert await hasher.verify(typed, encoded) == Verdict(True, needs_rehash=True)
    assert not (await hasher.verify(typed + " ", encoded)).ok
    assert not (await hasher.verify(typed.upper(), encoded)).ok


async def test_a_hash_of_today_that_was_made_of_another_form_is_replaced(hasher):
    encoded = argon2_format.RECIPE.hash("cafe\u0301".encode(), SeededRandom())

    assert await hasher.verify("cafe\u0301", encoded) == Verdict(True, needs_rehash=True)
    assert await hasher.verify("caf\u00e9", encoded) == Verdict(False, False)


@pytest.mark.parametrize(
    ("typed", "forms"),
    [
        ("correct horse", ["correct horse"]),
        ("Zürich", ["Zürich"]),
        ("Zu\u0308rich", ["Zürich", "Zu\u0308rich"]),
        ("①", ["①", "1"]),
        ("u\u0308①", ["ü①", "u\u0308①", "ü1"]),
        (" H4c4-fDGT-Ctvv-DFct\n", [" H4c4-fDGT-Ctvv-DFct\n", "H4c4-fDGT-Ctvv-DFct"]),
        ("H4c4fDGTCtvvDFct", ["H4c4fDGTCtvvDFct", "H4c4-fDGT-Ctvv-DFct"]),
        ("H4c4-fDGT-Ctvv-DFct", ["H4c4-fDGT-Ctvv-DFct"]),
        ("H4c4-fDGT-Ctvv-DFc", ["H4c4-fDGT-Ctvv-DFc"]),
        ("H4c4-fDGT-Ctvv-DFc0", ["H4c4-fDGT-Ctvv-DFc0"]),
    ],
)
def test_a_password_is_compared_in_as_many_forms_as_differ(typed, forms):
    assert compared_forms(typed) == forms


@pytest.mark.parametrize("typed", [" {} ", "{}\n", "\u200b{}"])
async def test_a_one_time_password_is_right_with_what_was_pasted_around_it(hasher, typed):
    password = SeededRandom().one_time_password()
    encoded = await hasher.hash(password)

    assert await hasher.verify(typed.format(password), encoded) == Verdict(True, False)
    assert (await hasher.verify(password.replace("-", " "), encoded)).ok
    assert not (await hasher.verify(password.swapcase(), encoded)).ok


async def test_200_characters_count_to_the_last(hasher):
    encoded = await hasher.hash("🦊" * 200)

    assert (await hasher.verify("🦊" * 200, encoded)).ok
    assert not (await hasher.verify("🦊" * 199, encoded)).ok
    assert not (await hasher.verify("🦊" * 199 + "x", encoded)).ok


@pytest.mark.parametrize("password", ["", "x" * 201, "a\x00b", "\ud800"])
async def test_what_can_not_be_a_password_is_not_hashed_and_never_verifies(hasher, password):
    with pytest.raises(PasswordRefused):
        await hasher.hash(password)

    assert await hasher.verify(password, OLD) == Verdict(False, False)
    assert await hasher.verify_decoy(password) == Verdict(False, False)


@pytest.mark.full
async def test_an_older_cost_asks_for_a_new_hash_only_when_the_password_is_right(hasher):
    assert await hasher.verify("password", OLD) == Verdict(True, True)
    assert await hasher.verify("Password", OLD) == Verdict(False, False)


@pytest.mark.full
async def test_another_scheme_asks_for_a_new_hash(hasher, bcrypt_hasher):
    today = await hasher.hash("password")
    made = bcrypt.hashpw(b"password", bcrypt.gensalt(4)).decode()

    assert await hasher.verify("password", made) == Verdict(True, True)
    assert await bcrypt_hasher.verify("password", made) == Verdict(True, True)
    assert await bcrypt_hasher.verify("password", today) == Verdict(True, True)


@pytest.mark.full
async def test_bcrypt_refuses_what_it_would_cut(bcrypt_hasher, hasher):
    encoded = await bcrypt_hasher.hash("ü" * 36)

    with pytest.raises(PasswordRefused, match="72 bytes") as refused:
        await bcrypt_hasher.hash("ü" * 36 + "x")
    assert refused.value.error_code == "password.too_many_bytes"
    assert (bcrypt_hasher.max_bytes, hasher.max_bytes) == (72, None)
    assert await bcrypt_hasher.verify("ü" * 36, encoded) == Verdict(True, False)


@pytest.mark.full
async def test_a_long_password_is_not_hashed_again_by_bcrypt(bcrypt_hasher):
    made = bcrypt.hashpw(b"x" * 72, bcrypt.gensalt(4)).decode()

    assert await bcrypt_hasher.verify("x" * 80, made) == Verdict(True, False)


@pytest.mark.load
async def test_nobodys_password_is_always_wrong_and_takes_as_long(hasher):
    encoded = await hasher.hash("correct horse")
    times = {"nobody": [], "wrong": []}
    for _ in range(8):
        for who in times:
            started = time.perf_counter()
            verdict = await (
                hasher.verify_decoy("battery staple")
                if who == "nobody"
                else hasher.verify("battery staple", encoded)
            )
            times[who].append(time.perf_counter() - started)
            assert verdict == Verdict(False, False)

    nobody, wrong = (sorted(each)[len(each) // 2] for each in times.values())
    assert 0.3 < nobody / wrong < 3


@pytest.mark.load
async def test_a_quick_old_hash_takes_as_long_as_one_of_today(hasher, gate):
    for _ in range(3):
        await hasher.verify_decoy("x")
    started = time.perf_counter()

    verdict = await hasher.verify("x", QUICK)

    assert verdict == Verdict(True, True)
    assert time.perf_counter() - started >= min(hasher._recent_seconds) > 0.005


CHEAP = [VERIFIED[name][0] for name in ("md5", "sha1", "md5-crypt", "directories", "phpass")]


@pytest.mark.parametrize(("password", "encoded"), CHEAP, ids=[encoded for _, encoded in CHEAP])
async def test_a_cheap_hash_takes_as_long_as_one_of_the_last_of_today_did_right_or_wrong(
    hasher, monkeypatch, password, encoded
):
    slept, genuine = [], hashing._timed
    monkeypatch.setattr(hashing, "_timed", lambda *given: (genuine(*given)[0], 0.004))
    monkeypatch.setattr(hashing.asyncio, "sleep", noted(slept))
    hasher._recent_seconds.extend([0.050, 0.060, 0.070])

    for _ in range(20):
        assert (await hasher.verify(password, encoded)).ok
        assert not (await hasher.verify(password + "x", encoded)).ok

    assert {round(each, 3) for each in slept} == {0.046, 0.056, 0.066}
    assert len(slept) == 40


def noted(slept):
    async def sleep(seconds):
        slept.append(seconds)

    return sleep


@pytest.mark.load
async def test_the_first_of_all_is_no_quicker_for_being_an_old_hash(gate):
    hasher = make()
    started = time.perf_counter()

    assert await hasher.verify("x", QUICK) == Verdict(True, True)

    seconds = time.perf_counter() - started
    assert seconds >= hasher._recent_seconds[0] > 0
    hasher.close()


@pytest.mark.parametrize("encoded", ["", "nonsense", "$argon2id$v=19$m=4194304,t=9,p=1$a$b"])
async def test_a_stored_hash_that_can_not_be_read_is_as_a_wrong_password(hasher, encoded, capsys):
    assert await hasher.verify("password", encoded) == Verdict(False, False)

    assert "stored password hash refused" in capsys.readouterr().err


async def test_a_full_queue_answers_busy_at_once_and_what_waits_is_served(gate):
    hasher = make(hashing_threads=1, hashing_queue=2)
    waiting = [asyncio.ensure_future(hasher.verify("x", SLOW)) for _ in range(3)]
    await until(lambda: gate.started)

    for ask in (hasher.hash("x"), hasher.verify("x", SLOW), hasher.verify_decoy("x")):
        with pytest.raises(HashingBusy) as busy:
            await ask
        assert isinstance(busy.value, Busy)
        assert busy.value.retry_after_seconds >= 1

    gate.set()
    assert [(await each).ok for each in waiting] == [True] * 3
    assert (await hasher.verify("x", SLOW)).ok
    hasher.close()


async def test_a_waiter_that_is_gone_is_dropped_before_its_turn_and_frees_its_place(gate):
    hasher = make(hashing_threads=1, hashing_queue=2)
    first, gone, last = (
        asyncio.ensure_future(hasher.verify(name, SLOW)) for name in ("first", "gone", "last")
    )
    await until(lambda: gate.started)

    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    late = asyncio.ensure_future(hasher.verify("late", SLOW))
    await asyncio.sleep(0)
    gate.set()

    assert [(await each).ok for each in (first, last, late)] == [True] * 3
    assert gate.started == [b"first", b"last", b"late"]
    hasher.close()


async def test_no_more_run_at_once_than_there_are_threads(gate):
    hasher = make(hashing_threads=2)
    waiting = [asyncio.ensure_future(hasher.verify("x", SLOW)) for _ in range(5)]
    await until(lambda: len(gate.started) == 2)
    await loop_turns(50)

    assert len(gate.started) == 2
    gate.set()
    await asyncio.gather(*waiting)
    hasher.close()


@pytest.mark.full
async def test_the_loop_runs_on_while_passwords_are_hashed(hasher):
    work, ticks = asyncio.gather(*[hasher.hash("correct horse") for _ in range(10)]), 0
    while not work.done():
        await asyncio.sleep(0)
        ticks += 1

    assert len(await work) == 10
    assert ticks > 10


async def test_closing_drops_what_waits_and_refuses_what_comes(gate):
    hasher = make(hashing_threads=1)
    running, waiting = (asyncio.ensure_future(hasher.verify("x", SLOW)) for _ in range(2))
    await until(lambda: gate.started)
    gate.set()

    await asyncio.to_thread(hasher.close)

    assert (await running).ok
    await asyncio.wait([waiting])
    with pytest.raises(HashingBusy):
        await hasher.hash("x")
    hasher.close()


def test_processes_share_the_cores(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)

    workers = [make(**settings)._threads._threads for settings in (
        {}, {"processes": 4}, {"processes": 20}, {"hashing_threads": 3, "processes": 4}
    )]  # fmt: skip

    assert workers == [8, 2, 1, 3]
