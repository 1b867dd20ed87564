"""Passwords as users choose them: normalisation, limits, and the rules of a policy.

A password is Unicode text in NFC (SP 800-63B-4, 3.1.1.2). It is normalised when it is set and when
it is verified, because keyboards differ in how they compose characters. Nothing else is changed:
no trimming, no truncation, no change of case, so every character is significant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from msgspec import Struct

from idp.foundation.errors import IdpError
from idp.foundation.i18n import Message, message
from idp.passwords import strength
from idp.passwords.breached import BreachedPasswords
from idp.records import ComplexityRules

MAX_CHARACTERS: Final = 200
MIN_WORD_CHARACTERS: Final = 4

# Longer text is refused before it is normalised, because that takes time in proportion to the
# length. NFC can join several characters to one, so the limit is a multiple.
_MAX_RAW_CHARACTERS: Final = 4 * MAX_CHARACTERS
_UNUSABLE: Final = re.compile("[\x00\ud800-\udfff]")


class PasswordRefused(IdpError):
    """A password that can't be hashed, whatever the policy."""

    error_code = "password.refused"


class PasswordProblem(Struct, frozen=True):
    """Why a new password is refused: an error code for programs, a text for the user."""

    error_code: str
    text: Message


class Demand(Struct, frozen=True):
    """A class of characters that a policy may require.

    `rule` is the policy's field that requires it, `name` the class's name for password managers,
    `pattern` its pattern for browsers (in Unicode's terms), and `hint` the text of a page before a
    password is chosen. `problem` is that of a password for which `is_met_by` returns false.
    """

    rule: str
    name: str
    pattern: str
    hint: Message
    problem: PasswordProblem
    is_met_by: Callable[[str], bool]


_USUAL: Final = ComplexityRules()
_DEMANDS: Final = (
    Demand(
        "has_lowercase",
        "lower",
        r"\p{Lowercase}",
        message("a small letter", context="password"),
        PasswordProblem("password.lowercase", message("Use a small letter.", context="password")),
        str.islower,
    ),
    Demand(
        "has_uppercase",
        "upper",
        r"\p{Uppercase}",
        message("a capital letter", context="password"),
        PasswordProblem(
            "password.uppercase", message("Use a capital letter.", context="password")
        ),
        str.isupper,
    ),
    Demand(
        "has_number",
        "digit",
        r"\p{Nd}",
        message("a digit", context="password"),
        PasswordProblem("password.number", message("Use a digit.", context="password")),
        str.isdecimal,
    ),
    Demand(
        "has_symbol",
        "special",
        r"[^\p{L}\p{N}\s]",
        message("a symbol, such as ! or #", context="password"),
        PasswordProblem(
            "password.symbol", message("Use a symbol, such as ! or #.", context="password")
        ),
        lambda character: not (character.isalnum() or character.isspace()),
    ),
)


def demands(rules: ComplexityRules) -> list[Demand]:
    """Returns the classes of characters that these rules require of a new password."""
    return [demand for demand in _DEMANDS if getattr(rules, demand.rule)]


def normalised(password: str) -> str:
    """Returns the password in NFC, the form in which it is hashed.

    Raises PasswordRefused if it is empty, too long, or has a character that can't be stored. A
    caller that verifies a password treats that as a wrong one.
    """
    if _UNUSABLE.search(password[:_MAX_RAW_CHARACTERS]):
        raise PasswordRefused(
            "the password holds a character that can't be stored", error_code="password.characters"
        )
    if len(password) <= _MAX_RAW_CHARACTERS:
        password = unicodedata.normalize("NFC", password)
    if len(password) > MAX_CHARACTERS:
        raise PasswordRefused(
            f"the password is longer than {MAX_CHARACTERS} characters",
            error_code="password.too_long",
        )
    if not password:
        raise PasswordRefused("the password is empty", error_code="password.too_short")
    return password


class Requirements(Struct, frozen=True):
    """What a new password has to meet.

    `rules` are the complete rules of the user's organization, and `min_length` is the one of their
    two lengths that applies. `context_words` are the words that an acquaintance would try first:
    login name, names, addresses, the organization and its domains, the service. `max_bytes` is the
    limit of the configured hash (`Hasher.max_bytes`). `breached` is None if no list is configured.
    """

    rules: ComplexityRules = _USUAL
    min_length: int = _USUAL.min_length
    context_words: tuple[str, ...] = ()
    max_bytes: int | None = None
    breached: BreachedPasswords | None = None


