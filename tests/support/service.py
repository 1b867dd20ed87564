"""The service in this process: real HTTP on loopback, a clock that a test advances, seeded
randomness.

Fixtures::

    server      a fresh service on a temporary store, as its first start leaves it
    visitor     a browser at it
    demo        the demo application, as a relying party
    timer       what the service waits by, advanced by the test
"""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from msgspec import structs

from handlers.app import App
from idp.audit import events
from idp.audit.events import AuditEntry
from idp.clients import web_origins
from idp.config.settings import Config
from idp.foundation import opaque_tokens
from idp.foundation.metrics import store_calls
from idp.foundation.metrics.request_costs import StoreCosts
from idp.keys import algorithms
from idp.keys.key_ring import KeyRing
from idp.keys.master_key import MasterKey
from idp.limits import admission
from idp.limits.admission import Admission
from idp.mail import branding
from idp.oauth.endpoints import refusal_records
from idp.passwords import range_service, schemes
from idp.passwords.hashing import Hasher
from idp.passwords.schemes import argon2
from idp.policies import logo_plates
from idp.records import ALL, APPLICATIONS, PROJECTS, SCHEMA, USERS, Application
from idp.server.http_server import BoundedServer
from idp.service import Service
from idp.start import bootstrap
from idp.start.announcement import Start
from storage.observed_store import ObservedStore
from storage.observer import ObserverGroup
from tests.support.browsers.transport import Loopback
from tests.support.browsers.visitor import Visitor
from tests.support.clock import SteppingClock, SteppingTimer
from tests.support.patience import SECONDS
from tests.support.protocol.relying_party import RelyingParty
from tests.support.random import SeededRandom, seed_of_test
from tests.support.store.ready_store import content_of, open_ready_store

# Hashes are cheap in tests, those from elsewhere too.
_SETTINGS = {
    # Tests send many wrong tokens from one address; those of the limit set it.
    "refused_credentials_limit": 1_000_000,
    "store": "memory://",
    "data": "/nonexistent",
    "imported_argon2_min_kib": 8,
    "imported_bcrypt_min_cost": 4,
    "profile": os.environ.get("IDP_TEST_PROFILE", "auto"),
}


def use_settings(service: Service, **settings: object) -> None:
    """Replaces settings of a service that runs, which no real one does."""
    object.__setattr__(service, "config", structs.replace(service.config, **settings))


@dataclass
class Server:
    """A running service, and what its start announces."""

    service: Service
    app: App
    clock: SteppingClock
    start: Start

    @property
    def issuer(self) -> str:
        return self.service.config.issuer

    @property
    def store(self):
        return self.service.store

    def demo(self) -> RelyingParty:
        demo = self.start.demo
        return RelyingParty(
            self.issuer,
            demo.client_id,
            demo.client_secret,
            demo.redirect_uri,
            demo.post_logout_redirect_uri,
        )

    @property
    def user(self) -> tuple[str, str]:
        """Login name and password of the demo user."""
        return self.start.demo.login_name, self.start.demo.password

    async def register(self, name: str = "Other application", **changes) -> RelyingParty:
        """Another application beside the demo, client_secret_basic unless `changes` has one."""
        project = await self._project()
        secret = None if changes.get("auth_method") == "none" else self.service.random.token()
        values = {
            "auth_method": "client_secret_basic",
            "redirect_uris": [f"{self.issuer}/cb"],
            "grant_types": ["authorization_code", "refresh_token"],
            "secret_hash": opaque_tokens.digest(secret) if secret else None,
        } | {name: value for name, value in changes.items() if name != "org_id"}
        client = Application(
            id=self.service.random.id(),
            project_id=project.id,
            org_id=changes.get("org_id", project.org_id),
            name=name,
            stamp=self.service.random.token(64),
            created_at=self.clock.now(),
            changed_at=self.clock.now(),
            **values,
        )
        found = web_origins.changes(None, client)
        await self._store(APPLICATIONS, client, "application.created", *found)
        logout = client.post_logout_redirect_uris[0] if client.post_logout_redirect_uris else ""
        return RelyingParty(self.issuer, client.id, secret, client.redirect_uris[0], logout)

    async def copy_user(
        self, login_name: str, of: tuple[str, str] | None = None
    ) -> tuple[str, str]:
        """Another user with the password of `of`, by default the demo user."""
        original, password = of or self.user
        page = await self.store.find(USERS, {"login_key": original})
        user = page.records[0]
        user.id, user.user_name, user.login_key = self.service.random.id(), login_name, login_name
        user.sequence = 1
        user.email = user.email_key = user.address_key = None
        user.profile.display_name = login_name.title()
        user.display_key = user.profile.display_name.casefold()
        await self._store(USERS, user, "user.created")
        return login_name, password

    async def _project(self):
        """The demo's, or where there is none the only one."""
        if self.start.demo:
            demo = await self.store.get(APPLICATIONS, self.start.demo.client_id)
            return await self.store.get(PROJECTS, demo.project_id)
        return (await self.store.find(PROJECTS)).records[0]

    async def _store(self, collection, record, type: str, *more) -> None:
        now, random = self.clock.now(), self.service.random
        writes = events.insertion(random, collection, record, AuditEntry(type, "a test", now))
        await self.store.commit(*writes, *more)


# Limits of the product for what a machine does within milliseconds. A test of one sets its own.
GUARDS = (
    (branding, "_SECONDS"),
    (logo_plates, "_SECONDS"),
    (range_service, "SECONDS"),
    (refusal_records, "_WRITE_SECONDS"),
)

# As it is outside of tests, which share some keys (`server`).
make_key = rsa.generate_private_key


