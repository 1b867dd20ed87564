"""Retention of the backups of a series, by numbers of hours, days, weeks, months and years."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

_PERIODS: Final[dict[str, Callable[[datetime], tuple[int, ...]]]] = {
    "h": lambda instant: (instant.year, instant.month, instant.day, instant.hour),
    "d": lambda instant: (instant.year, instant.month, instant.day),
    "w": lambda instant: instant.isocalendar()[:2],
    "m": lambda instant: (instant.year, instant.month),
    "y": lambda instant: (instant.year,),
}
_COUNT: Final = re.compile(r"([1-9][0-9]{0,3})([hdwmy])")

Retention = dict[str, int]


def parse(text: str) -> Retention:
    """Returns how many periods of each unit are retained, by unit: `7d,4w,12m` is seven days, four
    weeks and twelve months.

    Raises ValueError with a sentence for the operator.
    """
    retention: Retention = {}
    for part in text.split(","):
        match = _COUNT.fullmatch(part.strip())
        if match is None or match[2] in retention:
            raise ValueError(
                f"{text!r} is no list like 7d,4w,12m: numbers from 1 to 9999, each with one of h,"
                " d, w, m, y (hours to years), no unit twice"
            )
        retention[match[2]] = int(match[1])
    return retention


def retained(instants: Iterable[datetime], retention: Retention) -> set[datetime]:
    """Returns those of the instants of backups that `retention` retains: for each unit, the last
    backup in each of as many of its latest periods as `retention` has.

    Periods without a backup do not count, so that a time without backups removes none. Periods
    begin and end in UTC, weeks on Monday.
    """
    ordered = sorted(instants, reverse=True)
    return {
        instant
        for unit, count in retention.items()
        for instant in _latest(ordered, _PERIODS[unit], count)
    }


def _latest(
    ordered: list[datetime], period: Callable[[datetime], tuple[int, ...]], count: int
) -> list[datetime]:
    latest: dict[tuple[int, ...], datetime] = {}
    for instant in ordered:
        latest.setdefault(period(instant), instant)
    return list(latest.values())[:count]
