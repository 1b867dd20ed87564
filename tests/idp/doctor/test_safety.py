"""What the doctor says of who gets in, where it has not looked at everything."""

from __future__ import annotations

from types import SimpleNamespace

from idp.config.settings import Config
from idp.doctor import safety
from idp.doctor.records import Matches
from idp.foundation.clock import SystemClock


async def test_registration_is_not_called_closed_where_not_all_policies_were_looked_at(
    monkeypatch,
):
    async def first_ones(installation, collection, is_match):
        return Matches(read_count=1000, is_all=False)

    monkeypatch.setattr(safety, "matching", first_ones)
    place = SimpleNamespace(config=Config(self_registration=False), clock=SystemClock())
    found = await safety.registration_open(place)

    assert found.state == "ok"
    assert found.sentence.startswith("0 of the first 1000 policies")
    assert "--deep" in found.sentence
