"""The service for pictures: at its usual address, in a time that stands still, by seeded chance.

Each state of a page gets a service of its own, so that its pictures depend on nothing before them.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest.mock import patch

from tornado.httpclient import AsyncHTTPClient

from idp.keys import algorithms
from idp.outgoing import http as outgoing_http
from idp.records import JOBS
from idp.usage import counts
from storage import Insert
from tests.browser import states
from tests.browser.chromium import hosts
from tests.browser.person import Person
from tests.support.clock import SteppingClock
from tests.support.service import shared_key, start_server, stop_server

PORT = 8080
# Later than the machine's time: the demo verifies its ID tokens by that.
NOON = datetime(2040, 5, 17, 12, tzinfo=UTC)
CHOSEN_PASSWORD = "a long and quiet afternoon"
# A request without an id is given a random one, and a browser asks for files in any order.
REQUEST_ID = {"X-Request-Id": "Uw6tR7QWWirg_vPN6ndh0w"}


class Stage:
    """Where services are started, one after the other, behind one port of this machine."""

    def __enter__(self):
        # It keeps the port, and hears nothing: a service that stops shuts its own socket.
        self._reserved = socket.socket()
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._reserved.bind(("127.0.0.1", 0))
        self._port = self._reserved.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        elsewhere = {("localhost", PORT): ("127.0.0.1", self._port)}
        AsyncHTTPClient.configure(None, hostname_mapping=elsewhere)
        # A service that is an identity provider for itself calls its own address.
        self._calls = patch.object(outgoing_http, "_target", self._target)
        self._calls.start()
        return self

    def __exit__(self, *_):
        AsyncHTTPClient.configure(None)
        self._calls.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._reserved.close()

    def _target(self, parts):
        return "127.0.0.1", self._port

    @property
    def flag(self):
        """What Chromium has to be told to find the services, and nothing else."""
        here = f"127.0.0.1:{self._port}"
        return hosts(f"localhost {here}", f"login.example.com {here}", "* ~NOTFOUND")

    @contextmanager
    def program(self):
        """A fresh service, as what a Person visits."""
        numbers = itertools.count()
        keep = patch.object(
            algorithms.rsa, "generate_private_key", lambda **_: shared_key(next(numbers) % 4)
        )
        with keep, TemporaryDirectory() as directory:
            server, http = self._run(self._start(directory))
            try:
                yield SimpleNamespace(
                    issuer=server.issuer,
                    listens_at=f"http://127.0.0.1:{self._port}",
                    user=server.user,
                    demo=server.demo,
                    clock=server.clock,
                    announcement=server.start.as_json(),
                    put=lambda job: self._run(server.store.commit(Insert(JOBS, job))),
                )
            finally:
                self._run(stop_server(server, http))

    async def _start(self, directory):
        settings = {"known_networks": ("127.0.0.0/8",), "admin_pat": f"{directory}/pat"}
        clock = SteppingClock(NOON)
        listening = socket.create_server(("127.0.0.1", self._port), reuse_port=True)
        server, http = await start_server(clock, listening, seed=1, port=PORT, **settings)
        await have_signed_in(server.service)
        return server, http

    def _run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


async def have_signed_in(service):
    """Gives the first page of the console something to show."""
    for days in range(30):
        at = service.clock.now() - timedelta(days=days)
        users = 20 + days * 7 % 13 if at.weekday() < 5 else 8
        numbers = {"sign_in": users * 2, "sign_in_failed": users // 4, "active_day": users}
        for kind, number in {**numbers, "registration": days % 4, "active_month": 3}.items():
            for _ in range(number):
                counts.count(service, kind, None, at)
    await counts.flush(service)


def cookies_of(chromium, program, who):
    """The cookies of a browser where so many people are signed in, or the administrator."""
    if who == states.NOBODY:
        return None
    person = Person(chromium, program, extra_http_headers=REQUEST_ID)
    if who == states.ADMIN:
        person.go("/ui/console")
        _sign_in_first(person)
    else:
        person.sign_in_to_demo()
    if who == states.TWO:
        person.go("/demo/sign-in?prompt=select_account")
        person.press("Use another account")
        _sign_in_first(person)
    cookies = person.context.storage_state()
    person.context.close()
    return cookies


def _sign_in_first(person):
    """The administrator's first sign-in."""
    admin = person.program.announcement["admin"]
    person.sign_in(admin["loginName"], admin["password"])
    person.fill(newPassword=CHOSEN_PASSWORD)
    person.press("Save the new password")
