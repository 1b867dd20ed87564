"""Calls of the management API with an Idempotency-Key, so that a repeated call has no second
effect."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from storage import Collection, Record


class MadeCall(Record):
    """A call that was made with an Idempotency-Key; its id is the digest of caller and key.

    It is stored in the unit of the call's effects. `request_digest` is compared with that of a
    repeated call. `sealed_answer` is the answer without secrets, encrypted; if the call
    `has_secret`, its complete answer is in the `MadeSecret` of the same id. `made_id` is the
    record that the call created or changed. Only a worker of version 0.1 stores one without an
    answer, which it adds later.
    """

    request_digest: str
    made_at: datetime
    expires_at: datetime
    sealed_answer: str | None = None
    has_secret: bool = False
    made_id: str = ""


class MadeSecret(Record):
    """The complete answer of a call whose answer contains a secret; its id is the call's."""

    sealed_answer: str
    expires_at: datetime


MADE_CALLS: Final = Collection("made_calls", MadeCall, expires=True)
MADE_SECRETS: Final = Collection("made_secrets", MadeSecret, expires=True)
