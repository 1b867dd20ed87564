"""Encrypts what a former master key has encrypted with the one in charge, in the background.

It begins once no process encrypts with the former key any more, and nothing is left of what people
hold that was encrypted with it: the addresses of sign-ins and logouts in progress, and cookies of
resets and of sign-ins at other providers, which are valid for less time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.config.settings import Config
from idp.foundation import logs
from idp.keys.master_key import WrongKey
from idp.oauth import key_rotation
from idp.oauth.endpoints import end_session, sealed_requests
from idp.records import INSTANCE_ID, INSTANCES, Instance
from idp.records.instance import MasterKeyReplacement
from idp.records.sealed_fields import SEALED_FIELDS, SealedField
from idp.service import Service
from idp.start import first_start, master_keys
from storage import Record, Stale, Update
from storage.lists import value_at

EVERY_SECONDS: Final = 60
_PAGE: Final = 100
_RUN_SECONDS: Final = 20.0

_log: Final = logs.logger(__name__)


def begins_at(config: Config, replacement: MasterKeyReplacement) -> datetime:
    """Returns the instant from which records are encrypted again."""
    held = max(timedelta(seconds=config.sign_in_seconds), end_session.LIFETIME)
    return replacement.began_at + held + sealed_requests.EXTRA_LIFETIME


async def has_work(service: Service) -> bool:
    """Returns whether there may be records to encrypt again now. The store is read only if the
    process has another key."""
    if service.master_key.is_only_one:
        return False
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is None or instance.key_replacement is None:
        return False
    return begins_at(service.config, instance.key_replacement) <= service.clock.now()


async def reseal(service: Service) -> None:
    """Encrypts records again for a bounded time, and ends the replacement after the last ones.

    It may be interrupted anywhere. Raises StorageError; ConfigError if the process is not given
    both keys.
    """
    await master_keys.follow(service)
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is None or instance.key_replacement is None:
        return
    replacement = instance.key_replacement
    ends_at = service.timer.monotonic() + _RUN_SECONDS
    for name, fields in _fields_by_collection().items():
        if name >= replacement.collection:
            if not await _reseal_collection(service, fields, replacement, ends_at):
                return
    await _end(service, instance, replacement)


def _fields_by_collection() -> Mapping[str, list[SealedField]]:
    """Returns the fields by the names of their collections, in the order of the names."""
    by_name: dict[str, list[SealedField]] = defaultdict(list)
    for field in sorted(SEALED_FIELDS, key=lambda each: each.collection.name):
        by_name[field.collection.name].append(field)
    return by_name


async def _reseal_collection(
    service: Service, fields: list[SealedField], replacement: MasterKeyReplacement, ends_at: float
) -> bool:
    """Continues with a collection; returns whether its end was reached in time."""
    collection = fields[0].collection
    after = replacement.after if collection.name == replacement.collection else None
    while True:
        cursor = None if after is None else (None, after)
        page = await service.store.find(collection, limit=_PAGE, after=cursor)
        await _reseal_records(service, fields, page.records)
        if page.after is None:
            return True
        after = page.after[1]
        await service.store.commit(_position(replacement, collection.name, after))
        if service.timer.monotonic() >= ends_at:
            return False


def _position(replacement: MasterKeyReplacement, collection: str, after: str) -> Update:
    """Returns the write that stores how far the records are encrypted again."""
    changes = {"key_replacement.collection": collection, "key_replacement.after": after}
    expected = {"key_replacement.old_key_check": replacement.old_key_check}
    return Update(INSTANCES, INSTANCE_ID, set=changes, expect=expected)


async def _reseal_records(
    service: Service, fields: list[SealedField], records: Sequence[Record]
) -> None:
    """Encrypts the fields of these records again, and once more those that change meanwhile."""
    while records:
        updates = [
            update
            for record in records
            for field in fields
            if (update := _update(service, field, record))
        ]
        outcomes = await service.store.commit_each([[update] for update in updates])
        for error in outcomes:
            if error is not None and not isinstance(error, Stale):
                raise error
        changed = {
            (update.collection, update.id)
            for update, error in zip(updates, outcomes, strict=True)
            if error is not None
        }
        reread = await service.store.get_many(list(changed))
        records = [record for record in reread if record is not None]


def _update(service: Service, field: SealedField, record: Record) -> Update | None:
    """Returns the write that encrypts a field again if it is as in `record`; None if it need not
    be."""
    sealed = value_at(record, field.path)
    resealed = _resealed(service, field, record.id, sealed) if sealed else None
    if resealed is None:
        return None
    changes, expected = {field.path: resealed}, {field.path: sealed}
    return Update(field.collection, record.id, set=changes, expect=expected)


def _resealed(service: Service, field: SealedField, record_id: str, sealed: str) -> str | None:
    """Returns the value encrypted again; None if it need not or can't be."""
    try:
        return service.master_key.resealed(sealed, field.purpose)
    except WrongKey:
        _log.error(
            "a stored value can't be opened with any master key: it was altered",
            collection=field.collection.name,
            record_id=record_id,
            field=field.path,
        )
        return None


async def _end(service: Service, instance: Instance, replacement: MasterKeyReplacement) -> None:
    """Stores that the former key is not needed any more, with an event."""
    changes = {
        "key_replacement": None,
        "replaced_key_checks": [*instance.replaced_key_checks, replacement.old_key_check],
    }
    entry = AuditEntry("instance.master_key_rotated", key_rotation.SCHEDULE, service.clock.now())
    writes = events.update(service.random, INSTANCES, instance, changes, entry)
    with suppress(Stale):  # a switch of the installation was changed: the next run ends it
        await service.store.commit(*writes)
        _log.info("the master key was replaced: nothing needs the former one any more")


class Status(Struct, frozen=True, rename="camel"):
    """The fingerprints of the master keys, and for each collection how many records have a value
    that the key in charge can't open.

    While the key is replaced, `former` is the earlier one, and records are encrypted again from
    `begins_at` on; `replaced` are those that nothing needs.
    """

    in_charge: str
    former: str | None
    begins_at: datetime | None
    replaced: list[str]
    counts: dict[str, int]


async def status(service: Service) -> Status:
    """Returns how far a replacement of the master key is. Every record that may have an encrypted
    value is read."""
    instance = await first_start.ensure_instance(service)
    replacement = instance.key_replacement
    return Status(
        in_charge=master_keys.in_charge(instance),
        former=replacement.old_key_check if replacement else None,
        begins_at=begins_at(service.config, replacement) if replacement else None,
        replaced=instance.replaced_key_checks,
        counts=await _counts(service),
    )


async def _counts(service: Service) -> dict[str, int]:
    found: Counter[str] = Counter()
    for name, fields in _fields_by_collection().items():
        async for record in service.store.scan(fields[0].collection):
            found[name] += any(_is_to_reseal(service, field, record) for field in fields)
    return {name: count for name, count in found.items() if count}


def _is_to_reseal(service: Service, field: SealedField, record: Record) -> bool:
    sealed = value_at(record, field.path) or ""
    return sealed != "" and not service.master_key.is_by_key_in_charge(sealed, field.purpose)
