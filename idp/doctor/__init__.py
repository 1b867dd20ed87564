"""The checks of `idp doctor`: whether an installation works and is safe.

Checks only read. Each area has a module of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from idp.doctor import files, mongodb, outside, safety, sqlite, store, upkeep
from idp.doctor.check import Area, DoctorCheck, Finding, Installation, Result, fail, skipped, warn
from idp.foundation import logs

AREAS: Final[Mapping[Area, Sequence[DoctorCheck]]] = {
    "files": files.CHECKS,
    "store": (*store.CHECKS, *sqlite.CHECKS, *mongodb.CHECKS),
    "outside": outside.CHECKS,
    "safety": safety.CHECKS,
    "upkeep": upkeep.CHECKS,
}
STORED_AREAS: Final[Sequence[Area]] = ("safety", "upkeep")
SECONDS: Final = 60.0  # of one check
OUTSIDE_SECONDS: Final = 3.0  # of a check that waits for other servers
_log: Final = logs.logger(__name__)


async def examine(
    installation: Installation,
    areas: Sequence[Area] = tuple(AREAS),
    *,
    further_ids: Sequence[str] = (),
) -> list[Result]:
    """Runs the checks of these areas and those with the ids `further_ids`: one after the other,
    and concurrently those that wait for other servers.
    """
    checks = [
        check
        for area, area_checks in AREAS.items()
        for check in area_checks
        if area in areas or check.id in further_ids
    ]
    lock = asyncio.Lock()
    running = [_run_exclusively(check, installation, lock) for check in checks]
    findings = await asyncio.gather(*running)
    return [
        Result(check=check, finding=finding)
        for check, finding in zip(checks, findings, strict=True)
    ]


async def _run_exclusively(
    check: DoctorCheck, installation: Installation, lock: asyncio.Lock
) -> Finding:
    if check.area == "outside":
        return await _run_check(check, installation)
    async with lock:
        return await _run_check(check, installation)


def _seconds(check: DoctorCheck, installation: Installation) -> float:
    """Returns how long the check may take now; 0 if no time is left."""
    seconds = OUTSIDE_SECONDS if check.area == "outside" else SECONDS
    if not installation.waits_for_server(check):
        return seconds
    remaining_seconds = installation.deadline - asyncio.get_running_loop().time()
    return max(0.0, min(seconds, remaining_seconds))


async def _run_check(check: DoctorCheck, installation: Installation) -> Finding:
    """Returns the finding of a check.

    An unexpected error in one check is its finding, and does not stop the others.
    """
    if check.area == "outside" and installation.config.is_loopback:
        return skipped("the issuer can only be reached from this machine")
    if not _can_run(check, installation):
        return skipped("the store can't be read: see store.reach, store.schema and store.indexes")
    seconds = _seconds(check, installation)
    if not seconds:
        return warn("the time was up, because servers answered slowly; --deep has no time limit")
    try:
        async with asyncio.timeout(seconds):
            return await check.run(installation)
    except TimeoutError:
        return fail(f"the check was not done after {seconds:.1f} s")
    except Exception as error:  # of any kind: the other findings must be reported
        _log.warning("a check of the doctor failed unexpectedly", check=check.id, exc_info=error)
        return fail(f"the check failed unexpectedly: {type(error).__name__}: {error}")


def _can_run(check: DoctorCheck, installation: Installation) -> bool:
    if check.needs == "nothing":
        return True
    has_store = installation.store is not None
    return has_store and (check.needs == "store" or installation.has_records)
