"""Domain names, normalised from any spelling: internationalised (Unicode) or in ASCII."""

from __future__ import annotations

import re
from typing import Final

MAX_CHARACTERS: Final = 200
_LABEL: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
ENCODED: Final = "xn--"  # the beginning of a label that is internationalised


class NotADomain(ValueError):
    """The text is not a domain name."""


def read(text: str) -> str:
    """Returns the domain name in ASCII and lower case (RFC 5891), the one form in which domains
    are stored.

    Raises NotADomain for an IP address, a single label, and characters that a domain can't have.
    """
    domain = _ascii(text)
    labels = domain.split(".")
    is_plain = all(_LABEL.fullmatch(label) for label in labels)
    if not is_plain or len(labels) < 2 or labels[-1].isdigit() or len(domain) > _MAX_ASCII:
        raise NotADomain(text)
    return domain


_MAX_ASCII: Final = 253  # RFC 1035, as text


def key(text: str) -> str:
    """Returns the form in which a text that may be a domain name is compared with stored ones:
    that of `read`. Raises nothing.

    A final dot, which names the root, is ignored. A text that is no domain name is only
    case-folded, and so equals no stored name.
    """
    text = text.removesuffix(".")
    try:
        return _ascii(text)
    except NotADomain:
        return text.casefold()


def folded(text: str) -> str:
    """Returns the form in Unicode in which a text that may be a domain name, or the beginning of
    one, is compared; domain names that DNS distinguishes stay distinct. Raises nothing.

    A text that is no domain name is only case-folded.
    """
    try:
        return displayed(_ascii(text))
    except NotADomain:
        return text.casefold()


def displayed(domain: str) -> str:
    """Returns the domain name in Unicode, for display."""
    if ENCODED not in domain:
        return domain
    import idna  # its import takes 10 ms, which the start does not need

    try:
        return idna.decode(domain)
    except idna.IDNAError:
        return domain


def _ascii(text: str) -> str:
    if text.isascii() and ENCODED not in text.lower():
        return text.lower()
    import idna

    try:
        return idna.encode(text, uts46=True).decode("ascii")
    except idna.IDNAError:
        raise NotADomain(text) from None
