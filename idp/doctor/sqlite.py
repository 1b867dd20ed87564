"""Checks of a store that is a SQLite file: damage, unused space, and the length of its log."""

from __future__ import annotations

from typing import Final

from idp.doctor.check import DoctorCheck, Finding, Installation, ok, skipped, warn
from idp.foundation.i18n import Message

_MEGABYTE: Final = 1024**2
_FREE_BYTES: Final = 64 * _MEGABYTE
_FREE_SHARE: Final = 0.2
# It grows to 260 MB before SQLite starts a new one.
_LOG_BYTES: Final = 512 * _MEGABYTE
_MAX_DAMAGE: Final = 5
_NO_FILE: Final = "the store is not a file"


async def integrity(installation: Installation) -> Finding:
    """Reads the whole file and checks that it is not damaged; only with `--deep`."""
    if await installation.opened.file_state() is None:
        return skipped(_NO_FILE)
    if not installation.is_deep:
        return skipped("it reads the whole file: run only with --deep")
    find_damage = await installation.opened.find_damage(_MAX_DAMAGE)
    if not find_damage:
        return ok("the file is not damaged")
    return Finding("fail", "the file is damaged", names=find_damage, count=len(find_damage))


async def free(installation: Installation) -> Finding:
    """Checks how much of the file is not in use."""
    state = await installation.opened.file_state()
    if state is None:
        return skipped(_NO_FILE)
    text = f"{_megabytes(state.free_bytes)} of {_megabytes(state.file_bytes)} are not in use"
    is_much = state.free_bytes > max(_FREE_BYTES, _FREE_SHARE * state.file_bytes)
    return warn(text) if is_much else ok(text)


async def log(installation: Installation) -> Finding:
    """Checks that the log of writes is copied into the file before it is long."""
    state = await installation.opened.file_state()
    if state is None:
        return skipped(_NO_FILE)
    text = f"the log of writes has {_megabytes(state.log_bytes)}"
    return warn(text) if state.log_bytes > _LOG_BYTES else ok(text)


def _megabytes(size: int) -> str:
    return f"{size / _MEGABYTE:.0f} MB"


CHECKS: Final = (
    DoctorCheck(
        id="sqlite.integrity",
        area="store",
        about=Message("A SQLite file is not damaged (with --deep)."),
        fix=Message("Stop the service, keep the file, and restore the newest backup."),
        run=integrity,
        needs="store",
    ),
    DoctorCheck(
        id="sqlite.free",
        area="store",
        about=Message("At most 20 % (or 64 MB) of a SQLite file are not in use."),
        fix=Message(
            "New records use this space first. To free it for other files, stop the service and"
            " run sqlite3 FILE 'PRAGMA auto_vacuum = INCREMENTAL; VACUUM'."
        ),
        run=free,
        needs="store",
    ),
    DoctorCheck(
        id="sqlite.wal",
        area="store",
        about=Message("The log of a SQLite store has at most 512 MB."),
        fix=Message(
            "Find the process that has been reading the file for long, such as a copy or a"
            " shell: the log can't be restarted before it ends."
        ),
        run=log,
        needs="store",
    ),
)
