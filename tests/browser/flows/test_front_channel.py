"""Signing out of two applications by way of the browser, with scripts and without."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.browser.person import in_both_ways
from tests.flows.conftest import at
from tests.support.programs.program import eventually


class Site:
    """An application on an origin of its own: `seen` has the addresses that were opened."""

    def __init__(self):
        self.seen = []
        seen = self.seen

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self):
                seen.append(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<!doctype html><title>Goodbye</title><h1>Goodbye</h1>")

            def log_message(self, *_):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        self.origin = f"http://127.0.0.1:{self._http.server_port}"
        self.bye = f"{self.origin}/bye"

    def close(self):
        self._http.shutdown()
        self._http.server_close()

    def logouts(self):
        """The parameters of each call in a frame."""
        opened = [urlsplit(path) for path in self.seen]
        return [dict(parse_qsl(each.query)) for each in opened if each.path == "/logout"]


async def registered(program, site):
    """The site's application, in the program's store."""
    place = await at(program)
    party = await place.register(
        redirect_uris=[f"{site.origin}/cb"],
        post_logout_redirect_uris=[site.bye],
        front_channel_logout_uri=f"{site.origin}/logout?tenant=1",
    )
    await place.store.close()
    return party


@pytest.fixture
def sites(program):
    """Two of them, each with its client."""
    made = [Site(), Site()]
    with ThreadPoolExecutor(1) as elsewhere:  # Playwright's loop runs in this thread
        for site in made:
            site.party = elsewhere.submit(asyncio.run, registered(program, site)).result()
    yield made
    for site in made:
        site.close()


@pytest.mark.promise("logout: applications")
@in_both_ways
def test_both_are_called_on_and_the_browser_goes_on_by_itself(person, sites):
    one, other = sites
    person.page.goto(one.party.authorize_url())
    person.sign_in(*person.program.user)
    person.page.goto(other.party.authorize_url())
    assert all(any(path.startswith("/cb?") for path in site.seen) for site in sites)
    person.page.goto(one.party.logout_url(client_id=one.party.client_id, state="s"))
    person.press("Sign out")
    assert person.name == "logged-out"
    person.page.wait_for_url(f"{one.bye}?state=s", timeout=20_000)

    for site in sites:
        (call,) = eventually(site.logouts, "a call in a frame")
        assert call.keys() == {"tenant", "iss", "sid"}
        assert call["iss"] == person.program.issuer
    assert one.logouts()[0]["sid"] == other.logouts()[0]["sid"]
    assert person.complaints == []
    person.page.goto(one.party.authorize_url(prompt="none"))
    assert "error=login_required" in person.page.url


def test_a_user_who_does_not_wait_goes_on_at_once(person, sites):
    one, _ = sites
    person.page.goto(one.party.authorize_url())
    person.sign_in(*person.program.user)
    person.page.goto(one.party.logout_url(client_id=one.party.client_id))
    person.press("Sign out")
    person.press("Back to")
    person.page.wait_for_url(one.bye, timeout=20_000)

    assert person.page.url == one.bye
