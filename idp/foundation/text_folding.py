"""Case folding of texts for comparisons."""

from __future__ import annotations

import unicodedata


def folded(text: str) -> str:
    """Returns the form in which texts are compared regardless of case: casefold(NFKC)."""
    return unicodedata.normalize("NFKC", text).casefold()
