"""Tests of connections: sign-ins by a connection that change no user."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from storage import Collection, Record


class ConnectionTest(Record):
    """The test of a connection, which `created_by` has started.

    `key_digest` is that of the secret in the address by which a browser begins the sign-in, until
    `ends_at`. `answered_at` is when the first answer of the provider came in: the test is used up
    then. `sealed_result` holds the claims of a person; it is there once that answer is processed.
    `org_id` is the owner of the connection.
    """

    connection_id: str
    key_digest: str
    created_by: str
    created_at: datetime
    ends_at: datetime
    expires_at: datetime
    org_id: str | None = None
    answered_at: datetime | None = None
    sealed_result: str | None = None
    sequence: int = 1


CONNECTION_TESTS: Final = Collection(
    "connection_tests", ConnectionTest, expires=True, retention=timedelta(hours=1)
)
