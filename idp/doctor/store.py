"""Checks of the store: that it answers, matches this program and its master key, and has the
right time."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from idp.doctor.check import (
    MAX_NAMED,
    DoctorCheck,
    Finding,
    Installation,
    fail,
    ok,
    skipped,
    warn,
)
from idp.foundation.errors import ConfigError
from idp.foundation.i18n import Message
from idp.foundation.randomness import SystemRandom
from idp.keys import master_key as key_master_key
from idp.keys.master_key import MasterKey
from idp.records import ALL, INSTANCE_ID, INSTANCES, SCHEMA
from idp.start import first_start
from storage import META, SCHEMA_ID, StorageError
from storage.codec import instant_text
from storage.upgrades import opening, pending

_SECONDS_WARN: Final = timedelta(seconds=1)
_SECONDS_FAIL: Final = timedelta(seconds=5)
_UNCONFIRMED_SECONDS: Final = 10


async def reach(installation: Installation) -> Finding:
    """Checks that the store can be reached."""
    if installation.config.is_in_memory:
        return skipped("a store in memory can be read by the service alone")
    if installation.store is None:
        return fail(installation.store_problem)
    await installation.store.ping()
    return ok("the store answers")


async def schema(installation: Installation) -> Finding:
    """Checks that this program can use the store, and that no upgrade step is pending."""
    record = await installation.opened.get(META, SCHEMA_ID)
    if record is None:
        return fail("there is no installation in this store", fix="See --data and --store.")
    try:
        opening(record, SCHEMA)
    except StorageError as error:
        return fail(str(error), fix="Use the release of the program that wrote the store.")
    steps = pending(record, SCHEMA)
    if steps:
        return warn(f"{len(steps)} upgrade steps are pending", "idp schema upgrade")
    return ok(f"the store has version {record.version}, and no upgrade step is pending")


async def key(installation: Installation) -> Finding:
    """Checks that the store was created with the present master key."""
    instance = await installation.opened.get(INSTANCES, INSTANCE_ID)
    if instance is None:
        return skipped("there is no installation in this store")
    config = installation.config
    try:
        master_key = key_master_key.master_key(
            config.data_dir,
            SystemRandom(),
            text=config.master_key,
            file=config.master_key_file,
            may_create=False,  # a check only reads
        )
        first_start.check_key(instance, MasterKey(master_key))
    except ConfigError as error:
        return fail(" ".join(error.problems))
    return ok("the store was made with this master key")


async def clock(installation: Installation) -> Finding:
    """Checks that the clocks of the store's server and of this machine agree."""
    before = installation.wall_clock.now()
    server_time = await installation.opened.server_time()
    after = installation.wall_clock.now()
    if server_time is None:
        return skipped("the store has the clock of this machine")
    # The server read its clock about half a round trip after the question was sent.
    difference = abs(server_time - (before + (after - before) / 2))
    text = (
        f"the clocks of the store and of this machine are {difference.total_seconds():.1f} s apart"
    )
    if difference > _SECONDS_FAIL:
        return fail(text)
    if difference > _SECONDS_WARN:
        return warn(text)
    return ok(text)


async def indexes(installation: Installation) -> Finding:
    """Checks that every table and index by which this program reads exists."""
    missing = await installation.opened.missing_indexes(ALL)
    if not missing:
        return ok("every table and index exists")
    return Finding(
        "fail",
        "missing tables and indexes",
        names=missing[:MAX_NAMED],
        count=len(missing),
    )


async def unfinished_writes(installation: Installation) -> Finding:
    """Checks that no restore into the store was interrupted, and that a majority of the servers
    has every write.
    """
    record = await installation.opened.get(META, SCHEMA_ID)
    now = installation.clock.now()
    if record is not None and record.filled_since is not None:
        since = instant_text(record.filled_since)
        if record.held_until is not None and record.held_until > now:
            return warn(f"the store has been filled from a backup since {since}")
        return fail(
            f"the store is incomplete: a restore that began at {since} was interrupted",
            fix="Remove this store, and restore the backup again into an empty one.",
        )
    state = await installation.opened.server_state()
    if state is None:
        return ok("every write is in the file or its log")
    text = f"a majority has every write but those of the last {state.unconfirmed_seconds:.0f} s"
    return warn(text) if state.unconfirmed_seconds > _UNCONFIRMED_SECONDS else ok(text)


CHECKS: Final = (
    DoctorCheck(
        id="store.reach",
        area="store",
        about=Message("The store can be reached."),
        fix=Message("Check that the server runs, and that the setting store names it."),
        run=reach,
    ),
    DoctorCheck(
        id="store.schema",
        area="store",
        about=Message("The store has the schema version of this program."),
        fix=Message("Finish the upgrade; a start of the service does it, too."),
        run=schema,
        needs="store",
    ),
    DoctorCheck(
        id="store.key",
        area="store",
        about=Message("The master key and the store belong together."),
        fix=Message("Restore the master key that belongs to this store from its backup."),
        run=key,
        needs="records",
    ),
    DoctorCheck(
        id="store.clock",
        area="store",
        about=Message(
            "The store's clock is right: more than 1 s apart is a warning, 5 s a failure."
        ),
        fix=Message("Synchronize the clocks of both machines with the same NTP servers."),
        run=clock,
        needs="store",
    ),
    DoctorCheck(
        id="store.indexes",
        area="store",
        about=Message("Every table and index of this program is in the store."),
        fix=Message("Restart the service: a start creates what is missing, which can take long."),
        run=indexes,
        needs="store",
    ),
    DoctorCheck(
        id="store.unsettled",
        area="store",
        about=Message("No restore was interrupted, and a majority has each write after 10 s."),
        fix=Message("Check that all members of the replica set run and can reach each other."),
        run=unfinished_writes,
        needs="store",
    ),
)
