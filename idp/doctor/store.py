"""Checks of the store: that it answers, matches this program and its master key, and has the
right time."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from idp.doctor.check import MAX_NAMED, DoctorCheck, Finding, Installation, fail, ok, skipped, warn
from idp.foundation.errors import ConfigError
from idp.foundation.i18n import Message
from idp.foundation.randomness import SystemRandom
from idp.keys.master_key import fingerprint
from idp.records import ALL, INSTANCE_ID, INSTANCES, SCHEMA, Instance
from idp.start import master_keys
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
    """Checks that the master keys are those with which the store can be read, and that none is
    there which nothing needs."""
    instance = await installation.opened.get(INSTANCES, INSTANCE_ID)
    if instance is None:
        return skipped("there is no installation in this store")
    try:
        keys = master_keys.given(installation.config, SystemRandom())  # a check creates none
        master_keys.needed(instance, keys)
    except ConfigError as error:
        return fail(" ".join(error.problems))
    return _key_finding(instance, [fingerprint(key) for key in keys])


def _key_finding(instance: Instance, fingerprints: list[str]) -> Finding:
    if instance.key_replacement is not None:
        return ok("the master key is being replaced: `idp keys master status` shows how far it is")
    if fingerprints[0] != master_keys.in_charge(instance):
        return warn(
            "the present master key is not the one in charge of the store",
            fix="Give the new key as master_key_file, and the former one as old_master_key_files"
            " if at all.",
        )
    if set(fingerprints).isdisjoint(instance.replaced_key_checks):
        return ok("the master key and the store belong together")
    return warn(
        "a former master key is still given, and nothing needs it",
        fix="Remove it from old_master_key_files, and its file.",
    )


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
        "fail", "missing tables and indexes", names=missing[:MAX_NAMED], count=len(missing)
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
        fix=Message("Check that --data or the setting store names it, and that its server runs."),
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
