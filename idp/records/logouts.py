"""Which applications have to hear of a session's end, and what they are still to be told."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from storage import Collection, Record


class SessionClient(Record):
    """A client that a session signed its user in at, and that wants to hear of the session's end.

    It lasts as long as the session's record, and so longer than what the client was issued. Its
    id is the digest of both.
    """

    session_id: str
    client_id: str
    expires_at: datetime


class LogoutMessage(Record):
    """A logout token that a client is to be sent; its id is the token's `jti`.

    Whoever counts `attempts` up makes the next one, and has until `due_at` for it: then the
    message is anybody's again.
    """

    session_id: str
    user_id: str
    client_id: str
    created_at: datetime
    due_at: datetime
    expires_at: datetime
    attempts: int = 0
    state: Literal["waiting", "delivered", "refused", "failed"] = "waiting"


SESSION_CLIENTS: Final = Collection(
    "session_clients", SessionClient, lists=(("session_id", "client_id"),), expires=True
)
LOGOUT_MESSAGES: Final = Collection(
    "logout_messages", LogoutMessage, lists=(("state", "due_at"),), expires=True
)
