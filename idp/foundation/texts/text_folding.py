"""Normal forms of texts for comparisons."""

from __future__ import annotations

import unicodedata

from idp.foundation import domain_names


def normalized(text: str) -> str:
    """Returns the form in which texts are compared by case: NFKC, and in an address the domain in
    its one form in Unicode (`domain_names.folded`)."""
    return text if _is_plain(text) else "".join(_split(text))


def folded(text: str) -> str:
    """Returns the form for comparisons regardless of case: `normalized`, and case-folded but for
    the domain of an address, where other domains would become equal (`faß.de` and `fass.de`)."""
    if _is_plain(text):
        return text.lower()
    name, at_domain = _split(text)
    return name.casefold() + at_domain


def _is_plain(text: str) -> bool:
    return text.isascii() and domain_names.ENCODED not in text.lower()


def _split(text: str) -> tuple[str, str]:
    """The text before the last `@`, and the domain after it with the `@`; empty if it has none."""
    name, at, domain = unicodedata.normalize("NFKC", text).rpartition("@")
    return (name, at + domain_names.folded(domain)) if at else (domain, "")
