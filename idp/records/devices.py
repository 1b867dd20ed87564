"""Device authorization: devices without a browser, which wait for a user (RFC 8628)."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from idp.records.browsers import SHORT_RETENTION
from storage import Collection, Record


class DeviceRequest(Record):
    """A device's request to be signed in by a user in some browser (RFC 8628 3.1).

    Its device code consists of the id and a secret. `ends_at` is the end of its codes; the record
    outlives them, so that a late user gets the right message. `flow_id` is the sign-in in the one
    browser where the user code was entered. A poll is allowed `interval_seconds` after
    `polled_at`. The resulting authorization has the same id. `unanswered_at` is a `redeemed_at`
    whose tokens reached no one.
    """

    client_id: str
    scopes: list[str]
    secret_hash: str
    interval_seconds: int
    created_at: datetime
    ends_at: datetime
    expires_at: datetime
    polled_at: datetime | None = None
    flow_id: str | None = None
    decided_at: datetime | None = None
    is_allowed: bool = False
    redeemed_at: datetime | None = None
    unanswered_at: datetime | None = None


class UserCode(Record):
    """A user code that is in use, and the device request it belongs to; the id is the code's keyed
    digest.
    """

    device_id: str
    expires_at: datetime


DEVICE_REQUESTS: Final = Collection(
    "device_requests", DeviceRequest, expires=True, retention=SHORT_RETENTION
)
USER_CODES: Final = Collection("user_codes", UserCode, expires=True, retention=SHORT_RETENTION)
