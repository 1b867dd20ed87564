"""Strength of a password: zxcvbn's estimate, and a check for common words with affixes.

zxcvbn (Wheeler, USENIX Security 2016) knows English words, names, keyboard rows, dates and the
most used passwords. It does not know the words of other languages that users combine with a year:
`is_common_word_with_affixes` finds these.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from typing import Final

from idp.passwords.common_words import common_words, without_accents

# More would make the estimate slow, and the score is 4 long before.
MAX_RATED_CHARACTERS: Final = 72

_LEET: Final = {
    "@": "a", "4": "a", "8": "b", "(": "c", "3": "e", "€": "e", "6": "g", "9": "g", "1": "il",
    "!": "il", "|": "il", "0": "o", "$": "s", "5": "s", "7": "t", "+": "t", "2": "z",
}  # fmt: skip
_MAX_AMBIGUOUS: Final = 4  # 1, ! and | may each be an i or an l: at most 16 readings

_ALPHABETIC: Final = re.compile(r"[^\W\d_]+")

_zxcvbn_lock: Final = threading.Lock()


def score(password: str, words: Iterable[str]) -> int:
    """Returns how hard the password is to guess for an attacker that knows these words: 0 to 4
    (zxcvbn).

    Takes up to a quarter of a second of processor time, so it must not run on the event loop.
    """
    from zxcvbn import zxcvbn  # type: ignore[import-untyped]  # large; few processes need it
    from zxcvbn.matching import RANKED_DICTIONARIES  # type: ignore[import-untyped]

    with _zxcvbn_lock:  # zxcvbn stores the words in a global, which threads would share
        try:
            rating: int = zxcvbn(password[:MAX_RATED_CHARACTERS], user_inputs=list(words))["score"]
        finally:
            RANKED_DICTIONARIES.pop("user_inputs", None)
    return rating


def is_common_password(password: str) -> bool:
    """Returns whether the password, in upper or lower case, is among the 30,000 most used."""
    return password.casefold() in _common_passwords()


def is_common_word_with_affixes(password: str) -> bool:
    """Returns whether the password is one common word, once or repeated, apart from case, leet
    spelling, and digits and symbols around it."""
    folded = password.casefold()
    alphabetic_runs = set(_ALPHABETIC.findall(folded))
    return any(map(_is_common_word, _candidate_words(folded))) or (
        len(alphabetic_runs) == 1 and _is_common_word(alphabetic_runs.pop())
    )


def _is_common_word(word: str) -> bool:
    words = common_words()
    return word in words or word in _common_passwords() or without_accents(word) in words


@cache
def _common_passwords() -> frozenset[str]:
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # type: ignore[import-untyped]

    return frozenset(password.casefold() for password in FREQUENCY_LISTS["passwords"])


def _candidate_words(folded: str) -> Iterator[str]:
    """Yields the words that the password may be made from: its ends are removed before or after
    leet spelling is undone."""
    joined = "".join(folded.split())
    for stripped in {_without_ends(joined), joined.rstrip(_other_characters(joined))}:
        for plain in _without_leet(stripped):
            yield plain
            yield _without_ends(plain)


def _without_ends(text: str) -> str:
    return text.strip(_other_characters(text))


def _other_characters(text: str) -> str:
    """The digits and symbols of the text."""
    return "".join({each for each in text if not each.isalpha()})


def _without_leet(text: str) -> Iterator[str]:
    """The readings of a text in leet spelling; the text itself first."""
    yield text
    if sum(len(_LEET.get(each, "")) > 1 for each in text) > _MAX_AMBIGUOUS:
        return
    for characters in product(*(_LEET.get(each, each) for each in text)):
        yield "".join(characters)
