"""Refused protocol requests, which are recorded for `idp explain`."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec import Struct

from storage import Collection, Record


class SentParameter(Struct, kw_only=True):
    """A parameter or header of a refused request, as far as it may be displayed: its `value`, or
    None and a `note` about it, such as its length."""

    name: str
    value: str | None = None
    note: str | None = None


class MadeCheck(Struct, kw_only=True):
    """A check that was made of a protocol request, and its result."""

    name: str
    says: str
    passed: bool


class Refusal(Record):
    """A protocol request that was refused: its parameters (without secrets), the checks that were
    made, and the error.

    Several may share a `request_id`, because a caller may send its own. `told` is the text for the
    client (empty if the answer was a page), `sentence` the administrator's text of the refusal,
    and `registered` the values that the sent one was compared with.
    """

    request_id: str
    endpoint: str
    method: str
    error: str
    told: str
    sentence: str
    created_at: datetime
    expires_at: datetime
    client_id: str | None = None
    sent: list[SentParameter] = []
    registered: list[str] = []
    checks: list[MadeCheck] = []
    rule: str = ""
    fix: str = ""


REFUSALS: Final = Collection(
    "refusals",
    Refusal,
    lists=(("request_id", "created_at"), ("client_id", "created_at"), ("created_at",)),
    expires=True,
)
