from __future__ import annotations

import subprocess
import sys
import time
import unicodedata

import pytest

from idp.foundation.i18n import load
from idp.passwords import strength
from idp.passwords.policy import PasswordRefused, Requirements, normalised, policy_problems
from idp.records import ComplexityRules

GOOD = "correct horse battery"


def problems(password, rules=None, own_words=(), max_bytes=None):
    rules = rules or ComplexityRules()
    required = Requirements(rules, rules.min_length, tuple(own_words), max_bytes)
    return policy_problems(password, required)


def error_codes(password, **required):
    return [problem.error_code for problem in problems(password, **required)]


@pytest.mark.parametrize(
    "password",
    [GOOD, " leading and trailing ", "ü" * 8, "密码密码密码密码", "🦊" * 8, "x y\tz\n ab"]
    + ["zk" * 100, "nothing but letters", "73940182", "ALL IN CAPITALS"],
)
def test_any_characters_will_do_and_none_are_demanded(password):
    assert error_codes(password) == []
    assert normalised(password) == password


@pytest.mark.parametrize(
    ("length", "expected"),
    [(0, "too_short"), (1, "too_short"), (7, "too_short"), (8, None), (200, None)]
    + [(201, "too_long"), (799, "too_long"), (100_000, "too_long")],
)
def test_a_password_has_8_to_200_characters(length, expected):
    password = ("kž7🦊" * (length // 4 + 1))[:length]

    assert error_codes(password) == ([f"password.{expected}"] if expected else [])


def test_an_organization_may_ask_for_more():
    assert error_codes("k7q2m9x4z", rules=ComplexityRules(min_length=10)) == ["password.too_short"]
    assert error_codes("k7q2m9x4zp", rules=ComplexityRules(min_length=10)) == []


@pytest.mark.parametrize(
    ("rule", "without", "with_it"),
    [
        ("has_lowercase", "K7Q2M9X4 !", "K7Q2M9X4 !ß"),
        ("has_uppercase", "k7q2m9x4 !", "k7q2m9x4 !Ä"),
        ("has_number", "kžqomyxh !", "kžqomyxh !٣"),
        ("has_symbol", "k7q2 m9x4", "k7q2 m9x4€"),
    ],
)
def test_an_organization_may_demand_a_kind_of_character(rule, without, with_it):
    rules = ComplexityRules(**{rule: True})

    assert error_codes(without, rules=rules) == [f"password.{rule.removeprefix('has_')}"]
    assert error_codes(with_it, rules=rules) == []


def test_characters_are_counted_as_people_see_them():
    decomposed = unicodedata.normalize("NFD", "ü" * 7)

    assert len(decomposed) == 14
    assert error_codes(decomposed) == ["password.too_short"]
    assert error_codes(unicodedata.normalize("NFD", "üž" * 100)) == []


def test_letters_composed_differently_are_the_same_password():
    assert normalised("Zu\u0308rich 42") == normalised("Zürich 42") == "Zürich 42"


@pytest.mark.parametrize(
    ("one", "other"),
    [("Secret words", "secret words"), ("a word ", "a word"), ("ﬁne words", "fine words")]
    + [("１２３４５６７８", "12345678"), ("a" * 200, "a" * 199), ("I", "ı")],
)
def test_nothing_else_is_changed(one, other):
    assert normalised(one) != normalised(other)


@pytest.mark.parametrize("password", ["with\x00nul in it", "\ud800" * 8, "half \udc00 surrogate"])
def test_what_can_not_be_stored_is_refused(password):
    with pytest.raises(PasswordRefused) as refused:
        normalised(password)

    assert refused.value.error_code == "password.characters"
    assert error_codes(password) == ["password.characters"]


ENDLESS = ["", "x" * 201, "x" * 10_000_000, "\u0958" * 201]


@pytest.mark.load
@pytest.mark.parametrize("password", ENDLESS)
def test_what_is_empty_or_endless_is_refused_at_once(password):
    started = time.thread_time()
    with pytest.raises(PasswordRefused):
        normalised(password)

    assert time.thread_time() - started < 0.1


@pytest.mark.parametrize("password", ENDLESS)
def test_what_is_empty_or_endless_is_refused(password):
    with pytest.raises(PasswordRefused) as refused:
        normalised(password)

    assert password[:5] not in refused.value.message or not password


@pytest.mark.parametrize(
    "password",
    ["password", "PASSWORD", "12345678", "qwertyuiop", "iloveyou", "Password1", "trustno1"],
)
def test_a_common_password_is_refused_in_any_case_of_letters(password):
    assert error_codes(password) == ["password.common"]


def test_the_block_list_is_long():
    assert len(strength._common_passwords()) >= 3000


@pytest.mark.parametrize(
    "password",
    ["anna.meier", "Anna.Meier", "annameier", "meier2026", "ANNA1234", "annaanna", "anna-meier-1"]
    + ["acme-anna", "meieranna7", "anna@example.com", "1acmecloud", "zürcher12"],
)
def test_a_password_made_of_the_persons_own_words_is_refused(password):
    own_words = ["anna@example.com", "Anna", "Meier", "Acme Cloud", "Zürcher"]

    assert error_codes(password, own_words=own_words) == ["password.own_words"]


@pytest.mark.parametrize(
    ("password", "own_words"),
    [
        ("anna plays the tuba", ["Anna"]),
        ("boblikesk7", ["Bob"]),
        (GOOD, ["", "@", "...", " "]),
        (GOOD, ["x" * 100_000]),
        (GOOD, ["\ud800\x00"]),
        (GOOD, []),
        ("example.com-k7q2", ["anna@example.com"]),
    ],
)
def test_own_words_may_be_part_of_a_password_that_has_more(password, own_words):
    assert error_codes(password, own_words=own_words) == []


def test_all_problems_are_reported_at_once():
    assert error_codes("dragon", own_words=["dragon"]) == [
        "password.too_short",
        "password.common",
        "password.own_words",
    ]


def test_the_limit_of_the_configured_hash_counts_bytes():
    assert error_codes("ü" * 36, max_bytes=72) == []
    assert error_codes("ü" * 37, max_bytes=72) == ["password.too_many_bytes"]
    assert error_codes("ü" * 37) == []


def test_every_problem_has_a_text_for_the_person():
    english = load("en")
    found = [
        *problems("dragon", own_words=["dragon"], max_bytes=2),
        *problems("x" * 201),
        *problems("\x00"),
    ]

    texts = [english.text(problem.text) for problem in found]

    assert len(set(texts)) == 6
    assert "Use at least 8 characters." in texts
    assert "Use at most 200 characters." in texts
    assert not any("%" in text for text in texts)


@pytest.mark.full
def test_the_block_list_is_not_loaded_before_it_is_needed():
    code = "import sys, idp.passwords.policy; print('zxcvbn' in sys.modules)"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "False\n"
