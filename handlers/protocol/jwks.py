"""GET /oauth/v2/keys: the public signing keys (RFC 7517 5)."""

from __future__ import annotations

from handlers.http.cors import SharedHandler
from idp.keys.key_ring import PUBLISHED_CACHE_SECONDS
from idp.limits.admission import PUBLIC
from idp.oauth.paths import KEYS


class KeysHandler(SharedHandler):
    """The JSON Web Key Set. Clients may cache it for 300 s, so a new key signs nothing before that
    time has passed."""

    group = PUBLIC
    any_origin = True

    async def get(self) -> None:
        self._key_set = await self.service.keys.key_set()
        cache_control = f"public, max-age={PUBLISHED_CACHE_SECONDS}, must-revalidate"
        self.set_header("Cache-Control", cache_control)
        # The default value would contradict Cache-Control.
        self.clear_header("Pragma")
        self.set_header("Content-Type", "application/json")
        self.finish(self._key_set.body)

    head = get

    def compute_etag(self) -> str:
        """Returns the ETag: a client that has this key set gets status 304."""
        return self._key_set.etag


ROUTES = [(KEYS, KeysHandler)]
