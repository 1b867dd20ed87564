"""Acting for somebody, over every store and two processes: what ends it counts at once."""

from __future__ import annotations

import pytest

from tests.flows.conftest import PLACES
from tests.support.protocol.acting import ENDS, Acting, switch_the_policy


@pytest.mark.promise("acting: every use")
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_what_ends_it_counts_at_the_next_request_of_any_process(place, open_browser, end):
    acting = await Acting.make(place, lambda: open_browser(place))
    await acting.assert_acts()

    await ENDS[end](acting)

    await acting.assert_ended()
    await switch_the_policy(acting, is_on=True)
