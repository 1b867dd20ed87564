"""Passwords as users choose them: normalisation, limits, and the rules of a policy.

A password is Unicode text in NFC (SP 800-63B-4, 3.1.1.2). It is normalised when it is set and when
it is verified, because keyboards differ in how they compose characters. Nothing else is changed:
no trimming, no truncation, no change of case, so every character is significant. A hash that
another system made is also compared with what was typed and with NFKC, and that of a one-time
password without regard to separators (`compared_forms`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from msgspec import Struct

from idp.foundation.errors import IdpError
from idp.foundation.i18n import Message, message
from idp.foundation.randomness import UNAMBIGUOUS
from idp.foundation.texts import typed_texts
from idp.passwords import strength
from idp.passwords.breached import BreachedPasswords
from idp.records import ComplexityRules

MAX_CHARACTERS: Final = 200
MIN_WORD_CHARACTERS: Final = 4

# Longer text is refused before it is normalised, because that takes time in proportion to the
# length. NFC can join several characters to one, so the limit is a multiple.
_MAX_RAW_CHARACTERS: Final = 4 * MAX_CHARACTERS
_UNUSABLE: Final = re.compile("[\x00\ud800-\udfff]")
_ONE_TIME_CHARACTERS: Final = re.compile(f"[{UNAMBIGUOUS}]{{16}}")


class PasswordRefused(IdpError):
    """A password that can't be hashed, whatever the policy."""

    error_code = "password.refused"


class PasswordProblem(Struct, frozen=True):
    """Why a new password is refused: an error code for programs, a text for the user, and the
    limit that the text names, if it is a minimum length."""

    error_code: str
    text: Message
    limit: int | None = None


class CharacterClass(Struct, frozen=True):
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


