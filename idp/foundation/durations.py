"""Durations as Go writes them: `1h30m0s`, `90s`, `1.5h`."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

MAX_CHARACTERS: Final = 40
_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_DURATION: Final = re.compile(f"(?:{_PART.pattern})+")


def parse(text: str) -> timedelta:
    """Returns the duration that the text states, never negative. Raises ValueError, also if it is
    too long for a timedelta.
    """
    text = text.removeprefix("+")
    if text == "0":
        return timedelta(0)
    if len(text) > MAX_CHARACTERS or not _DURATION.fullmatch(text):
        raise ValueError("not a duration such as 1h30m0s")
    parts = _PART.findall(text)
    try:
        return timedelta(seconds=sum(float(number) * _SECONDS[unit] for number, unit in parts))
    except OverflowError:
        raise ValueError("too long for a timedelta") from None


def text(seconds: int) -> str:
    """Returns a number of seconds in Go's notation."""
    hours, below_hour = divmod(seconds, 3600)
    minutes, below_minute = divmod(below_hour, 60)
    if hours:
        return f"{hours}h{minutes}m{below_minute}s"
    return f"{minutes}m{below_minute}s" if minutes else f"{below_minute}s"
