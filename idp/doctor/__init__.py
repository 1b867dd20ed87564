"""The checks of `idp doctor`: whether an installation works and is safe.

Checks only read. Each area has a module of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from idp.doctor import files, machine, mongodb, outside, safety, sqlite, store, upkeep
from idp.doctor.check import Area, DoctorCheck, Finding, Installation, Result, fail, skipped, warn
from idp.foundation import logs

AREAS: Final[Mapping[Area, Sequence[DoctorCheck]]] = {
    "files": files.CHECKS,
    "machine": machine.CHECKS,
    "store": (*store.CHECKS, *sqlite.CHECKS, *mongodb.CHECKS),
    "outside": outside.CHECKS,
    "safety": safety.CHECKS,
    "upkeep": upkeep.CHECKS,
}
OF_WHAT_IS_STORED: Final[Sequence[Area]] = ("safety", "upkeep")
SECONDS: Final = 60.0  # of one check
OUTSIDE_SECONDS: Final = 3.0  # of a check that waits for other servers
_log: Final = logs.logger(__name__)


async def examine(
    installation: Installation, areas: Sequence[Area] = tuple(AREAS), *, also: Sequence[str] = ()
) -> list[Result]:
    """Runs the checks of these areas and those with the ids `also`: one after the other, but those
    that wait for other servers meanwhile.
    """
    checks = [
        check
        for area, every in AREAS.items()
        for check in every
        if area in areas or check.id in also
    ]
    one_at_a_time = asyncio.Lock()
    running = [_run_in_turn(each, installation, one_at_a_time) for each in checks]
    findings = await asyncio.gather(*running)
    return [Result(check=one, finding=each) for one, each in zip(checks, findings, strict=True)]


async def _run_in_turn(
    check: DoctorCheck, installation: Installation, one_at_a_time: asyncio.Lock
) -> Finding:
    if check.area == "outside":
        return await _run_check(check, installation)
    async with one_at_a_time:
        return await _run_check(check, installation)


def _seconds(check: DoctorCheck, installation: Installation) -> float:
    """Returns how long the check may take now; 0 if no time is left."""
    seconds = OUTSIDE_SECONDS if check.area == "outside" else SECONDS
    if not installation.waits_for_server(check):
        return seconds
    left = installation.deadline - asyncio.get_running_loop().time()
    return max(0.0, min(seconds, left))


async def _run_check(check: DoctorCheck, installation: Installation) -> Finding:
    """Returns the finding of a check.

    An unexpected error in one check is its finding, and does not stop the others.
    """
    if check.area == "outside" and installation.config.is_loopback:
        return skipped("the issuer is on this machine only")
    if not _has_what_it_needs(check, installation):
        return skipped("the store can't be read: see store.reach, store.schema and store.indexes")
    seconds = _seconds(check, installation)
    if not seconds:
        return warn("no time was left, as servers did not answer soon; --deep has no limit")
    try:
        async with asyncio.timeout(seconds):
            return await check.run(installation)
    except TimeoutError:
        return fail(f"the check was not done after {seconds:.1f} s")
    except Exception as error:  # of any kind: the report must have the findings of the others
        _log.warning("a check of the doctor broke", check=check.id, exc_info=error)
        return fail(f"the check broke: {type(error).__name__}: {error}")


def _has_what_it_needs(check: DoctorCheck, installation: Installation) -> bool:
    if check.needs == "nothing":
        return True
    is_there = installation.store is not None
    return is_there and (check.needs == "store" or installation.has_records)
