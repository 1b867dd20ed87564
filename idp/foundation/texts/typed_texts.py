"""What people type or paste where a code or a name is asked for, without what can't matter."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

MAX_CODE_CHARACTERS: Final = 100  # of one that is read; the rest is discarded

_SEPARATOR_CATEGORIES: Final = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Pd"})
_JOINERS: Final = "\u200c\u200d"  # significant in domains (RFC 5892, appendix A)
_OVERRIDES: Final = "\u202d\u202e"  # what was seen is in another order than what was typed
_MINUS: Final = "\u2212"
# Characters without a visible form that Unicode puts into other categories than Cf.
_IGNORABLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def alphanumeric(typed: str) -> str:
    """Returns the alphanumeric characters of a code that was typed, each digit in ASCII: without
    white space, punctuation and invisible characters, and full-width forms as usual ones (NFKC).

    For codes without other characters (RFC 8628 6.1).
    """
    plain = unicodedata.normalize("NFKC", typed[:MAX_CODE_CHARACTERS])
    return "".join(
        str(unicodedata.decimal(each)) if each.isdecimal() else each
        for each in plain
        if each.isalnum()
    )


def digits(typed: str) -> str:
    """Returns the digits of a code that was typed, in ASCII, without the words around them; for
    codes of digits alone."""
    return "".join(filter(str.isdecimal, alphanumeric(typed)))


def without_separators(text: str) -> str:
    """Returns the text in NFKC without white space, dashes and invisible characters."""
    plain = unicodedata.normalize("NFKC", text)
    return "".join(
        each
        for each in plain
        if each != _MINUS and unicodedata.category(each) not in _SEPARATOR_CATEGORIES
    )


def name(typed: str) -> str:
    """Returns a login name or an address that was typed, without surrounding white space and
    without the invisible characters that none can have (`user_names.check_name`)."""
    if typed.isascii():
        return typed.strip()
    at = typed.rfind("@") + 1  # of the domain, if there is one
    return "".join(
        each
        for position, each in enumerate(typed)
        if not is_ignorable(each) or each in _OVERRIDES or (each in _JOINERS and 0 < at < position)
    ).strip()


def is_ignorable(character: str) -> bool:
    """Returns whether the character only directs how others look, or nothing at all."""
    is_format = unicodedata.category(character) == "Cf"
    return is_format or _IGNORABLE.match(character) is not None
