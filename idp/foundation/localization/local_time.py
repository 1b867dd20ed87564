"""Instants, durations and numbers as text in a language and a time zone (CLDR)."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final, Literal

from idp.foundation import pseudo_locale

if TYPE_CHECKING:
    from babel import Locale

_RECENT: Final = timedelta(days=7)
Unit = Literal["day", "hour", "minute", "second"]
_SECOND: Final[Unit] = "second"
_UNITS: Final[tuple[tuple[Unit, int], ...]] = (("day", 86400), ("hour", 3600), ("minute", 60))
_THRESHOLD: Final = 10**9  # no number of units becomes one of a larger unit


@cache
def zones() -> frozenset[str]:
    """Returns the names of all time zones."""
    # One file; zoneinfo would read each zone's, in the event loop.
    return frozenset(resources.files("tzdata").joinpath("zones").read_text().split())


def zone(*names: str | None) -> tzinfo:
    """Returns the first time zone that exists among these names, else UTC."""
    name_of_zone = next((name for name in names if name and name in zones()), None)
    return zoneinfo.ZoneInfo(name_of_zone) if name_of_zone else UTC


def date(at: datetime, zone: tzinfo, tag: str) -> str:
    """Returns the date, such as "22 November 2026"."""
    from babel.dates import format_date

    return format_date(_local(at, zone), "long", _locale(tag))


def date_time(at: datetime, zone: tzinfo, tag: str) -> str:
    """Returns date and time, such as "22 November 2026 at 14:05"."""
    from babel.dates import format_time, get_datetime_format

    locale = _locale(tag)
    pattern = str(get_datetime_format("long", locale=locale)).replace("'", "")
    time = format_time(_local(at, zone), "short", locale=locale)
    return pattern.replace("{0}", time).replace("{1}", date(at, zone, tag))


def short_date(at: datetime, tag: str) -> str:
    """Returns the day of UTC without its year, such as "22 Nov"."""
    from babel.dates import format_skeleton

    return _on_page(str(format_skeleton("MMMd", at.astimezone(UTC), locale=_locale(tag))), tag)


def clock_time(at: datetime, zone: tzinfo, tag: str) -> str:
    """Returns the time of the day, such as "14:05"."""
    from babel.dates import format_time

    return _on_page(format_time(_local(at, zone), "short", locale=_locale(tag)), tag)


def hours(number: int, tag: str) -> str:
    """Returns a duration in hours, such as "24 hours"."""
    return _on_page(_in_unit(timedelta(hours=number), "hour", tag), tag)


def days(number: int, tag: str) -> str:
    """Returns a duration in days, such as "30 days"."""
    return _on_page(_in_unit(timedelta(days=number), "day", tag), tag)


def number(value: int, tag: str, *, is_change: bool = False) -> str:
    """Returns an integer, such as "1,234"; with `is_change` always with its sign."""
    from babel.numbers import format_decimal

    pattern = "+#,##0;-#,##0" if is_change else None
    return format_decimal(value, pattern, locale=_locale(tag))


def relative(at: datetime, now: datetime, zone: tzinfo, tag: str) -> str:
    """Returns how long ago an instant was, such as "2 hours ago", or its date if that is more than
    seven days."""
    from babel.dates import format_timedelta

    elapsed = now - at
    if not timedelta(0) <= elapsed <= _RECENT:
        return date(at, zone, tag)
    displayed = -max(elapsed, timedelta(seconds=1))
    return format_timedelta(displayed, add_direction=True, locale=_locale(tag))


def duration(seconds: int, tag: str) -> str:
    """Returns a duration in its largest whole unit, such as "10 days"."""
    unit = next((name for name, length in _UNITS if seconds and seconds % length == 0), _SECOND)
    return _in_unit(timedelta(seconds=seconds), unit, tag)


def _in_unit(length: timedelta, unit: Unit, tag: str) -> str:
    from babel.dates import format_timedelta

    return format_timedelta(length, unit, threshold=_THRESHOLD, locale=_locale(tag))


def _on_page(text: str, tag: str) -> str:
    """Returns the text for content of a page that is in no `<time>`."""
    return pseudo_locale.accented(text) if tag == pseudo_locale.TAG else text


def _local(at: datetime, zone: tzinfo) -> datetime:
    try:
        return at.astimezone(zone)
    except OverflowError:  # the first or last day that a datetime can represent
        return at


@cache
def _locale(tag: str) -> Locale:
    from babel import Locale

    return Locale.parse("en" if tag == pseudo_locale.TAG else tag, sep="-")
