"""Passwords as people choose them: their one form, their limits, and what is too easy to guess.

A password is Unicode text in NFC (SP 800-63B-4, 3.1.1.2), put into that form when it is set and
when it is verified, because keyboards differ in how they compose letters. Nothing else is changed:
no trimming, no cutting, no change of case, so every character counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final

from msgspec import Struct

from idp.errors import IdpError
from idp.i18n import Message, message
from idp.records import ComplexityRules

MAX_CHARACTERS: Final = 200
MIN_WORD_CHARACTERS: Final = 4

# Longer text is refused before it is normalised: NFC can join several characters to one, and
# whoever sends a megabyte shall not have it walked through.
_MAX_RAW_CHARACTERS: Final = 4 * MAX_CHARACTERS
_UNUSABLE: Final = re.compile("[\x00\ud800-\udfff]")


class PasswordRefused(IdpError):
    """A password that can't be hashed, whatever the policy."""

    slug = "password.refused"


class Problem(Struct, frozen=True):
    """Why a new password is refused: a slug for programs, a text for the person."""

    slug: str
    text: Message


class Demand(Struct, frozen=True):
    """A kind of character that a policy may demand: the policy's rule, how password managers and
    browsers (a pattern of theirs, in Unicode's terms) call it, and what a page says before a
    password is chosen."""

    rule: str
    name: str
    pattern: str
    hint: Message
    problem: Problem
    is_met_by: Callable[[str], bool]


_USUAL: Final = ComplexityRules()
_DEMANDS: Final = (
    Demand(
        "has_lowercase",
        "lower",
        r"\p{Lowercase}",
        message("a small letter", context="password"),
        Problem("password.lowercase", message("Use a small letter.", context="password")),
        str.islower,
    ),
    Demand(
        "has_uppercase",
        "upper",
        r"\p{Uppercase}",
        message("a capital letter", context="password"),
        Problem("password.uppercase", message("Use a capital letter.", context="password")),
        str.isupper,
    ),
    Demand(
        "has_number",
        "digit",
        r"\p{Nd}",
        message("a digit", context="password"),
        Problem("password.number", message("Use a digit.", context="password")),
        str.isdecimal,
    ),
    Demand(
        "has_symbol",
        "special",
        r"[^\p{L}\p{N}\s]",
        message("a symbol, such as ! or #", context="password"),
        Problem("password.symbol", message("Use a symbol, such as ! or #.", context="password")),
        lambda character: not (character.isalnum() or character.isspace()),
    ),
)


def demands(rules: ComplexityRules) -> list[Demand]:
    """The kinds of characters that a new password needs."""
    return [demand for demand in _DEMANDS if getattr(rules, demand.rule)]


def normalised(password: str) -> str:
    """The password in its one form. Raises PasswordRefused.

    The same is asked of a password that is only to be verified: what can't have been set need
    not be hashed.
    """
    if _UNUSABLE.search(password[:_MAX_RAW_CHARACTERS]):
        raise PasswordRefused(
            "the password holds a character that can't be stored", slug="password.characters"
        )
    if len(password) <= _MAX_RAW_CHARACTERS:
        password = unicodedata.normalize("NFC", password)
    if len(password) > MAX_CHARACTERS:
        raise PasswordRefused(
            f"the password is longer than {MAX_CHARACTERS} characters", slug="password.too_long"
        )
    if not password:
        raise PasswordRefused("the password is empty", slug="password.too_short")
    return password


def policy_problems(
    password: str,
    *,
    rules: ComplexityRules = _USUAL,
    own_words: Iterable[str] = (),
    max_bytes: int | None = None,
) -> list[Problem]:
    """Everything that keeps a new password from being accepted.

    `rules` are those of the person's organization. Left alone they demand no kinds of characters:
    that makes passwords worse. `own_words` are the person's login name, address and names, and
    the names of the service and the organization; `max_bytes` is the limit of the configured hash
    (`Hasher.max_bytes`).
    """
    try:
        password = normalised(password)
    except PasswordRefused as refused:
        return [_unusable(refused, rules.min_length)]
    return list(_problems(password, rules, own_words, max_bytes))


def _problems(
    password: str, rules: ComplexityRules, own_words: Iterable[str], max_bytes: int | None
) -> Iterator[Problem]:
    if len(password) < rules.min_length:
        yield _too_short(rules.min_length)
    for demand in demands(rules):
        if not any(map(demand.is_met_by, password)):
            yield demand.problem
    if max_bytes is not None and len(password.encode()) > max_bytes:
        text = message(
            "Use a shorter password: this one takes more than %(n)s bytes.",
            context="password",
            n=max_bytes,
        )
        yield Problem("password.too_many_bytes", text)
    if is_common(password):
        text = message(
            "This password is used by many people, so it is tried first by those who guess.",
            context="password",
        )
        yield Problem("password.common", text)
    if is_own_words(password, own_words, rules.min_length):
        text = message(
            "Add something that nobody would expect: this password is little more than your own"
            " name or the name of this service.",
            context="password",
        )
        yield Problem("password.own_words", text)


def unchanged() -> Problem:
    """The problem of a new password that is the present one."""
    text = message("This is the password you have now. Choose another one.", context="password")
    return Problem("password.unchanged", text)


def is_common(password: str) -> bool:
    """Whether the password, in any case of letters, is among the 30,000 most used."""
    return password.casefold() in _common()


def is_own_words(password: str, own_words: Iterable[str], min_length: int) -> bool:
    """Whether without the person's own words too little is left of the password."""
    rest = folded = password.casefold()
    for word in sorted(_words(own_words), key=len, reverse=True):
        rest = rest.replace(word, "")
    return rest != folded and len(rest) < min_length


def _words(own_words: Iterable[str]) -> set[str]:
    """Each word whole, the local part of an address, and the parts of both, when long enough."""
    words: set[str] = set()
    for word in own_words:
        whole = unicodedata.normalize("NFC", word[:MAX_CHARACTERS]).casefold()
        local = whole.partition("@")[0]
        words |= {whole, local, *re.split(r"[\W_]+", local)}
    return {word for word in words if len(word) >= MIN_WORD_CHARACTERS}


@cache
def _common() -> frozenset[str]:
    # Large, so only who sets a password waits for it.
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # type: ignore[import-untyped]

    return frozenset(password.casefold() for password in FREQUENCY_LISTS["passwords"])


def _unusable(refused: PasswordRefused, min_length: int) -> Problem:
    if refused.slug == "password.too_short":
        return _too_short(min_length)
    if refused.slug == "password.too_long":
        text = message(
            "Use at most %(n)s character.",
            plural="Use at most %(n)s characters.",
            context="password",
            n=MAX_CHARACTERS,
        )
    else:
        text = message("The password holds a character that can't be used.", context="password")
    return Problem(refused.slug, text)


def _too_short(min_length: int) -> Problem:
    text = message(
        "Use at least %(n)s character.",
        plural="Use at least %(n)s characters.",
        context="password",
        n=min_length,
    )
    return Problem("password.too_short", text)
