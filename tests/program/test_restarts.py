"""A restart revives nothing (CVE-2026-9802): what was spent or revoked before it stays so."""

from __future__ import annotations

import pytest

from tests.flows.conftest import at
from tests.support.programs.program import Program
from tests.support.protocol.spent import Spent


@pytest.mark.full
@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_what_was_spent_stays_spent_after_a_restart(tmp_path, open_browser, end):
    program = Program(tmp_path).start()
    place, port = await at(program), program.port
    spent = await Spent.make(place, open_browser(program), program.user)
    await place.store.close()
    getattr(program, end)()
    again = Program(tmp_path, "--port", str(port)).start()

    try:
        await spent.check(open_browser(again))
        again.stop()
    finally:
        again.kill()
