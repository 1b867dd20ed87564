"""The CORS headers of the protocol endpoints (Fetch, CORS protocol).

A script may read a response if an application registered its origin, and never with credentials.
No cookie is accepted at these endpoints, so a script gets nothing that it could not request with
the secrets that it already has.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable
from typing import ClassVar, Final

from tornado.web import HTTPError

from handlers.http.base import ProtocolHandler
from idp.clients import web_origins
from idp.oauth.authentication import claimed_client
from idp.oauth.params import Params

REQUEST_HEADERS: Final = ("Authorization", "Content-Type", "X-Request-Id")
RESPONSE_HEADERS: Final = "Retry-After, WWW-Authenticate, X-Request-Id"
PREFLIGHT_SECONDS: Final = 300
_ALLOW_ORIGIN: Final = "Access-Control-Allow-Origin"
_EXPOSE_HEADERS: Final = "Access-Control-Expose-Headers"
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 5.6.2


def allowed_headers(requested: str) -> str:
    """Returns the names of the headers that a script may send: the usual ones, and all `requested`
    ones, the value of Access-Control-Request-Headers.

    Libraries that trace requests add headers of their own. The origin is the guard, not a list of
    names; what is no name of a header is left out.
    """
    names = {name.lower(): name for name in REQUEST_HEADERS}
    for name in requested.split(","):
        trimmed = name.strip(" \t")
        if _TOKEN.fullmatch(trimmed):
            names.setdefault(trimmed.lower(), trimmed)
    return ", ".join(names.values())


class SharedHandler(ProtocolHandler):
    """A protocol endpoint that scripts in browsers may call. It answers CORS preflights; other
    OPTIONS requests get 405."""

    # True for public documents: a script of any origin may read them.
    any_origin: ClassVar[bool] = False
    _script_origin = ""

    def set_default_headers(self) -> None:
        super().set_default_headers()
        # A cache must not give one origin's response to another.
        if not self.any_origin:
            self._headers["Vary"] = "Origin"
        if self._script_origin:
            self._headers[_ALLOW_ORIGIN] = self._script_origin
            self._headers[_EXPOSE_HEADERS] = RESPONSE_HEADERS

    def prepare(self) -> Awaitable[None] | None:
        admission = super().prepare()
        origin = self.request.headers.get("Origin")
        if self.any_origin:
            self._share_with("*")
        elif origin is not None:
            return self._share_if_registered(origin, admission)
        return admission

    async def _share_if_registered(self, origin: str, admission: Awaitable[None] | None) -> None:
        if admission is not None:
            await admission
        if await web_origins.is_registered(self.service, origin):
            self._share_with(origin)

    def _share_with(self, script_origin: str) -> None:
        """Allows the origin to read the response. It is remembered, because an error response
        starts again from the default headers."""
        self._script_origin = script_origin
        self.set_header(_ALLOW_ORIGIN, script_origin)
        self.set_header(_EXPOSE_HEADERS, RESPONSE_HEADERS)

    @property
    def is_shared(self) -> bool:
        """Whether the response has CORS headers that let the requesting script read it."""
        return bool(self._script_origin)

    async def share_only_for(self, client_id: str | None) -> None:
        """Removes the CORS headers from the response if the script's origin is not registered for
        this client.

        Has no effect if `client_id` is None.
        """
        if client_id is None or not self.is_shared:
            return
        if not await web_origins.is_of(self.service, client_id, self._script_origin):
            self._script_origin = ""
            self.clear_header(_ALLOW_ORIGIN)
            self.clear_header(_EXPOSE_HEADERS)

    async def share_only_for_sender(self, form: Params) -> None:
        """Calls `share_only_for` with the client id of the Authorization header, or else of the
        form."""
        if self.is_shared:
            client_id = claimed_client.name(self.request.headers.get("Authorization"), None)
            await self.share_only_for(client_id or form.if_once("client_id"))

    def allowed_methods(self) -> list[str]:
        # OPTIONS only answers preflights, so it is not listed.
        return [method for method in super().allowed_methods() if method != "OPTIONS"]

    async def options(self) -> None:
        """Answers a CORS preflight. The CORS headers are sent only to a registered origin. Raises
        HTTPError 405 for any other OPTIONS request."""
        if "Access-Control-Request-Method" not in self.request.headers:
            raise HTTPError(405)
        if self._script_origin:
            self.set_header("Access-Control-Allow-Methods", ", ".join(self.allowed_methods()))
            requested = self.request.headers.get("Access-Control-Request-Headers", "")
            self.set_header("Access-Control-Allow-Headers", allowed_headers(requested))
            self.set_header("Access-Control-Max-Age", str(PREFLIGHT_SECONDS))
        self.set_status(204)
        self.finish()
