"""GET /oauth/v2/keys: the public keys (RFC 7517 5)."""

from __future__ import annotations

import hashlib

import msgspec

from handlers.base import ProtocolHandler
from idp.oauth.discovery import KEYS
from idp.oauth.keys import PUBLISHED_CACHE_SECONDS


class KeysHandler(ProtocolHandler):
    """The key set. Clients may keep it for 300 s; no key signs before that time is over."""

    async def get(self) -> None:
        body = msgspec.json.encode({"keys": await self.service.keys.published()})
        kept = f"public, max-age={PUBLISHED_CACHE_SECONDS}, must-revalidate"
        self.set_header("Cache-Control", kept)
        self.clear_header("Pragma")
        self.set_header("Access-Control-Allow-Origin", "*")
        self.set_header("Content-Type", "application/json")
        self.finish(body)

    head = get

    def compute_etag(self) -> str:
        """Changes with the keys; whoever has the current set is answered by 304."""
        return f'"{hashlib.sha256(b"".join(self._write_buffer)).hexdigest()[:32]}"'


ROUTES = [(KEYS, KeysHandler)]
