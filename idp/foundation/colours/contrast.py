"""Colours of a page: their contrast (WCAG 2.2, 1.4.3), and mixtures of two."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

READABLE: Final = 4.5
_COLOUR: Final = re.compile("#[0-9a-f]{6}")


def is_colour(text: str) -> bool:
    """Returns whether the text is `#rrggbb`, in lower case."""
    return bool(_COLOUR.fullmatch(text))


def contrast(colour: str, background: str) -> float:
    """Returns the contrast ratio of two colours (`#rrggbb`), from 1 (the same) to 21 (black and
    white).
    """
    darker, lighter = sorted((_luminance(colour), _luminance(background)))
    return (lighter + 0.05) / (darker + 0.05)


def is_readable(text: str, background: str) -> bool:
    return contrast(text, background) >= READABLE


def mixed(base: str, added: str, share: float) -> str:
    """Returns the mixture of two colours that contains this share of `added`, from 0 to 1."""
    pairs = zip(_channels(base), _channels(added), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _channels(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


@lru_cache(maxsize=1024)
def _luminance(colour: str) -> float:
    weights = (0.2126, 0.7152, 0.0722)
    parts = zip(weights, _channels(colour), strict=True)
    return sum(weight * _linear(channel / 255) for weight, channel in parts)


def _linear(channel: float) -> float:
    if channel <= 0.04045:
        return channel / 12.92
    return float(((channel + 0.055) / 1.055) ** 2.4)
