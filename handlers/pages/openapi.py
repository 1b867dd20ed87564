"""GET /openapi.json: the OpenAPI description of the management API, readable without a token."""

from __future__ import annotations

import asyncio
import hashlib
from functools import cache
from typing import Final

import msgspec

from handlers.http.cors import SharedHandler
from idp.api import description
from idp.limits.admission import MANAGEMENT

CACHE_CONTROL: Final = "public, max-age=300"


class OpenapiHandler(SharedHandler):
    """Sends the OpenAPI 3.1 document, which may be cached and read from any origin."""

    group = MANAGEMENT
    any_origin = True
    _etag: str | None = None

    async def get(self) -> None:
        config = self.service.config
        # Building the document takes too long for the event loop; later calls are cached.
        body, self._etag = await asyncio.to_thread(_document, config.vendor, config.issuer)
        self.set_header("Cache-Control", CACHE_CONTROL)
        # The default value would contradict Cache-Control.
        self.clear_header("Pragma")
        self.set_header("Content-Type", "application/json")
        self.finish(body)

    head = get

    def compute_etag(self) -> str | None:
        return self._etag


@cache
def _document(vendor: str, issuer: str) -> tuple[bytes, str]:
    body = msgspec.json.encode(description.document(vendor, issuer))
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'


ROUTES = [(description.DESCRIPTION, OpenapiHandler)]
