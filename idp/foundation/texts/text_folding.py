"""Normal forms of texts for comparisons."""

from __future__ import annotations

import unicodedata

from idp.foundation import domain_names


def normalized(text: str) -> str:
    """Returns the form in which texts are compared by case: NFKC, and in an address the domain in
    Unicode if it is internationalised (`xn--…`, RFC 5890)."""
    if text.isascii() and domain_names.ENCODED not in text.lower():
        return text
    text = unicodedata.normalize("NFKC", text)
    name, at, domain = text.rpartition("@")
    try:
        return f"{name}@{domain_names.displayed(domain_names.read(domain))}" if at else text
    except domain_names.NotADomain:
        return text


def folded(text: str) -> str:
    """Returns the form for comparisons regardless of case: `normalized` and casefolded."""
    return normalized(text).casefold()
