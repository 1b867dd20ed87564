"""The keys: the public ones for whoever checks tokens (RFC 7517 5), and calls for their owner."""

from __future__ import annotations

import hashlib

import msgspec

from handlers.api import ApiHandler
from handlers.cors import SharedHandler
from idp.answers import Answer
from idp.oauth import rotation
from idp.oauth.endpoints import KEYS
from idp.oauth.keys import PUBLISHED_CACHE_SECONDS
from idp.requests import Nothing


class KeysRotated(Answer, frozen=True, kw_only=True):
    """`key_id` is the RS256 key that signs from now on."""

    key_id: str


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


class RotateKeysHandler(ApiHandler):
    """POST /admin/v1/keys/_rotate: the waiting keys sign from now on."""

    permission = "iam.write"

    async def post(self) -> None:
        self.read(Nothing)
        signing = await rotation.rotate(self.service, actor=self.call.actor)
        self.answer(KeysRotated(key_id=signing["RS256"].id))


class RemoveKeyHandler(ApiHandler):
    """POST /admin/v1/keys/{id}/_remove: all that the key signed or sealed is void at once."""

    permission = "iam.write"

    async def post(self, key_id: str) -> None:
        self.read(Nothing)
        await rotation.remove(self.service, self.id(key_id), actor=self.call.actor)
        self.answer(Answer())


ROUTES = [
    (KEYS, KeysHandler),
    ("/admin/v1/keys/_rotate", RotateKeysHandler),
    ("/admin/v1/keys/([^/]+)/_remove", RemoveKeyHandler),
]
