"""What calls of the management API leave, so that repeating one does nothing twice."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from storage import Collection, Record


class MadeCall(Record):
    """A call that was made under an Idempotency-Key; its id is the digest of caller and key.

    It is stored in the unit of what the call did, with its answer. Secrets are left out there; the
    whole answer of a call that `has_secret` is in its `MadeSecret`. `made_id` is what it made or
    changed. Only a worker of version 0.1 stores one without an answer, and adds that later.
    """

    request_digest: str
    made_at: datetime
    expires_at: datetime
    sealed_answer: str | None = None
    has_secret: bool = False
    made_id: str = ""


class MadeSecret(Record):
    """The whole answer of a call that was answered with a secret; its id is the call's."""

    sealed_answer: str
    expires_at: datetime


MADE_CALLS: Final = Collection("made_calls", MadeCall, expires=True)
MADE_SECRETS: Final = Collection("made_secrets", MadeSecret, expires=True)
