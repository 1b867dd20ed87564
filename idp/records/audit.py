"""The sealed streams of the audit log: their heads, and the key of their chains."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from storage import Collection, Record

EventStream = Literal["change", "access", "failure"]
CHAIN_KEY_ID: Final = "chain"


class AuditHead(Record):
    """The two ends of a stream of sealed events; the id is the stream's name.

    `position` and `chain` are those of the event that was sealed last, 0 and empty before the
    first. The fields of the floor are stored in an `AuditFloor`. Events are removed from
    `removable_from` on. `anchored_position` is the head that was logged last, at `anchored_at`.
    """

    position: int = 0
    chain: str = ""
    floor: int = 0
    floor_chain: str = ""
    floor_mac: str = ""
    removable_from: datetime | None = None
    removes_before: datetime | None = None
    anchored_position: int = 0
    anchored_at: datetime | None = None


class AuditFloor(Record):
    """The end of what retention has removed from the beginning of a stream; the id is the stream's
    name.

    `floor` and `floor_chain` are the position and the chain value of the last removed event;
    `floor_mac` authenticates both. Events before `removes_before` are removed, as the last event
    about the retention states.
    """

    floor: int = 0
    floor_chain: str = ""
    floor_mac: str = ""
    removes_before: datetime | None = None


class AuditKey(Record):
    """The random key of the chains, encrypted under the master key; there is one."""

    sealed_key: str
    created_at: datetime


AUDIT_HEADS: Final = Collection("audit_heads", AuditHead)
AUDIT_FLOORS: Final = Collection("audit_floors", AuditFloor)
AUDIT_KEYS: Final = Collection("audit_keys", AuditKey)
