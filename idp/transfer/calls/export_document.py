"""The document of an export: organizations with all their records, as a package for an import.

The document describes one consistent state of the store, whatever is written meanwhile. It is
written while the store is read, so that memory holds one record and a buffer.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, BinaryIO, Final

import msgspec
from msgspec import structs

from idp import changes
from idp.audit import events
from idp.audit.events import AuditEntry
from idp.changes import Change
from idp.foundation.errors import DeadlineExceeded, NotFound
from idp.records import INSTANCE_ID, INSTANCES, ORGANIZATIONS, Organization
from idp.schema.field_rules import Items, Name
from idp.schema.reading import Request
from idp.service import Service
from idp.transfer.kinds import KINDS, export_iteration
from idp.transfer.kinds.kind import ExportContext, RowKind
from storage import Reader

MAX_IDS: Final = 10_000
_BUFFER_BYTES: Final = 256 * 1024
_MAX_RECORDED_CHARACTERS: Final = 2000
_ROWS_BETWEEN_CHECKS: Final = 100


class ExportSelection(Request, frozen=True, kw_only=True):
    """The organizations to export, and the secrets to include.

    No named organization means all. `with_passwords` includes password hashes, and the digests of
    the secrets of applications and service users; `with_otp` includes the secrets of authenticator
    apps.
    """

    org_ids: Annotated[list[Name], Items(MAX_IDS)] = []
    excluded_org_ids: Annotated[list[Name], Items(MAX_IDS)] = []
    with_passwords: bool = False
    with_otp: bool = False


async def write(
    service: Service,
    actor: str,
    selection: ExportSelection,
    target: BinaryIO,
    seconds: float,
    destination: str,
) -> dict[str, int]:
    """Writes the document of an export into `target`, and records the export in the audit log,
    with the user `actor` and the `destination` of the document.

    Returns a dict with the number of organizations (`orgs`) and the number of rows by the name of
    their list. Raises NotFound if a selected organization does not exist, and DeadlineExceeded
    after more than `seconds`.
    """
    deadline = _Deadline(seconds)
    async with deadline.enforced():
        async with service.store.snapshot() as view:
            selected = await _selected(view, selection)
            context = ExportContext(
                service=service,
                view=view,
                with_passwords=selection.with_passwords,
                with_otp=selection.with_otp,
            )
            organizations = _organizations(view, selection, selected)
            counts = await _write(context, organizations, target, deadline)
        deadline.check()
        # Recorded before the document leaves the service.
        await _record(service, actor, selection, counts, destination)
    return counts


class _Deadline:
    """The time limit of an export."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends_at = time.monotonic() + seconds
        self._rows = 0

    @asynccontextmanager
    async def enforced(self) -> AsyncIterator[None]:
        """Cancels the block at the time limit. Raises DeadlineExceeded.

        A cancellation can be lost: Python 3.11 drops one that arrives together with a result. So
        the clock is also checked as rows are written, and at the end of the block.
        """
        try:
            async with asyncio.timeout(self._seconds) as limit:
                yield
        except TimeoutError:
            raise _deadline_exceeded() from None
        if limit.expired():
            raise _deadline_exceeded()

    def count_row(self) -> None:
        """Counts a row, and checks the clock after a fixed number of them. Raises
        DeadlineExceeded."""
        self._rows += 1
        if self._rows % _ROWS_BETWEEN_CHECKS == 0:
            self.check()

    def check(self) -> None:
        """Raises DeadlineExceeded when the time limit has passed."""
        if time.monotonic() > self._ends_at:
            raise _deadline_exceeded()


def _deadline_exceeded() -> DeadlineExceeded:
    return DeadlineExceeded("the export took longer than its timeout")


async def _selected(view: Reader, selection: ExportSelection) -> list[Organization]:
    """Returns the named organizations in the order of their ids. Raises NotFound."""
    id_lists = {"orgIds": selection.org_ids, "excludedOrgIds": selection.excluded_org_ids}
    organizations = {
        name: await _read_organizations(view, name, ids) for name, ids in id_lists.items()
    }
    by_id = {each.id: each for each in organizations["orgIds"]}
    return [by_id[org_id] for org_id in sorted(by_id)]


