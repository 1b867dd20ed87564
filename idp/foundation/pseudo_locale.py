"""The pseudo-locale: English with every letter replaced, and longer.

On its pages, plain English is a text that was not marked for translation, and a text that does not
fit would not fit in other languages either. It is for developing pages.
"""

from __future__ import annotations

import re
from itertools import cycle, islice
from typing import Final

TAG: Final = "en-XA"  # XA to XZ are not assigned (ISO 3166-1, BCP 47)
BEGIN, END = "⟦⟧"

_ACCENTED: Final = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "ÅƁÇĐÉƑĜĤÎĴĶĻṀÑÖƤɊŔŠŢÛṼŴẊÝŽåƀçđéƒĝĥîĵķļɱñöƥɋŕšţûṽŵẋýž",
)
_PLACEHOLDER: Final = re.compile(r"(%\(\w+\)s)")


def text(english: str) -> str:
    """Returns the text with replaced letters, at least 40 % longer, with both ends marked."""
    parts = _PLACEHOLDER.split(english)
    parts[::2] = [part.translate(_ACCENTED) for part in parts[::2]]
    length = -(-len(_PLACEHOLDER.sub("", english)) * 2 // 5)
    filling = "".join(islice(cycle(" ~~~~"), length))
    return BEGIN + "".join(parts) + filling.rstrip() + "~" + END


def accented(english: str) -> str:
    """Returns a date or unit, which has no translation, in the alphabet of the pseudo-locale."""
    return english.translate(_ACCENTED)
