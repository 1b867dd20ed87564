"""Domain names, each in one form however it is written: letters of all alphabets, or ASCII."""

from __future__ import annotations

import re
from typing import Final

MAX_CHARACTERS: Final = 200
_LABEL: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_ENCODED: Final = "xn--"


class NotADomain(ValueError):
    """Not the name of a domain."""


def read(text: str) -> str:
    """The name in ASCII and lower case (RFC 5891), in which it is unique.

    Raises NotADomain: an address of numbers, one label alone, and what no domain may hold.
    """
    domain = _ascii(text)
    labels = domain.split(".")
    is_plain = all(_LABEL.fullmatch(label) for label in labels)
    if not is_plain or len(labels) < 2 or labels[-1].isdigit() or len(domain) > _MAX_ASCII:
        raise NotADomain(text)
    return domain


_MAX_ASCII: Final = 253  # RFC 1035, as text


def key(text: str) -> str:
    """The form in which a name is looked up; of what is no domain, one that nobody has. The dot of
    the root at its end names the same domain."""
    text = text.removesuffix(".")
    try:
        return _ascii(text)
    except NotADomain:
        return text.casefold()


def shown(domain: str) -> str:
    """The name in the letters that it stands for."""
    if _ENCODED not in domain:
        return domain
    import idna  # 10 ms that no start needs

    try:
        return idna.decode(domain)
    except idna.IDNAError:
        return domain


def _ascii(text: str) -> str:
    if text.isascii() and _ENCODED not in text.lower():
        return text.lower()
    import idna

    try:
        return idna.encode(text, uts46=True).decode("ascii")
    except idna.IDNAError:
        raise NotADomain(text) from None
