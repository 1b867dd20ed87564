"""Both groups are restarted, one after the other, while people and programs go on."""

from __future__ import annotations

import asyncio
import signal

import pytest

from tests.fire.groups import send
from tests.fire.under_load.load import Load, longest, refused
from tests.flows.flows import person
from tests.support.browsers.visitor import Visitor

DELAY_SECONDS = 5  # as in the image, the chart and the unit


async def sign_in_until(groups, over: asyncio.Event) -> int:
    """Sign in again and again on connections that are kept; how often it was possible."""
    place, done = groups.place, 0
    party, somebody = await place.register(), await person(place)
    while not over.is_set():
        browser = Visitor(place.issuer)
        tokens = await party.tokens(browser, *somebody)
        for _ in range(3):
            refreshed = await party.refresh(browser, tokens["refresh_token"])
            assert refreshed.status == 200, refreshed.text
            tokens = refreshed.json()
        assert (await party.userinfo(browser, tokens["access_token"])).status == 200
        await browser.close()
        done += 1
    return done


@pytest.mark.load
async def test_no_request_fails_while_both_groups_are_restarted(new_groups, record_property):
    groups = new_groups(IDP_SHUTDOWN_DELAY_SECONDS=DELAY_SECONDS)
    await groups.start()
    over = asyncio.Event()
    signing_in = asyncio.ensure_future(sign_in_until(groups, over))
    async with Load(groups).running() as load:
        await asyncio.sleep(1)
        for n in (0, 1):
            send(signal.SIGTERM, groups.groups[n].pid)
            assert await asyncio.to_thread(groups.groups[n].wait) == 0
            await asyncio.to_thread(groups.restart, n)
            await asyncio.sleep(3)  # the balancer finds it again
        over.set()
        sign_ins = await signing_in
    record_property(
        "counts",
        f"{len(load.asked)} requests and {sign_ins} sign-ins, refused {dict(refused(load.asked))},"
        f" longest wait {longest(load.asked):.2f}",
    )

    await groups.check()
    assert not refused(load.asked)
    assert sign_ins > 3
