"""The applications that are notified of the end of a session, and the messages to them."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from storage import Collection, Record


class SessionClient(Record):
    """A client at which a session signed its user in, and which is notified of the session's end.

    It is stored as long as the session's record, and so longer than the tokens of the client. Its
    id is the digest of the session's and the client's.
    """

    session_id: str
    client_id: str
    expires_at: datetime


class LogoutMessage(Record):
    """A logout token that is to be sent to a client; its id is the token's `jti`.

    The process that increments `attempts` makes the next attempt and has until `due_at` for it;
    then any process may make another one.
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
