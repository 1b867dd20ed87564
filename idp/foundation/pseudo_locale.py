"""A language that nobody speaks: English with every letter changed, and longer.

In its pages, what is plain English was never given to translators, and what does not fit would not
fit in other languages either. It is for looking at pages while they are made.
"""

from __future__ import annotations

import re
from itertools import cycle, islice
from typing import Final

TAG: Final = "en-XA"  # XA to XZ are nobody's (ISO 3166-1, BCP 47)
BEGIN, END = "⟦⟧"

_LETTERS: Final = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "ÅƁÇĐÉƑĜĤÎĴĶĻṀÑÖƤɊŔŠŢÛṼŴẊÝŽåƀçđéƒĝĥîĵķļɱñöƥɋŕšţûṽŵẋýž",
)
_PLACEHOLDER: Final = re.compile(r"(%\(\w+\)s)")


def text(english: str) -> str:
    """The text with other letters, at least 40 % longer, and its two ends marked."""
    parts = _PLACEHOLDER.split(english)
    parts[::2] = [part.translate(_LETTERS) for part in parts[::2]]
    length = -(-len(_PLACEHOLDER.sub("", english)) * 2 // 5)
    filling = "".join(islice(cycle(" ~~~~"), length))
    return BEGIN + "".join(parts) + filling.rstrip() + "~" + END
