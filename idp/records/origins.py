"""Web origins by which applications are found: a browser's preflight request names no client."""

from __future__ import annotations

from typing import Final

from storage import Collection, Record


class ClientOrigin(Record):
    """A web origin that an application has registered; its id is the digest of the application's
    and the origin.
    """

    origin: str
    client_id: str


CLIENT_ORIGINS: Final = Collection("client_origins", ClientOrigin, lists=(("origin",),))
