"""Figures of the running program: what its processes have counted adds up, also at its end."""

from __future__ import annotations

from idp.foundation.clock import SystemClock
from idp.foundation.randomness import SystemRandom
from idp.records import ALL, SCHEMA
from storage import COUNTERS, open_store

SIGN_INS = 12


async def test_what_two_processes_have_counted_is_stored_when_they_stop(
    start_program, open_browser, tmp_path
):
    url = f"sqlite:///{tmp_path}/idp.sqlite3"
    program = start_program("--processes", "2", "--store", url, IDP_KNOWN_NETWORKS="127.0.0.0/8")
    party = program.demo()
    for _ in range(SIGN_INS):
        await party.tokens(open_browser(program), *program.user)
    program.stop()
    store = open_store(url, now=SystemClock().now, new_id=SystemRandom().id)
    await store.open(ALL, SCHEMA)
    stored = [one async for one in store.scan(COUNTERS)]
    await store.close()
    counted = {
        kind: sum(one.n for one in stored if one.id.startswith(f"usage:*:{kind}:d"))
        for kind in ("sign_in", "active_day", "active_week", "active_month")
    }

    assert counted == {"sign_in": SIGN_INS, "active_day": 1, "active_week": 1, "active_month": 1}
