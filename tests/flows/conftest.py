"""Where the flows run: the service in this process, and the program over each store.

A `place` is a `tests.support.service.Server`, whether its service runs in this process or in
others: it has an issuer, what the start told, and a store through which a test can add users and
applications.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Final

import pytest

from idp.foundation.clock import SystemClock
from idp.foundation.randomness import SystemRandom
from idp.foundation.ttl_cache import TtlCache
from idp.records import ALL, SCHEMA
from idp.start.demo_setup import DemoDescription
from idp.start.first_start import Admin
from storage import open_store
from tests.support import invariants
from tests.support import service as support
from tests.support.programs.program import Program
from tests.support.servers.mongod import fresh_database
from tests.support.service import Server

# Everybody comes from one address here, and some on purpose with the wrong password.
SETTINGS: Final = {
    "IDP_KNOWN_NETWORKS": "127.0.0.0/8",
    "IDP_SIGN_IN_FAILURES_BEFORE_DELAY": 20,
    "IDP_REFUSED_CREDENTIALS_LIMIT": 1_000_000,
}


def _sqlite(request, stack: ExitStack) -> list[str]:
    return ["--processes", "2"]


def _mongodb(request, stack: ExitStack) -> list[str]:
    url = stack.enter_context(fresh_database(request.getfixturevalue("mongod")))
    return ["--processes", "2", "--store", url]


def _motor(request, stack: ExitStack) -> list[str]:
    url = stack.enter_context(fresh_database(request.getfixturevalue("mongod")))
    return ["--store", url + ("&" if "?" in url else "?") + "driver=motor"]


def _trio(request, stack: ExitStack) -> list[str]:
    url = stack.enter_context(fresh_database(request.getfixturevalue("mongod_trio").url))
    return ["--processes", "2", "--store", url]


PROGRAMS: Final = {"sqlite": _sqlite, "mongodb": _mongodb, "motor": _motor, "trio": _trio}
MAIN: Final = ["memory", "sqlite", "mongodb"]
# The contract of storage says that they are alike.
OTHERS: Final = ["motor", "trio"]
PLACES: Final = [*MAIN, *(pytest.param(name, marks=pytest.mark.load) for name in OTHERS)]


@pytest.fixture(scope="package")
def programs(request, tmp_path_factory) -> Iterator[Callable[[str], Program]]:
    """The program over a store, started when it is first asked for."""
    running: dict[str, Program] = {}
    with ExitStack() as stack:

        def find(name: str) -> Program:
            if name not in running:
                flags = PROGRAMS[name](request, stack)
                directory = tmp_path_factory.mktemp(name)
                program = Program(directory, *flags, **SETTINGS)
                stack.callback(program.kill)
                running[name] = program.start()
                stack.callback(program.stop)
            return running[name]

        yield find


@pytest.fixture
def place(request, io_loop) -> Iterator[Server]:
    """The place that the test's parameter names. Whatever the test does, its store stays sound."""
    name = request.param
    if name == "memory":
        yield from _in_process(request, io_loop)
    else:
        program = request.getfixturevalue("programs")(name)
        request.getfixturevalue("used_programs").add(program)
        server, known = io_loop.run_sync(lambda: at(program)), len(program.errors)
        yield server
        print(*program.errors[known:], sep="")  # shown if the test fails
        io_loop.run_sync(server.store.close)


@pytest.fixture(scope="module")
def used_programs() -> Iterator[set[Program]]:
    """The programs that tests of the module have used. Whatever they did, the stores are sound."""
    used: set[Program] = set()
    yield used
    for program in used:
        asyncio.run(_hold(program))


async def _hold(program: Program) -> None:
    """Checks the invariants of a program's store.

    They are read one collection after the other. While a request is still under way, they may seem
    not to hold.
    """
    place = await at(program)
    try:
        for seconds in (1, 1, None):
            try:
                await invariants.hold(place.store)
            except AssertionError:
                if seconds is None:
                    raise
                await asyncio.sleep(seconds)
            else:
                return
    finally:
        await place.store.close()


async def at(program: Program) -> Server:
    """The running program as a place. Its store has to be closed."""
    told, clock, random = program.announcement, SystemClock(), SystemRandom()
    store = open_store(told["store"], now=clock.now, new_id=random.id)
    await store.open(ALL, SCHEMA)
    service = SimpleNamespace(
        config=SimpleNamespace(issuer=told["issuer"], vendor="idp"),
        store=store,
        random=random,
        clock=clock,
        settings_cache=TtlCache(),
    )
    demo, admin = told["demo"], told["admin"]
    known = SimpleNamespace(
        admin=Admin(login_name=admin["loginName"], password=admin["password"]),
        demo=DemoDescription(
            client_id=demo["clientId"],
            client_secret=demo["clientSecret"],
            redirect_uri=demo["redirectUri"],
            post_logout_redirect_uri=demo["postLogoutRedirectUri"],
            url=demo["url"],
            login_name=demo["user"]["loginName"],
            password=demo["user"]["password"],
        ),
    )
    return Server(service, None, clock, known)


def _in_process(request, io_loop) -> Iterator[Server]:
    patch = request.getfixturevalue("monkeypatch")
    support.share_keys(patch)
    support.make_hashes_cheap(patch)
    settings = {name.removeprefix("IDP_").lower(): value for name, value in SETTINGS.items()}
    settings["known_networks"] = (settings["known_networks"],)
    server, http = io_loop.run_sync(lambda: support.start_server(SystemClock(), **settings))
    yield server
    io_loop.run_sync(lambda: invariants.hold(server.store))
    io_loop.run_sync(lambda: support.stop_server(server, http))
