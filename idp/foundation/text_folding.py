"""The form in which texts are equal whatever their case."""

from __future__ import annotations

import unicodedata


def folded(text: str) -> str:
    """The form in which texts are equal whatever their case."""
    return unicodedata.normalize("NFKC", text).casefold()
