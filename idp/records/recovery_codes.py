"""Recovery codes: what people keep on paper for the day when their second factor is gone."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from storage import Collection, Record


class RecoveryCode(Record):
    """The id is the keyed digest of the code and its user; it counts once."""

    user_id: str
    created_at: datetime
    used_at: datetime | None = None


RECOVERY_CODES: Final = Collection("recovery_codes", RecoveryCode, lists=(("user_id",),))