_DEFAULT_RULES: Final = ComplexityRules()
_CHARACTER_CLASSES: Final = (
    CharacterClass(
        "has_lowercase",
        "lower",
        r"\p{Lowercase}",
        message("a lowercase letter", context="password"),
        PasswordProblem(
            "password.lowercase", message("Use a lowercase letter.", context="password")
        ),
        str.islower,
    ),
    CharacterClass(
        "has_uppercase",
        "upper",
        r"\p{Uppercase}",
        message("an uppercase letter", context="password"),
        PasswordProblem(
            "password.uppercase", message("Use an uppercase letter.", context="password")
        ),
        str.isupper,
    ),
    CharacterClass(
        "has_number",
        "digit",
        r"\p{Nd}",
        message("a digit", context="password"),
        PasswordProblem("password.number", message("Use a digit.", context="password")),
        str.isdecimal,
    ),
    CharacterClass(
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


def required_classes(rules: ComplexityRules) -> list[CharacterClass]:
    """Returns the classes of characters that these rules require of a new password."""
    return [
        character_class
        for character_class in _CHARACTER_CLASSES
        if getattr(rules, character_class.rule)
    ]


def normalised(password: str) -> str:
    """Returns the password in NFC, the form in which it is hashed.

    Raises PasswordRefused if it is empty, too long, or has a character that can't be stored. A
    caller that verifies a password treats that as a wrong one.
    """
    if _UNUSABLE.search(password[:_MAX_RAW_CHARACTERS]):
        raise PasswordRefused(
            "the password contains a character that isn't allowed",
            error_code="password.characters",
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


def compared_forms(password: str) -> list[str]:
    """Returns the forms in which a password is compared with a stored hash: the normalised one
    first, and the one that was typed and NFKC where they differ, because another system may have
    made the hash of these.

    The last one is the `one_time_form`, if the password may be a one-time password. Raises
    PasswordRefused as `normalised` does.
    """
    forms = [normalised(password), password, unicodedata.normalize("NFKC", password)]
    forms += filter(None, [one_time_form(password)])
    return [form for form in dict.fromkeys(forms) if len(form) <= _MAX_RAW_CHARACTERS]


def one_time_form(password: str) -> str | None:
    """Returns the one-time password (`Random.one_time_password`) that was typed or pasted with
    other separators or white space around it; None if the text can't be one."""
    if len(password) > typed_texts.MAX_CODE_CHARACTERS:
        return None
    characters = typed_texts.without_separators(password)
    if _ONE_TIME_CHARACTERS.fullmatch(characters) is None:
        return None
    return "-".join(characters[start : start + 4] for start in range(0, 16, 4))


class Requirements(Struct, frozen=True):
    """The requirements that a new password has to meet.

    `rules` are the complete rules of the user's organization, and `min_length` is the one of their
    two lengths that applies. `context_words` are the words that an acquaintance would try first:
    login name, names, addresses, the organization and its domains, the service. `max_bytes` is the
    limit of the configured hash (`Hasher.max_bytes`). `breached` is None if no list is configured.
    """

    rules: ComplexityRules = _DEFAULT_RULES
    min_length: int = _DEFAULT_RULES.min_length
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
        yield too_short(required.min_length)
    for character_class in required_classes(required.rules):
        if not any(map(character_class.is_met_by, password)):
            yield character_class.problem
    if required.max_bytes is not None and len(password.encode()) > required.max_bytes:
        text = message(
            "Use a shorter password. This one has more than %(n)s bytes.",
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
    if is_mostly_own_words(password, required.context_words, required.min_length):
        yield _OWN_WORDS


def is_too_easy(password: str, required: Requirements) -> bool:
    """Returns whether the password is weaker than required. A required strength of 1 or more also
    refuses a common word of any language between digits and symbols, which zxcvbn does not
    know."""
    min_strength = required.rules.min_strength or 0
    if not min_strength:
        return False
    if strength.is_common_word_with_affixes(password):
        return True
    return strength.score(password, sorted(_words(required.context_words))) < min_strength


_COMMON: Final = PasswordProblem(
    "password.common",
    message(
        "This password is too common. Choose one that is harder to guess.",
        context="password",
    ),
)
_TOO_EASY: Final = PasswordProblem(
    "password.too_easy",
    message(
        "This password is easy to guess. Use several unrelated words.",
        context="password",
    ),
)
_OWN_WORDS: Final = PasswordProblem(
    "password.own_words",
    message(
        "Use other words. This password is little more than your name or the name of this"
        " service.",
        context="password",
    ),
)


def breached() -> PasswordProblem:
    """Returns the problem of a password that is in a list of breached ones."""
    text = message(
        "Choose another password. This one has appeared in a data breach.",
        context="password",
    )
    return PasswordProblem("password.breached", text)


def unchanged() -> PasswordProblem:
    """Returns the problem of a new password that equals the current one."""
    text = message("Choose another password. This is your current one.", context="password")
    return PasswordProblem("password.unchanged", text)


def is_mostly_own_words(password: str, own_words: Iterable[str], min_length: int) -> bool:
    """Returns whether a password consists mostly of the user's own words: it contains one, and
    fewer than `min_length` characters remain without them.

    A `min_length` above that of the default policy is treated as that, because long passphrases
    would otherwise be refused for one word.
    """
    min_length = min(min_length, _DEFAULT_RULES.min_length)
    remainder = folded = password.casefold()
    for word in sorted(_words(own_words), key=len, reverse=True):
        remainder = remainder.replace(word, "")
    return remainder != folded and len(remainder) < min_length


def _words(own_words: Iterable[str]) -> set[str]:
    """Each word, the local part of an address, and the parts of both, if they are long enough."""
    words: set[str] = set()
    for word in own_words:
        full_word = unicodedata.normalize("NFC", word[:MAX_CHARACTERS]).casefold()
        local = full_word.partition("@")[0]
        words |= {full_word, local, *re.split(r"[\W_]+", local)}
    return {word for word in words if len(word) >= MIN_WORD_CHARACTERS}


def _unusable(refused: PasswordRefused, min_length: int) -> PasswordProblem:
    if refused.error_code == "password.too_short":
        return too_short(min_length)
    if refused.error_code == "password.too_long":
        text = message(
            "Use at most %(n)s character.",
            plural="Use at most %(n)s characters.",
            context="password",
            n=MAX_CHARACTERS,
        )
    else:
        text = message("Remove the characters that can't be used.", context="password")
    return PasswordProblem(refused.error_code, text)


def too_short(min_length: int) -> PasswordProblem:
    """Returns the problem of a password with fewer characters than required."""
    text = message(
        "Use at least %(n)s character.",
        plural="Use at least %(n)s characters.",
        context="password",
        n=min_length,
    )
    return PasswordProblem("password.too_short", text, min_length)
