"""Gauges of the store's content, and of the files that a service needs: one process sets them for
all. The store is queried a fixed number of times, and never counts further than `MAX_COUNT`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from cryptography import x509

from idp.audit import sealing
from idp.backup import series
from idp.config.settings import Config
from idp.foundation import logs, metrics
from idp.foundation.errors import ConfigError, IdpError
from idp.records import LOGOUT_MESSAGES, OUTBOX, SIGNING_KEYS, MailState
from idp.service import Service
from storage import StorageError

MAX_COUNT: Final = 10_000
_EVERY_SECONDS: Final = 15.0
_STATES: Final[tuple[MailState, ...]] = ("queued", "failed")

_log: Final = logs.logger(__name__)


def coroutines(service: Service) -> Sequence[Coroutine[Any, Any, None]]:
    """Returns the coroutines that set the gauges in the process that does; none in another one."""
    return [_measure(service)] if metrics.process_name() == "0" else []


async def _measure(service: Service) -> None:
    while True:
        try:
            await measure(service)
        except (StorageError, IdpError) as error:
            _log.debug("the store can't be measured", cause=str(error))
        await asyncio.sleep(_EVERY_SECONDS)


async def measure(service: Service) -> None:
    """Sets all gauges. Raises StorageError."""
    config, now = service.config, service.clock.now()
    metrics.STORE_WRITABLE.set(not service.store.is_read_only)
    metrics.KEY_ROTATION.set(config.key_rotation_seconds)
    await asyncio.to_thread(_measure_files, config)
    await _measure_engine(service)
    await _measure_outbox(service, now)
    await _measure_logouts(service, now)
    await _measure_keys(service, now)
    await _measure_events(service, now)


async def _measure_engine(service: Service) -> None:
    kind = service.config.store.partition(":")[0].partition("+")[0] or "sqlite"
    metrics.STORE_INFO.set_only(kind, await service.store.engine_version())
    state = await service.store.file_state()
    if state is not None:
        metrics.SQLITE_BYTES.set(state.file_bytes, "database")
        metrics.SQLITE_BYTES.set(state.free_bytes, "free")
        metrics.SQLITE_BYTES.set(state.log_bytes, "wal")


async def _measure_outbox(service: Service, now: datetime) -> None:
    for state in _STATES:
        count = await service.store.count(OUTBOX, {"state": state}, up_to=MAX_COUNT)
        metrics.OUTBOX_MESSAGES.set(count, "message", state)
    page = await service.store.find(OUTBOX, {"state": "queued"}, order="created_at", limit=1)
    metrics.OUTBOX_OLDEST.set(_age(now, [each.created_at for each in page.records]), "message")


async def _measure_logouts(service: Service, now: datetime) -> None:
    where = {"state": "waiting"}
    count = await service.store.count(LOGOUT_MESSAGES, where, up_to=MAX_COUNT)
    metrics.OUTBOX_MESSAGES.set(count, "back_channel", "queued")
    page = await service.store.find(LOGOUT_MESSAGES, where, order="due_at", limit=1)
    metrics.OUTBOX_OLDEST.set(_age(now, [each.due_at for each in page.records]), "back_channel")


async def _measure_keys(service: Service, now: datetime) -> None:
    ages: dict[tuple[str, str], float] = {}
    async for key in service.store.scan(SIGNING_KEYS):
        if key.state != "removed":
            algorithm_and_state = key.algorithm, key.state
            ages[algorithm_and_state] = max(
                ages.get(algorithm_and_state, 0.0), (now - key.changed_at).total_seconds()
            )
    for algorithm in {algorithm for algorithm, _ in ages}:
        for state in ("next", "active", "retired"):
            metrics.KEY_AGE.set(ages.get((algorithm, state), 0.0), algorithm, state)


async def _measure_events(service: Service, now: datetime) -> None:
    unsealed = await sealing.unsealed(service, up_to=MAX_COUNT)
    metrics.AUDIT_UNSEALED.set(unsealed.number)
    metrics.AUDIT_UNSEALED_AGE.set(_age(now, [unsealed.oldest] if unsealed.oldest else []))


def _age(now: datetime, instants: Sequence[datetime]) -> float:
    """Returns how many seconds ago the first of the instants was; 0 if there is none."""
    return max([0.0, *((now - at).total_seconds() for at in instants)])


def _measure_files(config: Config) -> None:
    with suppress(OSError):
        disk = os.statvfs(config.data_dir)
        metrics.DISK_FREE.set(disk.f_bavail * disk.f_frsize)
        metrics.DISK_SIZE.set(disk.f_blocks * disk.f_frsize)
    if config.tls_cert is not None:
        with suppress(OSError, ValueError):
            certificate = x509.load_pem_x509_certificate(Path(config.tls_cert).read_bytes())
            metrics.CERTIFICATE_EXPIRY.set(certificate.not_valid_after_utc.timestamp())
    if config.backup_dir is not None:
        metrics.BACKUP_LAST_SUCCESS.set(_last_backup_at(Path(config.backup_dir)))


def _last_backup_at(directory: Path) -> float:
    """Returns when the newest backup was verified; 0 if there is none, or if it can't be read."""
    try:
        last_backup = series.read_last(directory)
    except ConfigError as error:
        _log.debug("the last backup can't be read", cause=str(error))
        return 0
    return last_backup.verified_at.timestamp() if last_backup else 0
