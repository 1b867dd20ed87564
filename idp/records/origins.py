"""Web origins by which applications are found: a browser's preflight contains nothing else."""

from __future__ import annotations

from typing import Final

from storage import Collection, Record


class ClientOrigin(Record):
    """An origin that an application has registered; its id is the digest of both."""

    origin: str
    client_id: str


CLIENT_ORIGINS: Final = Collection("client_origins", ClientOrigin, lists=(("origin",),))
