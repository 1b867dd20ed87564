"""The HTTP client: deadlines, TLS, and what it leaves alone: redirects, proxies, the log."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import sys
from contextlib import suppress

import pytest

from idp.outgoing import http as outgoing_http
from idp.outgoing.failures import Failed, TimedOut
from idp.outgoing.http import Outgoing
from tests.idp.outgoing.test_http import LOCAL, OK, Names, Peer, post
from tests.support import patience
from tests.support.servers import certificate


async def test_own_calls_do_not_wait_for_those_to_addresses_of_others(monkeypatch):
    monkeypatch.setattr(outgoing_http, "MAX_CALLS", 1)
    held = asyncio.Event()

    async def hold(host, port):
        if host == "hanging.example":
            held.set()
            await asyncio.Event().wait()
        return ["127.0.0.1"]

    calls = Outgoing(hold, seconds=5)
    hanging = asyncio.create_task(calls.post_form(LOCAL, "http://hanging.example/", {}))
    await held.wait()
    with Peer(OK) as peer:
        assert await calls.post_own(f"http://own.example:{peer.port}/", b"{}", {}) == 200
    hanging.cancel()
    await asyncio.gather(hanging, return_exceptions=True)


async def test_calls_to_a_host_that_hangs_leave_room_for_others(monkeypatch):
    monkeypatch.setattr(outgoing_http, "MAX_CALLS", 3)
    monkeypatch.setattr(outgoing_http, "MAX_CALLS_PER_HOST", 2)
    held = asyncio.Semaphore(0)

    async def hold(host, port):
        if host == "hanging.example":
            held.release()
            await asyncio.Event().wait()
        return ["127.0.0.1"]

    calls = Outgoing(hold, seconds=5)
    with Peer(OK) as peer:
        url = f"http://hanging.example:{peer.port}/"
        hanging = [asyncio.create_task(calls.post_form(LOCAL, url, {})) for _ in range(6)]
        for _ in range(2):
            await held.acquire()
        assert await calls.post_form(LOCAL, f"http://other.example:{peer.port}/", {}) == 200
    for each in hanging:
        each.cancel()
    outcomes = await asyncio.gather(*hanging, return_exceptions=True)
    assert all(isinstance(each, asyncio.CancelledError) for each in outcomes)
    assert held.locked()  # the other four have waited for their turn


@pytest.fixture
def hanging():
    """Resolves every name but those that begin with `slow`, until it is set."""
    event = asyncio.Event()

    async def resolve(host, port):
        if host.startswith("slow"):
            await event.wait()
        return ["127.0.0.1"]

    event.resolve = resolve
    yield event
    event.set()


async def test_the_slow_hosts_of_an_organization_leave_room_for_others(monkeypatch, hanging):
    monkeypatch.setattr(outgoing_http, "MAX_CALLS", 3)
    monkeypatch.setattr(outgoing_http, "MAX_CALLS_PER_OWNER", 2)
    calls = Outgoing(hanging.resolve, seconds=5)
    with Peer(OK) as peer:
        urls = [f"http://{name}.example:{peer.port}/" for name in ("slow1", "slow2", "slow3")]
        waiting = [
            asyncio.create_task(calls.for_owner("org-1").post_form(LOCAL, url, {}))
            for url in urls * 2
        ]
        await asyncio.sleep(0)
        for owner in ("org-2", None):
            other = calls.for_owner(owner).post_form(
                LOCAL, f"http://quick.example:{peer.port}/", {}
            )
            assert await other == 200
        assert not any(task.done() for task in waiting)
        hanging.set()
        assert await asyncio.gather(*waiting) == [200] * 6


async def test_a_call_that_is_cancelled_ends_its_look_up_and_gives_its_place_back(monkeypatch):
    monkeypatch.setattr(outgoing_http, "MAX_CALLS_PER_OWNER", 1)
    begun, ended = asyncio.Event(), asyncio.Event()

    async def resolve(host, port):
        if host != "slow.example":
            return ["127.0.0.1"]
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    own = Outgoing(resolve).for_owner("org-1")
    slow = asyncio.create_task(own.post_form(LOCAL, "http://slow.example/", {}))
    await begun.wait()
    slow.cancel()
    await asyncio.gather(slow, return_exceptions=True)

    assert ended.is_set()
    with Peer(OK) as peer:
        assert await own.post_form(LOCAL, f"http://quick.example:{peer.port}/", {}) == 200


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """TLS of a server at a name that the calls trust."""

    def under(name):
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        chain, key = certificate.self_signed(tmp_path, name)
        tls.load_cert_chain(tmp_path / chain, tmp_path / key)
        trust = ssl.create_default_context(cafile=tmp_path / chain)
        monkeypatch.setattr(outgoing_http, "_tls", lambda: trust)
        return tls

    return under


async def test_a_certificate_of_the_name_is_trusted(shown):
    with Peer(OK, tls=shown("client.example")) as peer:
        names = Names(["127.0.0.1"])
        status = await post(peer, LOCAL, "client.example", Outgoing(names), scheme="https")

        assert status == 200
        assert f"Host: client.example:{peer.port}".encode() in peer.heard[0]


async def test_a_certificate_of_another_name_is_not_trusted(shown):
    with Peer(OK, tls=shown("other.example")) as peer:
        names = Names(["127.0.0.1"])
        with pytest.raises(Failed, match="mismatch"):
            await post(peer, LOCAL, "client.example", Outgoing(names), scheme="https")

        assert peer.heard == []


@pytest.mark.full
async def test_the_deadline_is_for_the_handshake_too_and_the_connection_is_closed_then():
    closed = asyncio.Event()

    async def be_silent(reader, writer):
        await reader.read()
        writer.close()
        closed.set()

    async with await asyncio.start_server(be_silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        for url in (f"https://127.0.0.1:{port}/", f"http://127.0.0.1:{port}/"):
            closed.clear()
            with pytest.raises(TimedOut, match="no answer within 0.3 s"):
                await Outgoing(seconds=0.3).get_own(url)
            await asyncio.wait_for(closed.wait(), patience.SECONDS)


async def test_a_call_that_is_cancelled_closes_its_connection():
    asked, closed = asyncio.Event(), asyncio.Event()

    async def be_silent(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await reader.read()
        writer.close()
        closed.set()

    async with await asyncio.start_server(be_silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        call = asyncio.create_task(Outgoing().get_own(f"http://127.0.0.1:{port}/"))
        await asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(closed.wait(), patience.SECONDS)


@pytest.mark.full
async def test_a_cancellation_that_is_lost_does_not_lose_the_deadline():
    async def swallow(host, port):
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return ["127.0.0.1"]

    with Peer(None) as peer, pytest.raises(TimedOut):
        await post(peer, host="client.example", calls=Outgoing(swallow, seconds=0.2))


@pytest.mark.parametrize("max_bytes", [0, 1, 3, 10, 11])
async def test_of_a_body_no_more_is_given_than_was_asked_for(max_bytes):
    with Peer(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789") as peer:
        answer = await Outgoing().exchange(
            LOCAL,
            "GET",
            f"http://127.0.0.1:{peer.port}/",
            {},
            b"",
            max_bytes=max_bytes,
            seconds=5,
        )

    assert (answer.status, answer.body) == (200, b"0123456789"[:max_bytes])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_is_followed(status):
    with Peer(OK) as target:
        says = f"HTTP/1.1 {status} Else\r\nLocation: http://127.0.0.1:{target.port}/\r\n\r\n"
        with Peer(says.encode()) as peer:
            url = f"http://127.0.0.1:{peer.port}/"
            assert await post(peer) == status
            assert await Outgoing().get_lines(LOCAL, url) == (status, [])

        assert target.heard == []


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
async def test_a_proxy_in_the_environment_is_not_asked(name, monkeypatch):
    with Peer(OK) as proxy, Peer(b"HTTP/1.1 204 None\r\n\r\n") as peer:
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert await post(peer) == 204

        assert proxy.heard == []
        assert len(peer.heard) == 1


@pytest.mark.full
@pytest.mark.parametrize("module", ["idp.cli", "idp.outgoing.http", "idp.server.listener"])
def test_the_client_is_not_loaded_before_the_first_call(module):
    code = f"import sys, {module}; print({{'h11'}} & {{*sys.modules}})"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )

    assert found.stdout.strip() == "set()"
