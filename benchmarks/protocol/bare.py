"""The yardstick: a Tornado handler that parses the request and writes the same answer as the
service.

It has the service's connection, loop, access log and parser of forms, and Tornado's request
handler: no limits, no client, no token, no store. Where the service signs for each request, so
does this handler.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from typing import Any, Final

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from msgspec import Struct
from tornado.web import Application, RequestHandler

from handlers.http import params
from idp.config.settings import Config
from idp.foundation import base64url, logs
from idp.server.http_server import BoundedServer
from idp.server.listener import loop_factory


class Answer(Struct, frozen=True, omit_defaults=True):
    """The response at a path: a document, or a redirect.

    `signed` is the member of the document that is a JWT, made of `claims` for each request.
    """

    path: str
    document: dict[str, Any] = {}
    location: str = ""
    signed: str = ""
    claims: dict[str, Any] = {}


class Bare(Struct, frozen=True):
    """The responses to serve, and the port; port 0 takes a free one."""

    answers: list[Answer]
    port: int = 0


class Signer:
    """Signs RS256 with a key of 2048 bits, as RFC 7515 has it."""

    _HEADER: Final = base64url.encode(b'{"alg":"RS256","kid":"bare","typ":"JWT"}')

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def sign(self, data: bytes) -> bytes:
        return self._key.sign(data, padding.PKCS1v15(), hashes.SHA256())

    def token(self, claims: dict[str, Any]) -> str:
        signed = f"{self._HEADER}.{base64url.encode(msgspec.json.encode(claims))}"
        return f"{signed}.{base64url.encode(self.sign(signed.encode()))}"


class BareHandler(RequestHandler):
    """Parses a request, and answers it."""

    def initialize(self, answer: Answer, signer: Signer) -> None:
        self._answer = answer
        self._signer = signer

    def get(self) -> None:
        params.parse(self.request.query.encode("latin-1"))
        self._respond()

    def post(self) -> None:
        params.parse_form(self.request.headers.get("Content-Type"), self.request.body)
        self._respond()

    def _respond(self) -> None:
        if self._answer.location:
            self.redirect(self._answer.location, status=303)
            return
        document = self._answer.document
        if self._answer.signed:
            token = self._signer.token(self._answer.claims)
            document = {**document, self._answer.signed: token}
        self.set_header("Content-Type", "application/json")
        self.finish(msgspec.json.encode(document))


def _log_access(handler: RequestHandler) -> None:
    request = handler.request
    logs.access(
        request.method or "",
        request.path,
        handler.get_status(),
        request.request_time(),
        address=request.remote_ip or "",
        endpoint="bare",
    )


async def serve(bare: Bare) -> None:
    """Serves until SIGTERM; writes the port to a separate line."""
    signer = Signer()
    routes = [(a.path, BareHandler, {"answer": a, "signer": signer}) for a in bare.answers]
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listening.bind(("127.0.0.1", bare.port))
    listening.setblocking(False)
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    app = Application(routes, log_function=_log_access)
    server = BoundedServer(app, Config(), None, lambda: None)
    server.listen_on(listening)
    print(listening.getsockname()[1], flush=True)
    await stopping.wait()
    server.stop()
    await server.close_all_connections()


def main() -> None:
    """Serves the responses that the first line of the input describes."""
    bare = msgspec.json.decode(sys.stdin.buffer.readline(), type=Bare)
    logs.configure("info", "json")
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(serve(bare))


if __name__ == "__main__":
    main()
