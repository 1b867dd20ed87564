"""What `idp doctor` says of a master key that is replaced."""

from __future__ import annotations

import pytest

from idp.records import INSTANCE_ID, INSTANCES
from storage import Update
from tests.support.programs.doctor_place import Place


@pytest.fixture
def place(installed, monkeypatch):
    place = Place(installed, monkeypatch)
    place.command("idp keys master rotate --data idp-data")
    return place


def end(place) -> None:
    """Stores that the replacement is done."""
    former = place.one(INSTANCES).key_replacement.old_key_check
    changes = {"key_replacement": None, "replaced_key_checks": [former]}
    place.write(Update(INSTANCES, INSTANCE_ID, set=changes))


def test_a_replacement_in_progress_is_no_finding(place):
    found = place.find("store.key")

    assert (found.state, "idp keys master status" in found.sentence) == ("ok", True)


def test_a_former_key_that_records_need_and_is_missing_is_a_failure(place):
    (place.data / "master.key.old").unlink()

    found = place.find("store.key")

    assert (found.state, "master.key.old" in found.sentence) == ("fail", True)


def test_a_former_key_that_nothing_needs_is_a_warning_until_it_is_removed(place):
    end(place)
    assert place.find("store.key").state == "warn"

    (place.data / "master.key.old").unlink()

    assert place.find("store.key").state == "ok"


def test_a_present_key_that_is_the_former_one_is_a_warning(place):
    end(place)
    new, old = place.data / "master.key", place.data / "master.key.old"
    new.rename(place.data / "new")
    old.rename(new)
    place.settings["old_master_key_files"] = (str(place.data / "new"),)

    found = place.find("store.key")

    assert (found.state, "not the one in charge" in found.sentence) == ("warn", True)


def test_a_former_key_that_others_can_read_is_a_failure(place):
    (place.data / "master.key.old").chmod(0o644)

    found = place.find("key.mode")

    assert (found.state, "master.key.old" in found.commands[0]) == ("fail", True)
