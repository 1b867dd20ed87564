"""GET /oauth/v2/keys: the public signing keys (RFC 7517 5)."""

from __future__ import annotations

import hashlib

import msgspec

from handlers.http.admission import PUBLIC
from handlers.http.cors import SharedHandler
from idp.keys.key_ring import PUBLISHED_CACHE_SECONDS
from idp.oauth.paths import KEYS


class KeysHandler(SharedHandler):
    """The JSON Web Key Set. Clients may cache it for 300 s, so a new key signs nothing before that
    time has passed."""

    group = PUBLIC
    any_origin = True

    async def get(self) -> None:
        body = msgspec.json.encode({"keys": await self.service.keys.published()})
        caching = f"public, max-age={PUBLISHED_CACHE_SECONDS}, must-revalidate"
        self.set_header("Cache-Control", caching)
        # The default value would contradict Cache-Control.
        self.clear_header("Pragma")
        self.set_header("Content-Type", "application/json")
        self.finish(body)

    head = get

    def compute_etag(self) -> str:
        """Returns the ETag, a digest of the key set: a client that has this key set gets status
        304."""
        return f'"{hashlib.sha256(b"".join(self._write_buffer)).hexdigest()[:32]}"'


ROUTES = [(KEYS, KeysHandler)]
