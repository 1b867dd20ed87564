"""A proxy that `trusted_proxies` does not name: everybody has its address, and it is warned of."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from handlers.http import hosts
from idp.config.settings import Config
from idp.start import proxy_warnings
from tests.support.attacks import guessing
from tests.support.management import console


@pytest.fixture
def at(new_visitor, demo):
    return guessing.begun_by(new_visitor, demo)


@pytest.mark.promise("guessing: proxies")
async def test_its_limits_are_fifty_times_as_high(at, server):
    await guessing.fail_from(server, "127.0.0.1", 4999)
    below = [(await (await at(f"name{n}"))("wrong")).status for n in range(2)]
    above = (await (await at("another"))("wrong")).status

    assert below == [400, 400]
    assert above == 429


async def test_without_the_header_a_peer_is_treated_like_any_other(at, server, visitor, demo):
    await guessing.fail_from(server, "127.0.0.1")
    pages = [await visitor.sign_in(demo.authorize_url(), f"name{n}", "wrong") for n in range(2)]

    assert [page.status for page in pages] == [400, 429]


@pytest.mark.promise("guessing: proxies")
async def test_it_is_warned_of_once_and_listed(at, server, monkeypatch):
    warned = []
    log = SimpleNamespace(warning=lambda text, proxy: warned.append((text, proxy)))
    monkeypatch.setattr(proxy_warnings, "_log", log)
    for n in range(3):
        await (await at(f"name{n}"))("wrong")
    await server.service.background_tasks.finished()
    (listed,) = await proxy_warnings.find_all(server.store)

    assert listed.id == "127.0.0.1"
    assert listed.seen_at == server.clock.now()
    ((text, proxy),) = warned
    assert "X-Forwarded-For is ignored" in text
    assert proxy == "127.0.0.1"


async def test_another_start_warns_again(server):
    service = server.service
    proxy_warnings.warn(service, "192.0.2.7")
    await service.background_tasks.finished()
    server.clock.advance(3600)
    service.untrusted_proxies._known.clear()
    proxy_warnings.warn(service, "192.0.2.7")
    await service.background_tasks.finished()
    (listed,) = await proxy_warnings.find_all(service.store)

    assert listed.seen_at == server.clock.now()


async def test_so_many_are_warned_of_and_no_more(server):
    for n in range(50):
        proxy_warnings.warn(server.service, f"198.51.100.{n}")
    await server.service.background_tasks.finished()

    assert len(await proxy_warnings.find_all(server.store)) == 20


@pytest.mark.parametrize(
    ("peer", "header", "trusted", "is_unnamed"),
    [
        ("10.0.0.2", "192.0.2.1", (), True),
        ("127.0.0.1", "192.0.2.1", (), True),
        ("fd00::2", "192.0.2.1", (), True),
        ("10.0.0.2", None, (), False),
        ("10.0.0.2", "192.0.2.1", ("10.0.0.0/8",), False),
        ("8.8.8.8", "192.0.2.1", (), False),
        ("", "192.0.2.1", (), False),
    ],
)
def test_only_a_private_or_loopback_peer_that_names_another_is_taken_for_a_proxy(
    peer, header, trusted, is_unnamed
):
    headers = HTTPHeaders({"Host": "a", **({"X-Forwarded-For": header} if header else {})})
    start = RequestStartLine("GET", "/", "HTTP/1.1")
    request = HTTPServerRequest(start_line=start, headers=headers)
    request.remote_ip = peer

    assert hosts.is_untrusted_proxy(Config(trusted_proxies=trusted), request) is is_unnamed


@pytest.mark.promise("guessing: proxies")
async def test_the_console_shows_the_peers_whose_header_was_not_believed(
    server, visitor, monkeypatch
):
    await console.admin(server, visitor)
    # Checks of what is outside are skipped where the issuer is on this machine.
    monkeypatch.setattr(Config, "is_loopback", False)
    before = await visitor.get("/ui/console/settings/safety")
    proxy_warnings.warn(server.service, "192.0.2.7")
    await server.service.background_tasks.finished()
    after = await visitor.get("/ui/console/settings/safety")

    assert (before.status, after.status) == (200, 200)
    assert "192.0.2.7" not in before.text
    assert "192.0.2.7" in after.text
    assert "If your proxy is listed, add it to trusted_proxies" in after.text
