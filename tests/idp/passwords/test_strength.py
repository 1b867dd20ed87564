"""What is too easy to guess, what is not, and what a judgement costs."""

from __future__ import annotations

import random
import threading
import time

import pytest
from zxcvbn.frequency_lists import FREQUENCY_LISTS
from zxcvbn.matching import RANKED_DICTIONARIES

from idp.config.settings import Config
from idp.passwords import strength
from idp.passwords.common_words import common_words
from idp.passwords.policy import Requirements, policy_problems
from idp.policies import effective

PUBLIC = Config(issuer="https://login.acme.example")
WORDS = ("anna.meier@acme.example", "Anna", "Meier", "Acme Rockets", "acme", "login", "Lunar")

EASY = [
    "aaaaaaaa",
    "abcdefgh",
    " " * 8,
    "Password123!",
    "Summer2026!",
    "Welcome1!",
    "P@ssw0rd2026",
    "letmein123",
    "Willkommen2026!",
    "qwertz123456789",
    "1qaz2wsx3edc4rfv",
    "Sommer2026Sommer",
    "iloveyou12345678",
    "aaaaaaaaaaaaaaaaaaaa",
    "1234567890123456",
    "2026112320261123",
    "passwordpassword",
    "Contraseña123!!!!!!!!",
    "W1llk0mmen#########1",
    "abcabcabcabcabcabc",
]
NAMES = [
    "AnnaMeier2026!!!",
    "anna.meier@acme",
    "AcmeRockets2026!",
    "acmerocketsacme!",
    "Autumn2026Autumn",
    "LunarLunarLunar1",
]


def required(with_factor=False, words=WORDS) -> Requirements:
    rules = effective.complete_complexity(PUBLIC, None, None)
    return Requirements(rules, effective.min_length(rules, has_factor=with_factor), words)


@pytest.mark.promise("passwords: strength")
@pytest.mark.parametrize("password", EASY)
@pytest.mark.parametrize("with_factor", [False, True])
def test_what_is_guessed_soon_is_refused_in_public(password, with_factor):
    assert policy_problems(password, required(with_factor))


@pytest.mark.promise("passwords: strength")
@pytest.mark.parametrize("password", NAMES)
def test_names_the_organization_and_the_application_make_no_password(password):
    problems = {problem.error_code for problem in policy_problems(password, required(True))}

    assert problems & {"password.own_words", "password.too_easy"}


@pytest.mark.promise("passwords: strength")
@pytest.mark.full
@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.load)])
def test_of_random_phrases_of_four_words_none_is_refused(count):
    generator = random.Random(7)
    words = [word for word in FREQUENCY_LISTS["english_wikipedia"][500:8500] if len(word) >= 4]
    phrases = [" ".join(generator.sample(words, 4)) for _ in range(count)]

    refused = {phrase: policy_problems(phrase, required()) for phrase in phrases}

    assert {phrase: problems for phrase, problems in refused.items() if problems} == {}


@pytest.mark.parametrize(
    "password",
    ["Été2026!!", "1été", "Contraseña123", "パスワード2026", "密码123456", "$ummer2026", "Hasło!1"]
    + ["pa55w0rd", "s3cr3t!!", "كلمةالسر123", "Bienvenue#1", "w e l c o m e 1", "ÉTÉ 2026"],
)
def test_a_common_word_of_any_language_between_digits_and_symbols_is_recognized(password):
    assert strength.is_common_word_with_affixes(password)


@pytest.mark.parametrize("password", ["two summers in rome", "Sommerregenschirm", "", "7", "!!!"])
def test_a_common_word_inside_of_more_is_not(password):
    assert not strength.is_common_word_with_affixes(password)


def test_there_are_700_words_or_more_and_all_are_folded():
    assert len(common_words()) >= 700
    assert all(word == word.casefold() for word in common_words())


def test_words_of_one_person_are_not_known_to_the_next_judgement():
    assert strength.score("zubrowkawitz", ["zubrowkawitz"]) == 0
    assert "user_inputs" not in RANKED_DICTIONARIES
    assert strength.score("zubrowkawitz", []) > 0


@pytest.mark.load
@pytest.mark.parametrize(
    "password", [" ".join(["correct horse battery staple"] * 8)[:200], "x7" * 100, "p@ssw0rd" * 25]
)
def test_a_password_of_200_characters_holds_up_no_other_thread(password):
    strength.score("warm up", [])
    gaps, stop = [], threading.Event()

    def watch() -> None:
        last = time.perf_counter()
        while not stop.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.thread_time()
    policy_problems(password, required())
    took = time.thread_time() - began
    stop.set()
    watcher.join()

    assert took <= 0.15
    assert max(gaps) <= 0.02
