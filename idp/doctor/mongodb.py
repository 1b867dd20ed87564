"""Checks of a store on MongoDB: version, members, parameters and distance of the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from statistics import median
from time import perf_counter
from typing import Final

from idp.doctor.check import DoctorCheck, Finding, Installation, fail, ok, skipped, warn
from idp.foundation.i18n import Message
from storage.condition import ServerState

_TESTED: Final = (6, 0)
_MEMBERS: Final = 3
_TRANSACTION_SECONDS: Final = 5
_HISTORY_SECONDS: Final = 300
_PINGS: Final = 11
_PING_SECONDS: Final = 0.005
_NO_SERVER: Final = "the store is not on MongoDB"
_UNREADABLE: Final = "the store's user may not read this parameter"
_SET_PARAMETER: Final = "mongosh --eval 'db.adminCommand({{setParameter: 1, {}: {}}})'"

StateCheck = Callable[[ServerState], Finding]


def _of_server(check_state: StateCheck) -> Callable[[Installation], Awaitable[Finding]]:
    """Returns the check that derives its finding from the server's state; it is skipped for other
    stores.
    """

    async def check(installation: Installation) -> Finding:
        state = await installation.opened.server_state()
        return skipped(_NO_SERVER) if state is None else check_state(state)

    return check


def version(state: ServerState) -> Finding:
    """Checks that the server's version is not older than the one that tests run on."""
    text = f"MongoDB {'.'.join(map(str, state.version))}"
    if state.version[:2] >= _TESTED:
        return ok(text)
    return warn(f"{text}: tests run on {'.'.join(map(str, _TESTED))}")


def members(state: ServerState) -> Finding:
    """Checks that the replica set has three members with the records, and that all of them
    answer.
    """
    if not state.members:
        return skipped("the members are unknown: the server is not in a replica set")
    text = f"{state.reachable} of {state.members} members with the records answer"
    if 2 * state.reachable <= state.members:
        return fail(f"{text}: no majority")
    if state.members < _MEMBERS or state.reachable < state.members:
        return warn(text)
    return ok(text)


def lifetime(state: ServerState) -> Finding:
    """Checks after how long the primary ends the transaction of a process that ended."""
    seconds = state.transaction_seconds
    if seconds is None:
        return skipped(_UNREADABLE)
    text = f"the primary ends an abandoned transaction after {seconds} s"
    command = _SET_PARAMETER.format("transactionLifetimeLimitSeconds", _TRANSACTION_SECONDS)
    return ok(text) if seconds == _TRANSACTION_SECONDS else warn(text, command)


def history(state: ServerState) -> Finding:
    """Checks for how long the primary can read the state of an earlier moment, as backups do."""
    seconds = state.history_seconds
    if seconds is None:
        return skipped(_UNREADABLE)
    text = f"a backup or an export may take {seconds} s"
    command = _SET_PARAMETER.format("minSnapshotHistoryWindowInSeconds", _HISTORY_SECONDS)
    return ok(text) if seconds >= _HISTORY_SECONDS else warn(text, command)


async def rtt(installation: Installation) -> Finding:
    """Measures the median of round trips to the server."""
    if await installation.opened.server_state() is None:
        return skipped(_NO_SERVER)
    seconds = []
    for _ in range(_PINGS):
        begun_at = perf_counter()
        await installation.opened.ping()
        seconds.append(perf_counter() - begun_at)
    text = f"a round trip to the server takes {median(seconds) * 1000:.1f} ms"
    return warn(text) if median(seconds) > _PING_SECONDS else ok(text)


async def sharded(installation: Installation) -> Finding:
    """Checks that the store is not in a sharded cluster."""
    if await installation.opened.server_state() is None:
        return skipped(_NO_SERVER)
    if installation.opened.is_sharded:
        return warn("the store is in a sharded cluster: all collections stay on one shard")
    return ok("the store is in a replica set")


async def transactions(installation: Installation) -> Finding:
    """Aborts a unit in a temporary collection, and checks that nothing remains; only with
    `--deep`.
    """
    if await installation.opened.server_state() is None:
        return skipped(_NO_SERVER)
    if not installation.is_deep:
        return skipped("it writes to a temporary collection: run only with --deep")
    if await installation.opened.rolls_back():
        return ok("nothing remains of a unit that was aborted")
    return fail("a unit that was aborted was stored")


CHECKS: Final = (
    DoctorCheck(
        id="mongo.version",
        area="store",
        about=Message("MongoDB has version 6.0, which tests run on, or a newer one."),
        fix=Message("Upgrade the servers, one after the other."),
        run=_of_server(version),
        needs="store",
    ),
    DoctorCheck(
        id="mongo.members",
        area="store",
        about=Message("The replica set has three members with the records, and all respond."),
        fix=Message(
            "Start the members that are unavailable. With fewer than three, nothing is stored"
            " while one is unavailable: add members."
        ),
        run=_of_server(members),
        needs="store",
    ),
    DoctorCheck(
        id="mongo.lifetime",
        area="store",
        about=Message("transactionLifetimeLimitSeconds of the primary is 5."),
        fix=Message("Set it on every member now, and by --setParameter for its next start."),
        run=_of_server(lifetime),
        needs="store",
    ),
    DoctorCheck(
        id="mongo.history",
        area="store",
        about=Message("minSnapshotHistoryWindowInSeconds of the primary is 300 or more."),
        fix=Message("Set it on every member now, and by --setParameter for its next start."),
        run=_of_server(history),
        needs="store",
    ),
    DoctorCheck(
        id="mongo.rtt",
        area="store",
        about=Message("A round trip to MongoDB takes at most 5 ms."),
        fix=Message("Run the service near the primary: a sign-in takes many round trips."),
        run=rtt,
        needs="store",
    ),
    DoctorCheck(
        id="mongo.sharded",
        area="store",
        about=Message("MongoDB is a replica set: a sharded cluster was not tested."),
        fix=Message("Use a replica set: see docs/how-to/scaling.md."),
        run=sharded,
        needs="store",
    ),
    DoctorCheck(
        id="mongo.transactions",
        area="store",
        about=Message("Nothing remains of a unit that was aborted (with --deep)."),
        fix=Message("Use a replica set of MongoDB's own servers."),
        run=transactions,
        needs="store",
    ),
)
