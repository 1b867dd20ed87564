"""Organizations with all their records as one document: a package that an import reads.

It is one consistent state of the store, whatever is written meanwhile, and is written as it is
read: memory holds one record and a buffer.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated, Any, BinaryIO, Final

import msgspec

from idp.audit import events, versioned_updates
from idp.audit.events import AuditEntry
from idp.foundation.errors import DeadlineExceeded, NotFound
from idp.records import INSTANCE_ID, INSTANCES, ORGANIZATIONS, Organization
from idp.schema.field_rules import Items, Name
from idp.schema.reading import Request
from idp.service import Service
from idp.transfer.kinds import KINDS
from idp.transfer.kinds.kind import ExportContext, RowKind
from storage import Update, View
from storage.settling import commit_settled

MAX_IDS: Final = 10_000
_BUFFER_BYTES: Final = 256 * 1024
_MAX_TOLD: Final = 2000
_ROWS_BETWEEN_LOOKS: Final = 100


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
    wanted: ExportSelection,
    target: BinaryIO,
    seconds: float,
    destination: str,
) -> dict[str, int]:
    """Writes the document into a file, and records the export and its destination in the audit
    log.

    Returns the number of organizations (`orgs`), and of rows of each list. Raises NotFound if a
    named organization does not exist, and DeadlineExceeded after more than `seconds`.
    """
    deadline = _Deadline(seconds)
    try:
        async with asyncio.timeout(seconds) as limit:
            async with service.store.snapshot() as view:
                chosen = await _chosen(view, wanted)
                telling = ExportContext(
                    service=service,
                    view=view,
                    with_passwords=wanted.with_passwords,
                    with_otp=wanted.with_otp,
                )
                organizations = _organizations(view, wanted, chosen)
                counts = await _write(telling, organizations, target, deadline)
            deadline.check()
            # Recorded before the document leaves the service.
            await _note(service, actor, wanted, counts, destination)
    except TimeoutError:
        raise _too_late() from None
    # The cancellation may have been lost: see `_Deadline`.
    if limit.expired():
        raise _too_late()
    return counts


def _too_late() -> DeadlineExceeded:
    return DeadlineExceeded("the export took longer than its timeout")


class _Deadline:
    """The end of the time for an export, checked as rows are written.

    A cancellation, by which `asyncio.timeout` ends a long operation, can be lost: Python 3.11
    drops one that arrives together with a result.
    """

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._rows = 0

    def pass_row(self) -> None:
        """Checks the clock once every so many rows. Raises DeadlineExceeded."""
        self._rows += 1
        if self._rows % _ROWS_BETWEEN_LOOKS == 0:
            self.check()

    def check(self) -> None:
        """Raises DeadlineExceeded when the time is over."""
        if time.monotonic() > self._until:
            raise _too_late()


async def _chosen(view: View, wanted: ExportSelection) -> list[Organization]:
    """Returns the named organizations in the order of their ids. Raises NotFound."""
    named = {"orgIds": wanted.org_ids, "excludedOrgIds": wanted.excluded_org_ids}
    found = {name: await _named(view, name, ids) for name, ids in named.items()}
    by_id = {each.id: each for each in found["orgIds"]}
    return [by_id[id] for id in sorted(by_id)]


async def _named(view: View, name: str, ids: Sequence[str]) -> list[Organization]:
    """Returns the organizations with these ids.

    Raises NotFound for an unknown one: a wrong id in the exclusions would otherwise export the
    organization that was meant.
    """
    found = await view.get_many([(ORGANIZATIONS, id) for id in ids])
    if None in found:
        told, at = "there is no such organization", f"{name}[{found.index(None)}]"
        raise NotFound(told, error_code="organization.not_found", field=at)
    return found


async def _organizations(
    view: View, wanted: ExportSelection, chosen: Sequence[Organization]
) -> AsyncIterator[Organization]:
    excluded = frozenset(wanted.excluded_org_ids)
    for each in chosen:
        if each.id not in excluded:
            yield each
    if not wanted.org_ids:
        async for each in view.scan(ORGANIZATIONS):
            if each.id not in excluded:
                yield each


async def _write(
    telling: ExportContext,
    organizations: AsyncIterator[Organization],
    target: BinaryIO,
    deadline: _Deadline,
) -> dict[str, int]:
    counts: Counter[str] = Counter(orgs=0)
    pen = _Pen(target)
    await pen.write(b'{"orgs":[')
    async for organization in organizations:
        id = msgspec.json.encode(organization.id)
        await pen.write((b"," if counts["orgs"] else b"") + b'{"orgId":' + id)
        counts["orgs"] += 1
        deadline.pass_row()
        for kind in KINDS:
            if kind.tell is not None:
                rows = kind.tell(telling, organization)
                counts[kind.member] += await _write_kind(pen, kind, rows, deadline)
        await pen.write(b"}")
    await pen.write(b"]}")
    await pen.flush()
    return {name: number for name, number in counts.items() if number or name == "orgs"}


async def _write_kind(
    pen: _Pen, kind: RowKind, rows: AsyncIterator[dict[str, Any]], deadline: _Deadline
) -> int:
    """Writes the rows of one list, if there are any; returns their number."""
    number = 0
    async for row in rows:
        opening = f',"{kind.member}":{"" if kind.is_single else "["}'.encode()
        await pen.write((b"," if number else opening) + msgspec.json.encode(row))
        number += 1
        deadline.pass_row()
    if number and not kind.is_single:
        await pen.write(b"]")
    return number


class _Pen:
    """Writes to a file outside of the event loop, one buffer at a time."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._buffer = bytearray()

    async def write(self, octets: bytes) -> None:
        self._buffer += octets
        if len(self._buffer) > _BUFFER_BYTES:
            await self.flush()

    async def flush(self) -> None:
        octets, self._buffer = bytes(self._buffer), bytearray()
        await asyncio.to_thread(self._target.write, octets)


async def _note(
    service: Service,
    actor: str,
    wanted: ExportSelection,
    counts: Mapping[str, int],
    destination: str,
) -> None:
    """Records the event, in a unit with a step of the installation's record."""
    payload = {name: str(number) for name, number in counts.items()} | {
        "organizations": ",".join(wanted.org_ids)[:_MAX_TOLD],
        "excluded": ",".join(wanted.excluded_org_ids)[:_MAX_TOLD],
        "with_passwords": str(wanted.with_passwords).lower(),
        "with_otp": str(wanted.with_otp).lower(),
        "destination": destination[:_MAX_TOLD],
    }

    async def attempt() -> None:
        instance = await service.store.get(INSTANCES, INSTANCE_ID)
        if instance is None:
            raise NotFound("there is no installation yet")
        step = Update(
            INSTANCES,
            instance.id,
            increment={"sequence": 1},
            expect={"sequence": instance.sequence},
        )
        entry = AuditEntry(
            "export.made", actor, service.clock.now(), instance.org_id, payload=payload
        )
        event = events.changed(service.random, INSTANCES, instance, entry)
        await commit_settled(service.store, step, event)

    await versioned_updates.repeated(attempt)
