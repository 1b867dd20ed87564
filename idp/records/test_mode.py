"""The state of a service that was started with `--test`; others do not have these records."""

from __future__ import annotations

from typing import Final

from storage import Collection, Record


class TestModeState(Record):
    """The time by which the service's clock is ahead of the machine's; there is one record."""

    ahead_ms: int = 0


class InitialRecord(Record):
    """A copy of a record as it was at the start, for returning to that state: the collection's
    name, and the record as JSON.
    """

    collection: str
    json: str


TRIALS: Final = Collection("trials", TestModeState)
INITIAL_RECORDS: Final = Collection("kept", InitialRecord)