def policy_problems(password: str, required: Requirements) -> list[PasswordProblem]:
    """Returns all reasons for which a new password is refused; none if it is accepted.

    Takes up to a quarter of a second of processor time if a strength is required, and reads files
    if there is a list of breached passwords, so it must not run on the event loop. Raises OSError.
    """
    try:
        password = normalised(password)
    except PasswordRefused as refused:
        return [_unusable(refused, required.min_length)]
    problems = [*_form_problems(password, required)]
    return problems + [*_guessing_problems(password, required)]


def _form_problems(password: str, required: Requirements) -> Iterator[PasswordProblem]:
    if len(password) < required.min_length:
        yield _too_short(required.min_length)
    for demand in demands(required.rules):
        if not any(map(demand.is_met_by, password)):
            yield demand.problem
    if required.max_bytes is not None and len(password.encode()) > required.max_bytes:
        text = message(
            "Use a shorter password: this one takes more than %(n)s bytes.",
            context="password",
            n=required.max_bytes,
        )
        yield PasswordProblem("password.too_many_bytes", text)


def _guessing_problems(password: str, required: Requirements) -> Iterator[PasswordProblem]:
    """Yields the first reason why the password is easy to guess, and one for context words."""
    if strength.is_common_password(password):
        yield _COMMON
    elif required.breached is not None and required.breached.contains(password):
        yield breached()
    elif is_too_easy(password, required):
        yield _TOO_EASY
    if is_own_words(password, required.context_words, required.min_length):
        yield _OWN_WORDS


def is_too_easy(password: str, required: Requirements) -> bool:
    """Returns whether the password is weaker than required. A required strength of 1 or more also
    refuses a common word of any language between digits and symbols, which zxcvbn does not
    know."""
    least = required.rules.min_strength or 0
    if not least:
        return False
    if strength.is_common_word_with_affixes(password):
        return True
    return strength.score(password, sorted(_words(required.context_words))) < least


_COMMON: Final = PasswordProblem(
    "password.common",
    message(
        "This password is used by many people, so it is tried first by those who guess.",
        context="password",
    ),
)
_TOO_EASY: Final = PasswordProblem(
    "password.too_easy",
    message(
        "Others would guess this soon: use several unrelated words.",
        context="password",
    ),
)
_OWN_WORDS: Final = PasswordProblem(
    "password.own_words",
    message(
        "Add something that nobody would expect: this password is little more than your own"
        " name or the name of this service.",
        context="password",
    ),
)


def breached() -> PasswordProblem:
    """Returns the problem of a password that is in a list of breached ones."""
    text = message(
        "This password has appeared in a data breach, so it is known to those who guess. Choose"
        " another one.",
        context="password",
    )
    return PasswordProblem("password.breached", text)


def unchanged() -> PasswordProblem:
    """Returns the problem of a new password that equals the present one."""
    text = message("This is the password you have now. Choose another one.", context="password")
    return PasswordProblem("password.unchanged", text)


def is_own_words(password: str, own_words: Iterable[str], min_length: int) -> bool:
    """Returns whether a password consists mostly of the user's own words: it contains one, and
    fewer than `min_length` characters remain without them.

    A `min_length` above that of the default policy counts as that, because long passphrases would
    otherwise be refused for one word.
    """
    min_length = min(min_length, _USUAL.min_length)
    rest = folded = password.casefold()
    for word in sorted(_words(own_words), key=len, reverse=True):
        rest = rest.replace(word, "")
    return rest != folded and len(rest) < min_length


def _words(own_words: Iterable[str]) -> set[str]:
    """Each word, the local part of an address, and the parts of both, if they are long enough."""
    words: set[str] = set()
    for word in own_words:
        whole = unicodedata.normalize("NFC", word[:MAX_CHARACTERS]).casefold()
        local = whole.partition("@")[0]
        words |= {whole, local, *re.split(r"[\W_]+", local)}
    return {word for word in words if len(word) >= MIN_WORD_CHARACTERS}


def _unusable(refused: PasswordRefused, min_length: int) -> PasswordProblem:
    if refused.error_code == "password.too_short":
        return _too_short(min_length)
    if refused.error_code == "password.too_long":
        text = message(
            "Use at most %(n)s character.",
            plural="Use at most %(n)s characters.",
            context="password",
            n=MAX_CHARACTERS,
        )
    else:
        text = message("The password holds a character that can't be used.", context="password")
    return PasswordProblem(refused.error_code, text)


def _too_short(min_length: int) -> PasswordProblem:
    text = message(
        "Use at least %(n)s character.",
        plural="Use at least %(n)s characters.",
        context="password",
        n=min_length,
    )
    return PasswordProblem("password.too_short", text)
