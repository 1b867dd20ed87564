"""The order of given and family names in a language, and the name made of both."""

from __future__ import annotations

import unicodedata
from typing import Final

_FAMILY_NAME_FIRST: Final = frozenset({"ja", "zh-Hans", "zh-Hant", "ko", "hu", "vi"})
# The first words of the Unicode names of characters that are written without spaces between names.
_UNSPACED: Final = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")


def is_family_name_first(tag: str | None) -> bool:
    """Returns whether the language with this tag puts the family name before the given name."""
    return tag in _FAMILY_NAME_FIRST


def full_name(given_name: str | None, family_name: str | None, tag: str | None) -> str:
    """Returns both names in the order of the language with this tag.

    A space separates them, unless the family name is first and both are written in Han, Kana or
    Hangul. A missing name is left out.
    """
    if not is_family_name_first(tag):
        return " ".join(filter(None, (given_name, family_name)))
    is_unspaced = _is_unspaced(given_name) and _is_unspaced(family_name)
    return ("" if is_unspaced else " ").join(filter(None, (family_name, given_name)))


def _is_unspaced(name: str | None) -> bool:
    return all(unicodedata.name(each, "").startswith(_UNSPACED) for each in name or "")
