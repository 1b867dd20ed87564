"""Colours by lightness, chroma and hue as people see them (CSS Color 4, 9: OKLCH)."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

_CHROMA_STEPS: Final = 12
_MARGIN: Final = 1e-4  # of a channel beyond sRGB, from rounding alone


class Oklch(NamedTuple):
    """Lightness from 0 to 1, chroma from 0, and hue in radians."""

    lightness: float
    chroma: float
    hue: float


def read(colour: str) -> Oklch:
    """Returns the colour `#rrggbb` in OKLCH."""
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    long = math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    medium = math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    lightness = 0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short
    a = 1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short
    b = 0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short
    return Oklch(lightness, math.hypot(a, b), math.atan2(b, a))


def written(colour: Oklch) -> str:
    """Returns the colour as `#rrggbb`, with less chroma if sRGB does not contain it."""
    low, high = 0.0, colour.chroma
    if _is_srgb(_channels(colour)):
        low = high
    for _ in range(_CHROMA_STEPS if low < high else 0):
        middle = (low + high) / 2
        if _is_srgb(_channels(colour._replace(chroma=middle))):
            low = middle
        else:
            high = middle
    channels = _channels(colour._replace(chroma=low))
    return "#" + "".join(f"{round(255 * min(1, max(0, each))):02x}" for each in channels)


def with_lightness(colour: str, lightness: float) -> str:
    """Returns the colour, `#rrggbb`, with another lightness and the same hue."""
    return written(read(colour)._replace(lightness=min(1.0, max(0.0, lightness))))


def _channels(colour: Oklch) -> list[float]:
    a, b = colour.chroma * math.cos(colour.hue), colour.chroma * math.sin(colour.hue)
    long = (colour.lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (colour.lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (colour.lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return [
        _gamma(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
        _gamma(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
        _gamma(-0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short),
    ]


def _is_srgb(channels: list[float]) -> bool:
    return all(-_MARGIN <= each <= 1 + _MARGIN for each in channels)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)


def _gamma(value: float) -> float:
    if value <= 0.0031308:
        return 12.92 * value
    return float(1.055 * value ** (1 / 2.4) - 0.055)
