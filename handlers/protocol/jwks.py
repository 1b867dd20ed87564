"""The public keys, for whoever checks tokens (RFC 7517 5)."""

from __future__ import annotations

import hashlib

import msgspec

from handlers.http.cors import SharedHandler
from idp.keys.key_ring import PUBLISHED_CACHE_SECONDS
from idp.oauth.paths import KEYS


class KeysHandler(SharedHandler):
    """The key set. Clients may keep it for 300 s; no key signs before that time is over."""

    any_origin = True

    async def get(self) -> None:
        body = msgspec.json.encode({"keys": await self.service.keys.published()})
        kept = f"public, max-age={PUBLISHED_CACHE_SECONDS}, must-revalidate"
        self.set_header("Cache-Control", kept)
        self.clear_header("Pragma")
        self.set_header("Content-Type", "application/json")
        self.finish(body)

    head = get

    def compute_etag(self) -> str:
        """Changes with the keys; whoever has the current set is answered by 304."""
        return f'"{hashlib.sha256(b"".join(self._write_buffer)).hexdigest()[:32]}"'


ROUTES = [(KEYS, KeysHandler)]
