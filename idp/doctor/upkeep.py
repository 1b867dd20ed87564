"""Checks whether the service's background tasks keep up with their work."""

from __future__ import annotations

from typing import Final

from idp.doctor.check import DoctorCheck, Finding, Installation
from idp.foundation.i18n import message

MANY: Final = 1_000
_COUNTED: Final = 100_000


async def sweep_backlog(installation: Installation) -> Finding:
    """Counts the expired records that should have been removed more than an hour ago, and warns of
    many."""
    count = await installation.opened.overdue(up_to=_COUNTED)
    least = "at least " if count == _COUNTED else ""
    text = f"{least}{count} expired records have not been removed an hour after they were due"
    return Finding("warn" if count >= MANY else "ok", text, count=count)


CHECKS: Final = (
    DoctorCheck(
        id="sweep.backlog",
        area="upkeep",
        about=message("Expired records are removed in time.", context="safety"),
        fix=message(
            "Keep the service running: it removes them by itself. If the number grows, the"
            " database is too slow.",
            context="safety",
        ),
        run=sweep_backlog,
        needs="records",
    ),
)
