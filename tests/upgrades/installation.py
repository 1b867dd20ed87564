"""A service over a stored installation: its issuer, its clock and its master key are given."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from handlers.app import App
from idp.config.settings import Config
from idp.foundation.randomness import SystemRandom
from idp.keys.key_ring import KeyRing
from idp.keys.master_key import MasterKey
from idp.passwords.hashing import Hasher
from idp.records import ALL, SCHEMA
from idp.server.http_server import BoundedServer
from idp.service import Service
from idp.start import bootstrap
from storage import open_store
from tests.support.browsers.transport import Loopback
from tests.support.browsers.visitor import Visitor
from tests.support.clock import SteppingClock
from tests.support.service import Server

ISSUER = "http://localhost:8080"
# A time far ahead: a real MongoDB deletes what has expired by its own clock.
BEGAN_AT = datetime(2090, 1, 2, 3, 4, 5, tzinfo=UTC)


class ToPort(Loopback):
    """A connection to the port that the service really has, whatever its issuer says."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._port = port

    async def _connection(self, port: int):
        self._idle.setdefault(port, [])
        self._idle.setdefault(self._port, self._idle[port])
        return await super()._connection(self._port)


class Installation:
    """A running service, and browsers that reach it."""

    def __init__(self, server: Server, port: int) -> None:
        self.server = server
        self._port = port
        self._browsers: list[Visitor] = []

    def browser(self, cookies: dict[str, str] | None = None) -> Visitor:
        """A browser with these cookies."""
        one = Visitor(ISSUER, transport=ToPort(self._port))
        for name, value in (cookies or {}).items():
            one.cookies.set(name, value)
        self._browsers.append(one)
        return one

    async def close(self) -> None:
        for one in self._browsers:
            await one.close()


@asynccontextmanager
async def installation(
    url: str, key: bytes, at: datetime = BEGAN_AT, **settings
) -> AsyncIterator[Installation]:
    """The service over the store of this URL, made there if there is none."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setblocking(False)
    config = Config(**({"store": url, "issuer": ISSUER, "data": "/nonexistent"} | settings))
    clock, random = SteppingClock(at), SystemRandom()
    master_key = MasterKey(key, random)
    store = open_store(url, now=clock.now, new_id=random.id)
    await store.open(ALL, SCHEMA)
    ring = KeyRing(store, master_key, clock, config.access_token_seconds)
    service = Service(config, store, clock, random, master_key, Hasher(config, random), ring)
    app = App(service)
    http = BoundedServer(app, config, None, lambda: None)
    http.listen_on(listening)
    made = Installation(
        Server(service, app, clock, await bootstrap.make_ready(service)),
        listening.getsockname()[1],
    )
    try:
        yield made
    finally:
        await made.close()
        http.stop()
        await http.close_all_connections()
        await bootstrap.close_service(service)
