"""Applications whose callback forwards its user: to a custom scheme, or a port of the machine."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlencode

import pytest
from msgspec import structs

from idp.foundation.randomness import SystemRandom
from idp.records import APPLICATIONS
from storage import Insert
from tests.browser.conftest import _store
from tests.browser.person import in_both_ways

VERIFIER_CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
KINDS = {
    "own": {},
    "third-party": {"is_third_party": True},
    "native": {"app_type": "native", "auth_method": "none", "secret_hash": None},
}


class Site:
    """Answers a callback by 307 to `leads_to`; `seen` has the paths."""

    def __init__(self, leads_to=None):
        site, self.seen = self, []
        self.leads_to = leads_to

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self):
                site.seen.append(self.path)
                self.send_response(307 if site.leads_to else 200)
                self.send_header("Content-Type", "text/html")
                if site.leads_to:
                    self.send_header("Location", site.leads_to)
                self.end_headers()
                self.wfile.write(b"<!doctype html><title>Arrived</title><h1>Arrived</h1>")

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.origin = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def sites():
    made = [Site(), Site()]
    yield made
    for site in made:
        site.close()


@pytest.fixture
def registered(program, sites):
    """Registers an application of a kind with the first site's callback; returns its request."""

    async def register(kind):
        async with _store(program) as store:
            demo = await store.get(APPLICATIONS, program.demo().client_id)
            client_id = SystemRandom().id()
            address = {"redirect_uris": [f"{sites[0].origin}/cb"], "home_url": None}
            values = {"id": client_id, "name": f"Relay {kind}", **address, **KINDS[kind]}
            await store.commit(Insert(APPLICATIONS, structs.replace(demo, **values)))
        return client_id

    def made(kind):
        with ThreadPoolExecutor() as threads:
            client_id = threads.submit(asyncio.run, register(kind)).result()
        request = {
            "client_id": client_id,
            "redirect_uri": f"{sites[0].origin}/cb",
            "response_type": "code",
            "scope": "openid",
            "state": "s",
            "code_challenge": VERIFIER_CHALLENGE,
            "code_challenge_method": "S256",
        }
        return "/oauth/v2/authorize?" + urlencode(request)

    return made


def press_last(person, program, path):
    """Signs in up to the button whose answer leads to the application, and presses it."""
    person.go(path)
    person.fill(loginName=program.user[0])
    person.press("Continue")
    person.fill(password=program.user[1])
    button = person.page.get_by_role("button", name="Sign in", exact=True)
    if "third-party" in person.text:
        person.press("Sign in")
        button = person.page.get_by_role("button", name="Allow", exact=True)
    button.click(no_wait_after=True)


@pytest.mark.promise("authorization: forwarding applications")
@in_both_ways
@pytest.mark.parametrize("kind", KINDS)
def test_a_callback_that_forwards_to_a_port_of_the_machine_is_followed(
    program, person, sites, registered, kind
):
    sites[0].leads_to = f"{sites[1].origin}/landing"
    press_last(person, program, registered(kind))
    person.page.wait_for_url(f"{sites[1].origin}/landing")

    assert [path.partition("?")[0] for path in sites[0].seen] == ["/cb"]


@pytest.mark.promise("authorization: forwarding applications")
@in_both_ways
@pytest.mark.parametrize("kind", KINDS)
def test_a_callback_that_forwards_to_a_custom_scheme_is_followed(
    program, person, sites, registered, kind
):
    sites[0].leads_to = "claude://signed-in"
    with person.page.expect_event("requestfailed") as failed:
        press_last(person, program, registered(kind))

    assert [path.partition("?")[0] for path in sites[0].seen] == ["/cb"]
    assert failed.value.url == "claude://signed-in"
    # Handed on to the program for that scheme; the policy would block it by another error.
    assert failed.value.failure == "net::ERR_ABORTED"
