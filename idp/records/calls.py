"""What calls of the management API leave, so that repeating one does nothing twice."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from storage import Collection, Record


class MadeCall(Record):
    """A call that was made under an Idempotency-Key; its id is the digest of caller and key.

    It is stored in the unit of what the call did. `sealed_answer` may hold secrets; without one
    the call is under way, or its answer was lost.
    """

    request_digest: str
    made_at: datetime
    expires_at: datetime
    sealed_answer: str | None = None


MADE_CALLS: Final = Collection("made_calls", MadeCall, expires=True)
