"""Validation of user names."""

from __future__ import annotations

import unicodedata
from typing import Final

from idp.foundation.errors import IdpError
from idp.foundation.texts import typed_texts

MAX_NAME_CHARACTERS: Final = 200

# Control characters and characters without a visible form: direction, private use, unassigned.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


class NameRefused(IdpError):
    """A user name that is not allowed. The message is the end of a sentence that begins "the user
    name"."""

    error_code = "user.name_refused"


def check_name(user_name: str) -> str:
    """Returns the user name unchanged. Raises NameRefused.

    Names that look like another user's, or could not be typed, are not allowed: no invisible
    characters, no spaces at the ends.
    """
    if _is_hidden(user_name):
        raise NameRefused("holds invisible characters", error_code="user.name_invisible")
    if user_name != user_name.strip():
        raise NameRefused("has spaces around it", error_code="user.name_spaces")
    if not 0 < len(user_name) <= MAX_NAME_CHARACTERS:
        text = f"must have 1 to {MAX_NAME_CHARACTERS} characters"
        raise NameRefused(text, error_code="user.name_length")
    return user_name


def _is_hidden(user_name: str) -> bool:
    if user_name.isascii():
        return not user_name.isprintable()
    return any(
        unicodedata.category(character) in _INVISIBLE or typed_texts.is_ignorable(character)
        for character in user_name
    )
