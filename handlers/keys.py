"""GET /oauth/v2/keys: the public keys (RFC 7517 5)."""

from __future__ import annotations

import hashlib

import msgspec

from handlers.base import ProtocolHandler
from idp.oauth.discovery import KEYS


class KeysHandler(ProtocolHandler):
    """The key set. Clients may keep it for 300 s; no key signs before that time is over."""

    async def get(self) -> None:
        body = msgspec.json.encode({"keys": await self.service.keys.published()})
        self.set_header("Cache-Control", "public, max-age=300, must-revalidate")
        self.clear_header("Pragma")
        self.set_header("Access-Control-Allow-Origin", "*")
        self.set_header("Content-Type", "application/jwk-set+json")
        self.set_header("ETag", f'"{hashlib.sha256(body).hexdigest()[:32]}"')
        self.finish(body)

    head = get


ROUTES = [(KEYS, KeysHandler)]
