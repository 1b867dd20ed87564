"""What a loopback issuer has for this machine alone: the socket's address says who that is."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from msgspec import structs

from handlers.app import App
from handlers.http import hosts
from handlers.pages.not_found import MissingHandler
from idp.server import http_server
from idp.server.http1.request import Peer
from tests.handlers.http.test_tornado import get
from tests.support.sign_in.steps import text_of

LOCAL = ["/dev/mail", "/demo", "/demo/sign-in", "/demo/callback", "/ui/setup"]
TEST = ["/test/clock", "/test/reset"]
BROKEN = "/oauth/v2/authorize?client_id=nobody"
DETAIL = "No application has this client_id."
FORGED = {
    "X-Forwarded-For": "127.0.0.1",
    "X-Real-IP": "127.0.0.1",
    "Forwarded": "for=127.0.0.1",
    "X-Client-IP": "127.0.0.1",
}


@pytest.fixture
def settings():
    return {"trusted_proxies": ("192.0.2.0/24",), "allow_trial_network": True}


@pytest.fixture
def from_elsewhere(monkeypatch):
    """Every connection has the socket address of another machine, a trusted proxy's even."""

    def elsewhere(remote_ip, protocol):
        return Peer("192.0.2.7", protocol)

    monkeypatch.setattr(http_server, "Peer", elsewhere)


@pytest.mark.promise("start: trial network")
@pytest.mark.parametrize("headers", [{}, FORGED])
async def test_what_is_for_this_machine_is_404_to_any_other(visitor, from_elsewhere, headers):
    for path in LOCAL:
        for method in ("GET", "POST", "HEAD"):
            answer = await visitor.request(method, path, headers=headers)

            assert answer.status == 404, (method, path)


def test_so_is_the_clock_of_a_service_for_tests(server):
    config = structs.replace(server.service.config, test=True)
    app = App(replace(server.service, config=config))

    for path in [*TEST, *LOCAL]:
        near, far = get(path), get(path)
        far.remote_ip = "192.0.2.7"

        assert app.find_handler(near).handler_class is not MissingHandler, path
        assert app.find_handler(far).handler_class is MissingHandler, path


async def test_it_answers_this_machine(visitor):
    pages = {path: (await visitor.get(path)).status for path in LOCAL}

    assert pages == dict.fromkeys(LOCAL, 200) | {
        "/demo/sign-in": 303,
        "/demo/callback": 303,
    }


@pytest.mark.promise("start: trial network")
@pytest.mark.parametrize("headers", [{}, FORGED])
async def test_others_get_no_details_of_a_refused_request(visitor, from_elsewhere, headers):
    page = await visitor.get(BROKEN, headers=headers)

    assert (page.status, page.name) == (400, "explain")
    assert DETAIL not in text_of(page)


async def test_this_machine_gets_the_details(visitor):
    assert DETAIL in text_of(await visitor.get(BROKEN))


async def test_no_page_leads_others_to_the_demo(visitor, demo, server, from_elsewhere):
    await demo.tokens(visitor, *server.user)
    page = await visitor.open("/ui/login")

    assert page.name == "signed-in"
    assert "/demo" not in page.text


@pytest.mark.parametrize(
    ("address", "is_local"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("::ffff:192.0.2.7", False),
        ("192.0.2.7", False),
        ("10.0.0.1", False),
        ("172.17.0.1", False),
        ("0.0.0.0", False),
        ("fe80::1%eth0", False),
        ("", False),
        (None, False),
        ("localhost", False),
    ],
)
def test_a_local_peer_has_a_loopback_address(address, is_local):
    assert hosts.is_local_peer(SimpleNamespace(remote_ip=address)) is is_local


class TestPublicIssuer:
    @pytest.fixture
    def settings(self):
        return {"issuer": "https://login.example.com"}

    async def test_the_set_up_page_is_reached_from_everywhere(
        self, server, new_visitor, from_elsewhere
    ):
        visitor = new_visitor(headers={"Host": "login.example.com"})
        visitor.base = f"http://127.0.0.1:{server.service.config.port}"

        assert (await visitor.get("/ui/setup")).name == "setup"
        assert (await visitor.get("/demo")).status == 404