async def _read_organizations(view: Reader, name: str, ids: Sequence[str]) -> list[Organization]:
    """Returns the organizations with these ids.

    Raises NotFound for an unknown one: a wrong id in the exclusions would otherwise export the
    organization that should be excluded.
    """
    organizations = await view.get_many([(ORGANIZATIONS, org_id) for org_id in ids])
    if None in organizations:
        message, field = "there is no such organization", f"{name}[{organizations.index(None)}]"
        raise NotFound(message, error_code="organization.not_found", field=field)
    return organizations


async def _organizations(
    view: Reader, selection: ExportSelection, selected: Sequence[Organization]
) -> AsyncIterator[Organization]:
    excluded = frozenset(selection.excluded_org_ids)
    for each in selected:
        if each.id not in excluded:
            yield each
    if not selection.org_ids:
        async for each in view.scan(ORGANIZATIONS):
            if each.id not in excluded:
                yield each


async def _write(
    context: ExportContext,
    organizations: AsyncIterator[Organization],
    target: BinaryIO,
    deadline: _Deadline,
) -> dict[str, int]:
    counts: Counter[str] = Counter(orgs=0)
    writer = _BufferedWriter(target)
    await writer.write(b'{"orgs":[')
    async for organization in organizations:
        org_id = msgspec.json.encode(organization.id)
        await writer.write((b"," if counts["orgs"] else b"") + b'{"orgId":' + org_id)
        counts["orgs"] += 1
        deadline.count_row()
        policies = await export_iteration.own_policies(context.view, organization)
        organization_context = structs.replace(context, policies=policies)
        for kind in KINDS:
            if kind.export is not None:
                rows = kind.export(organization_context, organization)
                counts[kind.member] += await _write_kind(writer, kind, rows, deadline)
        await writer.write(b"}")
    await writer.write(b"]}")
    await writer.flush()
    return {name: number for name, number in counts.items() if number or name == "orgs"}


async def _write_kind(
    writer: _BufferedWriter,
    kind: RowKind,
    rows: AsyncIterator[dict[str, Any]],
    deadline: _Deadline,
) -> int:
    """Writes the rows of one list, if there are any; returns their number."""
    number = 0
    async for row in rows:
        list_start = f',"{kind.member}":{"" if kind.is_single else "["}'.encode()
        await writer.write((b"," if number else list_start) + msgspec.json.encode(row))
        number += 1
        deadline.count_row()
    if number and not kind.is_single:
        await writer.write(b"]")
    return number


class _BufferedWriter:
    """Writes to a file outside of the event loop, one buffer at a time."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._buffer = bytearray()

    async def write(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) > _BUFFER_BYTES:
            await self.flush()

    async def flush(self) -> None:
        data, self._buffer = bytes(self._buffer), bytearray()
        await asyncio.to_thread(self._write, data)

    def _write(self, data: bytes) -> None:
        self._target.write(data)
        self._target.flush()  # so that a full disk fails the export, not the response


async def _record(
    service: Service,
    actor: str,
    selection: ExportSelection,
    counts: Mapping[str, int],
    destination: str,
) -> None:
    """Stores the event, in a unit that increments the sequence of the installation's record."""
    payload = {name: str(number) for name, number in counts.items()} | {
        "organizations": ",".join(selection.org_ids)[:_MAX_RECORDED_CHARACTERS],
        "excluded": ",".join(selection.excluded_org_ids)[:_MAX_RECORDED_CHARACTERS],
        "with_passwords": str(selection.with_passwords).lower(),
        "with_otp": str(selection.with_otp).lower(),
        "destination": destination[:_MAX_RECORDED_CHARACTERS],
    }

    async def plan() -> Change[None]:
        instance = await service.store.get(INSTANCES, INSTANCE_ID)
        if instance is None:
            raise NotFound("there is no installation yet")
        entry = AuditEntry(
            "export.made", actor, service.clock.now(), instance.org_id, payload=payload
        )
        writes = events.update(service.random, INSTANCES, instance, {}, entry)
        return Change(None, writes)

    await changes.commit(service, plan)
