"""What runs in a process beside its requests."""

from __future__ import annotations

import asyncio
import json

from idp.server import serving
from tests.support import patience
from tests.support.measured.logged import log_fixture  # noqa: F401 - a fixture
from tests.support.patience import until


async def failing():
    raise LookupError("a defect")


async def test_a_task_that_fails_is_logged_at_once_and_the_others_go_on(log):
    goes_on, has_gone_on = asyncio.Event(), asyncio.Event()

    async def waiting():
        await goes_on.wait()
        has_gone_on.set()

    async with serving._running([failing(), waiting()]), asyncio.timeout(patience.SECONDS):
        await until(lambda: log.getvalue())
        goes_on.set()
        await has_gone_on.wait()

    line = json.loads(log.getvalue())
    assert (line["level"], line["event"]) == ("error", "a task of this process has failed")
    assert line["task"] == "failing"
    assert "LookupError: a defect" in line["exception"]
