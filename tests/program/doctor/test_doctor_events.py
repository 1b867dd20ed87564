"""`idp doctor`: events that retention should have removed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from idp.records import EVENTS, Event
from storage import Insert
from tests.program.doctor.doctor_cases import coming_removal
from tests.support.programs.doctor_place import Place


@pytest.fixture
def place(installed, monkeypatch):
    return Place(installed, monkeypatch)


@pytest.mark.parametrize(("days", "state"), [(400, "ok"), (402, "warn")])
def test_events_that_are_stored_a_day_too_long_are_a_warning(place, days, state):
    coming_removal(place, days=-1)
    event = old_event(days)
    place.write(Insert(EVENTS, event))

    assert place.find("events.retention").state == state


def old_event(days):
    at = datetime.now(UTC) - timedelta(days=days)
    what = {"collection": "users", "record_id": "user", "sequence": 1, "actor": "admin"}
    sealed = {"stream": "access", "position": 1, "chain": "1."}
    return Event(id="old", type="session.opened", at=at, **what, **sealed)
