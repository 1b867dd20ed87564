"""A lost primary revives nothing: what was spent or revoked before stays so on the next one."""

from __future__ import annotations

import asyncio

import pytest

from tests.fire.under_load.test_failing_primary import Patience, hang, kill, step_down
from tests.flows.conftest import SETTINGS, at
from tests.flows.flows import person
from tests.support.browsers.visitor import Visitor
from tests.support.programs.program import Program
from tests.support.protocol.spent import Spent
from tests.support.servers.mongod import fresh_database


@pytest.mark.load
@pytest.mark.parametrize("fault", [kill, hang, step_down], ids=lambda fault: fault.__name__)
async def test_what_was_spent_stays_spent_after_a_failover(mongod_trio, tmp_path, fault):
    mongod_trio.mend()
    with fresh_database(mongod_trio.url) as url:
        program = Program(tmp_path, "--processes", "2", "--store", url, **SETTINGS).start()
        place, term = await at(program), mongod_trio.term()
        async with Patience() as transport:
            browser = Visitor(program.issuer, transport=transport)
            spent = await Spent.make(place, browser, await person(place))
            await asyncio.to_thread(fault, mongod_trio.primary())

            await spent.check(browser)
            assert await asyncio.to_thread(mongod_trio.term) > term, "nobody lost a primary"
        mongod_trio.mend()
        await place.store.close()
        program.stop()
