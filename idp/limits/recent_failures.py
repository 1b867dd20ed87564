"""Refused attempts that are not written as events yet.

For each *source* (such as user, network and cause) the first attempt is an event immediately, and
all that follow in ten minutes are one more event, whose count grows. Attempts beyond the limits of
sources or events are counted without their source. Names and secrets that were typed are not
stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct, field, structs

from idp.foundation.clock import is_past

PERIOD: Final = timedelta(minutes=10)
WRITTEN_EVERY: Final = timedelta(seconds=50)  # what a killed process loses is at most a minute old
MAX_SOURCES: Final = 10_000
MAX_EVENTS: Final = 600  # of a process in a period
_RESERVED_EVENTS: Final = 10  # of these, for attempts without their source
_MAX_DIFFERENT: Final = 10_000  # names or networks that are distinguished


class FailureSource(Struct, frozen=True):
    """The common source of refused attempts that are counted together: the type of their event,
    the id of the record that the event is about, and other `parts` such as network and cause.

    `combined_type` is the type of event under which an attempt is counted without its source if
    there is no room for it; if empty, `type` is.
    """

    type: str
    record_id: str = ""
    parts: tuple[str, ...] = ()
    combined_type: str = ""


class FailureSum(Struct, eq=False):
    """The attempts of one source in a period, which become one event.

    With `is_first` it is the first attempt alone, which is an event of its own; with `is_over` its
    event is written for the last time. `is_changed` means that it has attempts that are not
    written yet, and `event_id` is None before it is first written. `names` and `networks` are the
    different ones in a sum of attempts that are counted without their source.
    """

    source: FailureSource
    payload: Mapping[str, str]
    first_at: datetime
    until: datetime
    ends_at: datetime
    due_at: datetime
    count: int = 0
    is_first: bool = False
    is_over: bool = False
    is_changed: bool = False
    event_id: str | None = None
    names: set[str] = field(default_factory=set)
    networks: set[str] = field(default_factory=set)

    @property
    def is_combined(self) -> bool:
        return not self.source.record_id and not self.source.parts

    def is_due(self, now: datetime) -> bool:
        """Whether the sum is to be written now. One that is over is also written if only its
        event is not final."""
        if self.is_over:
            return self.is_changed or self.event_id is not None
        return self.is_changed and is_past(self.due_at, now, WRITTEN_EVERY)


class Failures:
    """The sums of refused attempts in this process, and how many events it has written in this
    period."""

    def __init__(self) -> None:
        self._sums: dict[FailureSource, FailureSum] = {}
        self._separate_sums: list[FailureSum] = []
        self._events = 0
        self._events_until: datetime | None = None

    def __len__(self) -> int:
        return len(self._sums)

    def record(self, source: FailureSource, payload: Mapping[str, str], now: datetime) -> None:
        """Counts a refused attempt of this source; `payload` is the event's payload without the
        counts."""
        failure_sum = self._sums.get(source)
        if failure_sum is not None:
            _add(failure_sum, now)
        elif len(self._sums) >= MAX_SOURCES:
            self.record_combined(
                source.combined_type or source.type, now, network=payload.get("network", "")
            )
        else:
            self._sums[source] = new_sum = _new_sum(source, payload, now)
            first_sum = structs.replace(
                new_sum, count=1, is_first=True, is_over=True, is_changed=True
            )
            self._separate_sums.append(first_sum)

    def record_once(
        self, source: FailureSource, payload: Mapping[str, str], now: datetime
    ) -> None:
        """Records an event without a count; does nothing if the source has an event in this period
        already."""
        if source not in self._sums:
            self.record(source, payload, now)

    def record_combined(
        self, type: str, now: datetime, count: int = 1, *, name: str = "", network: str = ""
    ) -> None:
        """Counts attempts without their source, by the type of their event.

        `name` is a digest of the login name that was typed, and `network` the sender's; both may
        be empty.
        """
        source = FailureSource(type)
        failure_sum = self._sums.get(source)
        if failure_sum is None:
            self._sums[source] = failure_sum = _new_sum(source, {}, now)
        for distinct_values, value in ((failure_sum.names, name), (failure_sum.networks, network)):
            if value and len(distinct_values) < _MAX_DIFFERENT:
                distinct_values.add(value)
        _add(failure_sum, now, count)

    def take_due(self, now: datetime, *, is_last: bool = False) -> list[FailureSum]:
        """Returns the sums that the caller has to write as events now: first attempts immediately,
        other sums every 50 seconds and at the end of their period; with `is_last` all of them, as
        if their periods had ended.

        They are assumed to be written; the caller passes those that could not be to `give_back`.
        """
        self._renew_events(now)
        due_sums = [each for each in self._take_separate() if self._has_event(each)]
        for failure_sum in list(self._sums.values()):
            failure_sum.is_over = is_last or _is_over(failure_sum, now)
            if failure_sum.is_due(now):
                if self._has_event(failure_sum):
                    failure_sum.is_changed, failure_sum.due_at = False, now + WRITTEN_EVERY
                    due_sums.append(failure_sum)
                elif failure_sum.is_over:
                    self._move_to_combined(failure_sum, now)
            if _is_over(failure_sum, now):
                self._end(failure_sum, now)
        return due_sums

    def give_back(self, failure_sum: FailureSum) -> None:
        """Takes back a sum of `take_due` whose write has failed: the next `take_due` returns it
        again."""
        if failure_sum.event_id is None:
            self._events = max(0, self._events - 1)
        if self._sums.get(failure_sum.source) is failure_sum:
            failure_sum.is_changed, failure_sum.due_at = True, failure_sum.until
        else:
            self._separate_sums.append(failure_sum)

    def _take_separate(self) -> list[FailureSum]:
        separate_sums, self._separate_sums = self._separate_sums, []
        return separate_sums

    def _has_event(self, failure_sum: FailureSum) -> bool:
        """Whether the sum is an event or may become one; a first attempt that may not is added to
        its sum."""
        if failure_sum.event_id is not None:
            return True
        max_events = MAX_EVENTS if failure_sum.is_combined else MAX_EVENTS - _RESERVED_EVENTS
        if self._events < max_events:
            self._events += 1
            return True
        if failure_sum.is_first and (later := self._sums.get(failure_sum.source)):
            _add(later, later.until)
        elif self._sums.get(failure_sum.source) is not failure_sum:
            self._move_to_combined(failure_sum, failure_sum.until)
        return False

    def _move_to_combined(self, failure_sum: FailureSum, now: datetime) -> None:
        kind, network = (
            failure_sum.source.combined_type or failure_sum.source.type,
            failure_sum.payload.get("network", ""),
        )
        self.record_combined(kind, now, failure_sum.count, network=network)

    def _renew_events(self, now: datetime) -> None:
        if self._events_until is None or is_past(self._events_until, now, PERIOD):
            self._events, self._events_until = 0, now + PERIOD

    def _end(self, failure_sum: FailureSum, now: datetime) -> None:
        """Begins another period of the source, unless this one had no attempts."""
        del self._sums[failure_sum.source]
        if failure_sum.count and not failure_sum.is_combined:
            self._sums[failure_sum.source] = _new_sum(failure_sum.source, failure_sum.payload, now)


def _is_over(failure_sum: FailureSum, now: datetime) -> bool:
    return is_past(failure_sum.ends_at, now, PERIOD)


def _new_sum(source: FailureSource, payload: Mapping[str, str], now: datetime) -> FailureSum:
    return FailureSum(
        source=source,
        payload=payload,
        first_at=now,
        until=now,
        ends_at=now + PERIOD,
        due_at=now + WRITTEN_EVERY,
    )


def _add(failure_sum: FailureSum, now: datetime, count: int = 1) -> None:
    if not failure_sum.count:
        failure_sum.first_at = now
    failure_sum.count += count
    failure_sum.until = now
    failure_sum.is_changed = True
