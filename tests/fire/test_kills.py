"""`kill -9` before and after every write of every flow, and who repeats is told the truth."""

from __future__ import annotations

import pytest

from tests.fire.run import burn
from tests.fire.stories import STORIES


@pytest.mark.promise("security: anonymous", "application users: grants")
@pytest.mark.load
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
async def test_killed_at_any_write_the_flow_goes_on(story, new_ground, record_property):
    ground = new_ground()
    writes = await burn(ground, story)

    assert ground.kills == 2 * writes > 0
    record_property("counts", f"{ground.kills} kills at {writes} writes")