@cache
def shared_key(number: int) -> rsa.RSAPrivateKey:
    """Making a key takes longer than most tests: the session shares a few."""
    return make_key(public_exponent=65537, key_size=2048)


def share_keys(monkeypatch) -> None:
    """Has the service take its keys from a few, in turn."""
    numbers = itertools.count()
    monkeypatch.setattr(
        algorithms.rsa, "generate_private_key", lambda **_: shared_key(next(numbers) % 4)
    )


def make_hashes_cheap(monkeypatch) -> None:
    """A password's hash takes 25 ms, on purpose; most tests sign in, and few are about that."""
    monkeypatch.setattr(argon2, "MEMORY_KIB", 64)
    monkeypatch.setattr(argon2, "PASSES", 1)
    cheap = structs.replace(argon2.RECIPE, cost=(argon2.MEMORY_KIB, argon2.PASSES, argon2.LANES))
    monkeypatch.setitem(schemes.RECIPES, "argon2id", cheap)


def patient(service: Service) -> Admission:
    """Places for which requests wait as long as a slow machine takes."""
    longer = [structs.replace(group, max_wait_seconds=SECONDS) for group in admission.GROUPS]
    return Admission(service.random, service.timer, longer)


class FirstStart:
    """What the first start of a service with these settings has stored. It is done once in a
    process, with the same random values in each: services begin with a copy, as if it had been on
    their port."""

    _kept: ClassVar[dict[tuple, tuple[bytes, bytes]]] = {}

    def __init__(self, config: Config, settings: dict, clock: SteppingClock) -> None:
        self._config, self._clock = config, clock
        hash_cost = schemes.RECIPES["argon2id"].cost
        self._key = repr(sorted(settings.items())), clock.now(), hash_cost
        self._address = f"localhost:{config.port}".encode()

    async def content(self) -> bytes | None:
        """The file of a store after the first start; None where each service has its own."""
        is_kept = self._config.store == "memory://" and not self._config.test
        if not is_kept or not isinstance(self._clock, SteppingClock):
            return None
        if self._key in self._kept:
            for _ in ("active", "next"):  # it has these keys, which are not to be made again
                algorithms.rsa.generate_private_key(public_exponent=65537, key_size=2048)
        else:
            self._kept[self._key] = await self._made(), self._address
        content, address = self._kept[self._key]
        if len(address) != len(self._address):  # it would not fit into the file
            return await self._made()
        return content.replace(address, self._address)

    async def _made(self) -> bytes:
        service = await opened_service(self._config, self._clock, SeededRandom(), None)
        await bootstrap.make_ready(service)
        content = content_of(getattr(service.store, "_store", service.store))
        await bootstrap.close_service(service)
        return content


async def opened_service(
    config: Config, clock: SteppingClock, random: SeededRandom, content: bytes | None
) -> Service:
    """A service over a store that is new or has this content."""
    master_key = MasterKey(SeededRandom().token_bytes(32), random)
    store = open_ready_store(config.store, content, now=clock.now, new_id=random.id)
    if observers := store_calls.observers():
        store = ObservedStore(store, ObserverGroup([StoreCosts(), *observers]))
    await store.open(ALL, SCHEMA)
    ring = KeyRing(store, master_key, clock, config.access_token_seconds)
    return Service(config, store, clock, random, master_key, Hasher(config, random), ring)


async def start_server(
    clock: SteppingClock,
    listening: socket.socket | None = None,
    seed: int | None = None,
    **settings,
) -> tuple[Server, BoundedServer]:
    """Start a service on a free port, unless it is given a socket."""
    listening = listening or socket.create_server(("127.0.0.1", 0))
    listening.setblocking(False)
    port = listening.getsockname()[1]
    config = Config(**(_SETTINGS | {"port": port} | settings))
    content = await FirstStart(config, settings, clock).content()
    random = SeededRandom(seed_of_test() if seed is None else seed)
    service = await opened_service(config, clock, random, content)
    start = await bootstrap.make_ready(service)
    app = App(service)
    app.admission = patient(service)
    http = BoundedServer(app, config, None, lambda: None)
    http.listen_on(listening)
    return Server(service, app, clock, start), http


async def stop_server(server: Server, http: BoundedServer) -> None:
    http.stop()
    await http.close_all_connections()
    await bootstrap.close_service(server.service)


@pytest.fixture
def settings() -> dict:
    """Settings of the fixture `server`; a test module may have its own."""
    return {}


@pytest.fixture
def server(io_loop, monkeypatch, settings) -> Iterator[Server]:
    share_keys(monkeypatch)
    make_hashes_cheap(monkeypatch)
    for module, name in GUARDS:
        monkeypatch.setattr(module, name, SECONDS)
    clock = SteppingClock()
    running, http = io_loop.run_sync(lambda: start_server(clock, **settings))
    yield running
    io_loop.run_sync(lambda: stop_server(running, http))


@pytest.fixture
def new_visitor(io_loop, server):
    """Makes browsers, each with its own cookies."""
    made: list[Visitor] = []

    def make(**client) -> Visitor:
        client.setdefault("transport", Loopback())
        made.append(Visitor(server.issuer, **client))
        made[-1].server = server
        return made[-1]

    yield make
    for one in made:
        io_loop.run_sync(one.close)


@pytest.fixture
def visitor(new_visitor) -> Visitor:
    return new_visitor()


@pytest.fixture
def timer(server) -> SteppingTimer:
    """The service's timer, which the test advances instead of the machine."""
    stepping = SteppingTimer()
    object.__setattr__(server.service, "timer", stepping)  # it is frozen
    return stepping


@pytest.fixture
def demo(server) -> RelyingParty:
    return server.demo()
