"""Durations in forms: a number and its unit, which the API has as a text such as 240h0m0s."""

from __future__ import annotations

from typing import Final, NamedTuple

from idp.foundation import durations
from idp.foundation.i18n import Message, message

UNITS: Final[dict[str, tuple[Message, int]]] = {
    "s": (message("seconds", context="duration"), 1),
    "m": (message("minutes", context="duration"), 60),
    "h": (message("hours", context="duration"), 3600),
    "d": (message("days", context="duration"), 86400),
}
OPTIONS: Final = [(name, label) for name, (label, _) in UNITS.items()]
_USUAL_UNIT: Final = "h"
_MAX_DIGITS: Final = 9  # the longest for which any unit is a duration


class EnteredDuration(NamedTuple):
    """The two inputs of a duration: a number, and the name of its unit in `UNITS`."""

    number: str = ""
    unit: str = _USUAL_UNIT

    @property
    def api_text(self) -> str:
        """The duration as the API takes it. What is no whole number with a unit is returned as it
        was entered, so that the API reads or refuses it."""
        number, unit = self.number, UNITS.get(self.unit)
        if unit is None or not (number.isascii() and number.isdecimal()):
            return number
        if len(number) > _MAX_DIGITS:
            return number
        return durations.text(int(number) * unit[1])


def unit_name(path: str) -> str:
    """Returns the name of the input that has the unit of the duration at this path."""
    return f"{path}.unit"


def of_api(text: str) -> EnteredDuration:
    """Returns the inputs for a duration of the API, in the largest unit that has no remainder."""
    if not text:
        return EnteredDuration()
    length = seconds(text)
    if not length:
        return EnteredDuration("0")
    unit = next(name for name in reversed(UNITS) if length % UNITS[name][1] == 0)
    return EnteredDuration(str(length // UNITS[unit][1]), unit)


def seconds(text: str) -> int:
    """Returns the whole seconds of a duration of the API."""
    return int(durations.parse(text).total_seconds())
