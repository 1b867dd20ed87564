"""Recovery codes, by which users sign in when their second factor is lost."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from storage import Collection, Record


class RecoveryCode(Record):
    """A single-use code; the id is the keyed digest of the code and its user."""

    user_id: str
    created_at: datetime
    used_at: datetime | None = None


RECOVERY_CODES: Final = Collection("recovery_codes", RecoveryCode, lists=(("user_id",),))
