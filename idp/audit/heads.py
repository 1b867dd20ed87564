"""The heads of the streams with their floors, which are records of their own: a head is written by
the sealing alone and a floor by the retention alone, so that neither waits for the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from idp.audit.event_types import STREAMS
from idp.records import AUDIT_FLOORS, AUDIT_HEADS, AuditFloor, AuditHead
from storage import Key

KEYS: Final[Sequence[Key]] = (
    *((AUDIT_HEADS, name) for name in STREAMS),
    *((AUDIT_FLOORS, name) for name in STREAMS),
)


def merged(
    records: Sequence[AuditHead | AuditFloor | None],
) -> list[AuditHead | None]:
    """Returns the heads of the streams, in the order of `STREAMS`, from the records of `KEYS`:
    each with its floor, None for a head that is not stored."""
    heads, floors = records[: len(STREAMS)], records[len(STREAMS) :]
    return [_with_floor(head, floor) for head, floor in zip(heads, floors, strict=True)]


def floor_of(head: AuditHead) -> AuditFloor:
    """Returns the floor of a head as it is stored."""
    names = AuditFloor.__struct_fields__
    return AuditFloor(**{name: getattr(head, name) for name in names})


def _with_floor(head: object, floor: object) -> AuditHead | None:
    if not isinstance(head, AuditHead):
        return None
    # Stores of earlier versions have the floor in the head, and such a version may still run.
    if not isinstance(floor, AuditFloor) or floor.floor < head.floor:
        return head
    return structs.replace(head, **structs.asdict(floor))
