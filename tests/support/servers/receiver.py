"""An application's address for logout tokens: stores the requests that it receives, and answers as
configured.

Fixtures::

    new_receiver    makes them; each is a server of its own on loopback
    new_listener    makes one and the application whose back-channel address it is
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

import pytest
from jwcrypto.jwk import JWKSet
from jwcrypto.jwt import JWT

from tests.support import patience


@dataclass
class Call:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    form: list[tuple[str, str]]
    body: str = ""

    @property
    def token(self) -> str:
        """The logout token, when it is all that was sent."""
        ((name, value),) = self.form
        assert name == "logout_token"
        return value


class Receiver:
    """`statuses` are its answers in turn, the last of them for ever; `holds` keeps answers back
    until `release` is called."""

    def __init__(self, *statuses: int, holds: bool = False, **headers: str) -> None:
        self.calls: list[Call] = []
        self._statuses = [*(statuses or (200,))]
        self._headers = headers
        self._released = threading.Event()
        self._called = threading.Event()
        if not holds:
            self._released.set()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/logout?tenant=1"

    def wait_for_a_call(self) -> None:
        assert self._called.wait(patience.SECONDS)

    def release(self) -> None:
        self._released.set()

    def close(self) -> None:
        self.release()
        self._http.shutdown()
        self._http.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = []
                if self.headers["Content-Type"] != "application/json":
                    form = parse_qsl(body, keep_blank_values=True, strict_parsing=True)
                receiver.calls.append(Call(self.path, dict(self.headers), form, body))
                receiver._called.set()
                receiver._released.wait(patience.SECONDS)
                self.send_response(receiver._next_status())
                for name, value in receiver._headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_GET(self) -> None:
                receiver.calls.append(Call(self.path, dict(self.headers), []))
                self.send_error(405)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def _next_status(self) -> int:
        return self._statuses.pop(0) if len(self._statuses) > 1 else self._statuses[0]


def verified(token: str, published: str) -> tuple[dict, dict]:
    """Header and claims of a JWT that one of the published keys has signed and that has not
    expired, as jwcrypto reads it."""
    algorithms = ["RS256", "ES256", "EdDSA"]
    jwt = JWT(algs=algorithms, check_claims={"exp": None, "iat": None})
    jwt.deserialize(token, JWKSet.from_json(published))
    return jwt.token.jose_header, json.loads(jwt.claims)


@pytest.fixture
def new_receiver() -> Iterator:
    made: list[Receiver] = []

    def make(*statuses: int, **options) -> Receiver:
        made.append(Receiver(*statuses, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def new_listener(server, new_receiver):
    """Makes an application and the receiver behind its back-channel address."""

    async def make(*statuses: int, name: str = "Wiki", holds: bool = False, **changes):
        receiver = new_receiver(*statuses, holds=holds, **changes.pop("headers", {}))
        client = await server.register(name, back_channel_logout_uri=receiver.url, **changes)
        return client, receiver

    return make
