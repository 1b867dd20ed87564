"""Checks of the limits of this machine."""

from __future__ import annotations

import resource
from typing import Final

from idp.doctor.check import DoctorCheck, Finding, Installation, ok, warn
from idp.foundation.i18n import Message

ENOUGH_DESCRIPTORS: Final = 4096


async def descriptors(installation: Installation) -> Finding:
    """Checks the limit of files and connections that a process started on this machine may have
    open.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return ok("a process that is started here may open any number of files")
    text = f"a process that is started here may open {soft} files and connections"
    if soft < ENOUGH_DESCRIPTORS:
        return warn(text, f"ulimit -n {ENOUGH_DESCRIPTORS}")
    return ok(text)


CHECKS: Final = (
    DoctorCheck(
        id="limits.descriptors",
        area="machine",
        about=Message("A process may have at least 4,096 files and connections open."),
        fix=Message(
            "Raise the limit where the service is started; in a systemd unit, by LimitNOFILE=4096."
        ),
        run=descriptors,
    ),
)
