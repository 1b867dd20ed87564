"""The state of a service that was started with `--test`; others do not have these records."""

from __future__ import annotations

from typing import Final

from storage import Collection, Record


class TestModeState(Record):
    """How far ahead of the machine's clock the service is; one record."""

    ahead_ms: int = 0


class InitialRecord(Record):
    """A record as it was at the start: the collection's name, and the record as JSON."""

    collection: str
    json: str


TRIALS: Final = Collection("trials", TestModeState)
INITIAL_RECORDS: Final = Collection("kept", InitialRecord)
