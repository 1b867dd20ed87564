"""Real Chromium against the running program.

Fixtures::

    program       `idp serve` with its demo, for all tests here
    admin         login name and password of its administrator, a second person to sign in
    other_site    an application on an origin of its own, registered at the program
    new_person    makes browsers; afterwards none may have seen a violation of its policy
    signed_in     the cookies of browsers where nobody, one or two people are signed in, or the
                  administrator
    looker        a browser with scripts, to look at copies of pages

Playwright's event loop stays current until Chromium is closed, so its fixtures end with this
package, before coroutine tests elsewhere begin.
"""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from msgspec import structs

from idp.foundation.clock import SystemClock
from idp.foundation.randomness import SystemRandom
from idp.records import ALL, APPLICATIONS, JOBS, SCHEMA
from storage import Insert, open_store
from tests.browser import states
from tests.browser.chromium import FLAGS, executable, hosts
from tests.browser.person import WAYS, Person
from tests.support.programs.program import Program
from tests.support.programs.program import run as run_command

CHOSEN_PASSWORD = "a long and quiet afternoon"


@pytest.fixture(scope="package")
def program(tmp_path_factory):
    directory = tmp_path_factory.mktemp("program")
    limits = {"IDP_KNOWN_NETWORKS": "127.0.0.0/8"}  # many people share this machine's address
    running = Program(directory, "--admin-pat", "admin.pat", **limits).start()
    running.put = lambda job: _insert(running, JOBS, job)
    yield running
    running.stop()


class OneTimePassword:
    """Makes the administrator's password a one-time one again, and returns it: that ends the
    administrator's sessions. `times` says how often it was done."""

    def __init__(self, program):
        self._program, self.times = program, 0

    def __call__(self):
        name = self._program.announcement["admin"]["loginName"]
        done = run_command(self._program.directory, "admin", "reset-password", name)
        assert done.returncode == 0, done.stderr
        self.times += 1
        return done.stdout.split()[-1]


@pytest.fixture(scope="package")
def one_time_password(program):
    """The administrator's password, made a one-time one at each call."""
    return OneTimePassword(program)


class OtherSite:
    """Where an application's answers arrive: `seen` has the requests' addresses.

    The application passes its visitor on to a third origin, as many behind a proxy do.
    """

    def __init__(self):
        self.seen = []
        self._last = self._serve(None)
        self.home = f"http://127.0.0.1:{self._last.server_port}/welcome"
        self._first = self._serve(self.home)
        self.redirect_uri = f"http://127.0.0.1:{self._first.server_port}/cb"

    def _serve(self, leads_to):
        seen = self.seen

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self):
                seen.append(self.path)
                self.send_response(302 if leads_to else 200)
                self.send_header("Content-Type", "text/html")
                if leads_to:
                    self.send_header("Location", leads_to)
                self.end_headers()
                self.wfile.write(b"<!doctype html><title>Welcome</title><h1>Welcome</h1>")

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def close(self):
        for server in (self._first, self._last):
            server.shutdown()
            server.server_close()


@pytest.fixture(scope="package")
def other_site(program):
    site = OtherSite()
    asyncio.run(_register(program, site))
    yield site
    site.close()


async def _register(program, site):
    """Put a copy of the demo's application, with another address, into the program's store."""
    async with _store(program) as store:
        demo = await store.get(APPLICATIONS, program.demo().client_id)
        site.client_id = SystemRandom().id()
        values = {"name": "Other site", "redirect_uris": [site.redirect_uri], "home_url": None}
        client = structs.replace(demo, id=site.client_id, **values)
        await store.commit(Insert(APPLICATIONS, client))


def _insert(program, collection, record):
    """Put it into the program's store: in a thread, beside Playwright's event loop."""

    async def inserted():
        async with _store(program) as store:
            await store.commit(Insert(collection, record))

    with ThreadPoolExecutor() as threads:
        threads.submit(asyncio.run, inserted()).result()


@asynccontextmanager
async def _store(program):
    url = f"sqlite:///{program.directory}/idp-data/idp.sqlite3"
    store = open_store(url, now=SystemClock().now, new_id=SystemRandom().id)
    await store.open(ALL, SCHEMA)
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture(scope="package")
def chromium(program, other_site):
    path = executable()
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Chromium, and CI must not pass without it")
        pytest.skip("there is no Chromium on PATH")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        flags = [*FLAGS, hosts("login.example.com 127.0.0.1")]
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def new_person(chromium, program):
    made = []

    def make(**options):
        made.append(Person(chromium, program, **options))
        return made[-1]

    yield make
    for person in made:
        with suppress(Exception):
            person.context.close()
    assert not [each for person in made for each in person.complaints]


@pytest.fixture(params=WAYS)
def person(request, new_person):
    """A browser with scripts, and in the suite load one without: `tests/handlers` does without."""
    return new_person(scripts=request.param)


@pytest.fixture(scope="package")
def admin(chromium, program, one_time_password):
    """The administrator, after the choice of a password of their own."""
    return choose_password(chromium, program, one_time_password)


def choose_password(chromium, program, one_time_password):
    """Let the administrator choose a password; their login name, and it."""
    name = program.announcement["admin"]["loginName"]
    person = Person(chromium, program)
    person.go("/demo/sign-in")
    person.sign_in(name, one_time_password())
    person.fill(newPassword=CHOSEN_PASSWORD)
    person.press("Save the new password")
    assert person.name == "demo"
    person.context.close()
    return name, CHOSEN_PASSWORD


@pytest.fixture(scope="package")
def looker(chromium, program):
    """A browser with scripts, because axe is one."""
    person = Person(chromium, program)
    yield person
    person.context.close()


class SignedIn:
    """The cookies of browsers where that many people are signed in, for looking only.

    A test that resets the administrator's password ends their sessions; they sign in anew then.
    """

    def __init__(self, chromium, program, one_time_password):
        self._chromium, self._program, self._reset = chromium, program, one_time_password
        self._cookies, self._times = {states.NOBODY: None}, 0

    def __getitem__(self, who):
        if who in (states.TWO, states.ADMIN) and self._times != self._reset.times:
            self._admin = choose_password(self._chromium, self._program, self._reset)
            self._times = self._reset.times
            self._cookies = {
                key: cookies
                for key, cookies in self._cookies.items()
                if key not in (states.TWO, states.ADMIN)
            }
        if who not in self._cookies:
            self._cookies[who] = self._sign_in(who)
        return self._cookies[who]

    def _sign_in(self, who):
        person = Person(self._chromium, self._program)
        if who == states.ADMIN:
            person.go("/ui/console")
            person.sign_in(*self._admin)
        else:
            person.sign_in_to_demo()
        if who == states.TWO:
            person.sign_in_to_demo(*self._admin, prompt="select_account")
        cookies = person.context.storage_state()
        person.context.close()
        return cookies


@pytest.fixture(scope="package")
def signed_in(chromium, program, admin, one_time_password):
    """The cookies of browsers, by who is signed in there."""
    return SignedIn(chromium, program, one_time_password)
