"""When the service manager is told what, by a timer that the test advances."""

from __future__ import annotations

import asyncio

import pytest

from idp.server.notify import Notifier
from tests.support.clock import SteppingTimer
from tests.support.programs.service_manager import service_manager  # noqa: F401  a fixture


@pytest.fixture
def timer():
    return SteppingTimer()


def test_nothing_is_said_of_a_start_that_has_just_begun(manager, timer):
    notifier = Notifier(manager.address, None, timer)
    for _ in range(100):
        notifier.starting()

    assert manager.states() == []


async def test_more_time_is_asked_for_every_five_seconds_until_the_start_is_over(manager, timer):
    notifier = Notifier(manager.address, None, timer)
    async with notifier.extending():
        await timer.advance(16)
    sent = manager.states()
    await timer.advance(60)

    assert sent == ["EXTEND_TIMEOUT_USEC=60000000"] * 3
    assert manager.states() == sent
    assert "STATUS=opening the store" in manager.messages()[0]


async def test_more_time_is_not_asked_for_amid_a_stop(manager, timer):
    notifier = Notifier(manager.address, None, timer)
    notifier.stopping()
    await timer.advance(60)
    notifier.starting()

    assert manager.states() == ["STOPPING=1"]


async def test_signs_of_life_are_sent_four_times_in_the_time_in_which_one_is_expected(
    manager, timer
):
    sending = asyncio.create_task(Notifier(manager.address, 20.0, timer).send_watchdog())
    await timer.advance(20)
    sending.cancel()

    assert manager.signs_of_life() == 5


async def test_no_signs_of_life_are_sent_where_none_are_expected(manager, timer):
    await Notifier(manager.address, None, timer).send_watchdog()

    assert manager.messages() == []
