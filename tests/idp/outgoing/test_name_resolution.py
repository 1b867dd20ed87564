"""Names are resolved without the operating system's look-up, which can't be interrupted."""

from __future__ import annotations

import asyncio
import socket
import socketserver
import threading

import dns.message
import dns.rcode
import dns.rrset
import pytest

from idp.config.settings import Config
from idp.outgoing import name_resolution, name_servers
from idp.outgoing.failures import Failed
from idp.outgoing.http import Outgoing
from idp.outgoing.name_resolution import HostsFile, NameResolution, NotResolved
from tests.idp.outgoing.test_http import OK, Peer
from tests.support.clock import SteppingTimer

PUBLIC = Config(issuer="https://login.example.com", store="memory://")
RECORDS = {
    ("both.example.", "A"): "192.0.2.7",
    ("both.example.", "AAAA"): "2001:db8::7",
    ("six.example.", "AAAA"): "2001:db8::6",
    ("wiki.corp.example.", "A"): "192.0.2.8",
    ("inside.example.", "A"): "127.0.0.1",
}


class NameServer:
    """Answers from `RECORDS`; names that begin with `hanging` get no answer."""

    def __init__(self):
        self.asked: list[str] = []
        server = self

        class Answer(socketserver.BaseRequestHandler):
            def handle(self):
                query, connection = self.request
                if answer := server._answer(dns.message.from_wire(query)):
                    connection.sendto(answer.to_wire(), self.client_address)

        self._udp = socketserver.UDPServer(("127.0.0.1", 0), Answer)
        self.port = self._udp.server_address[1]
        threading.Thread(target=self._udp.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self._udp.shutdown()
        self._udp.server_close()

    def _answer(self, query):
        name, kind = str(query.question[0].name), query.question[0].rdtype.name
        self.asked.append(name)
        if name.startswith("hanging"):
            return None
        answer = dns.message.make_response(query)
        if found := RECORDS.get((name.lower(), kind)):
            answer.answer = [dns.rrset.from_text(name, 60, "IN", kind, found)]
        elif name not in {each for each, _ in RECORDS}:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        return answer


@pytest.fixture
def name_server(monkeypatch, tmp_path):
    """A name server that the machine is configured to use, with the search domain corp.example."""
    path, server = tmp_path / "resolv.conf", NameServer()
    path.write_text("nameserver 127.0.0.1\nsearch corp.example\n")
    real = name_servers.resolver

    async def resolver():
        found = await real(str(path))
        found.port = server.port
        return found

    monkeypatch.setattr(name_servers, "resolver", resolver)
    yield server
    server.close()


@pytest.fixture
def timer():
    return SteppingTimer()


@pytest.fixture
def hosts(tmp_path):
    path = tmp_path / "hosts"
    path.write_text("# comment\n192.0.2.1 mail.internal Mail # x\n::1 mail.internal\nbad x\n\n")
    return HostsFile(path)


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("both.example", ["192.0.2.7", "2001:db8::7"]),
        ("BOTH.example.", ["192.0.2.7", "2001:db8::7"]),
        ("six.example", ["2001:db8::6"]),
        ("wiki", ["192.0.2.8"]),
    ],
)
async def test_a_name_has_its_addresses_of_both_kinds_and_those_of_the_search_domain(
    name_server, hosts, host, found
):
    assert await NameResolution(hosts=hosts)(host, 443) == found


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("mail.internal", ["192.0.2.1", "::1"]),
        ("MAIL.", ["192.0.2.1"]),
        ("localhost", ["127.0.0.1", "::1"]),
        ("issuer.localhost", ["127.0.0.1", "::1"]),
        ("127.1", ["127.0.0.1"]),
        ("2130706433", ["127.0.0.1"]),
        ("::1", ["::1"]),
    ],
)
async def test_names_of_the_hosts_file_and_addresses_need_no_name_server(
    name_server, hosts, host, found
):
    assert list(await NameResolution(hosts=hosts)(host, 443)) == found
    assert name_server.asked == []


async def test_a_changed_hosts_file_counts_at_once_and_a_missing_one_has_no_names(hosts, tmp_path):
    assert hosts.addresses("new.internal") == ()

    (tmp_path / "hosts").write_text("192.0.2.99 new.internal\n")

    assert hosts.addresses("new.internal") == ["192.0.2.99"]
    assert hosts.addresses("mail") == ()
    assert HostsFile(tmp_path / "none").addresses("mail") == ()


@pytest.mark.parametrize("host", ["nobody.example", "a" * 64 + ".example", "a..example"])
async def test_a_name_that_does_not_exist_is_not_resolved(name_server, hosts, host):
    with pytest.raises(NotResolved, match=host):
        await NameResolution(hosts=hosts)(host, 443)


async def test_names_whose_servers_hang_delay_no_other_name_and_no_thread_waits_for_them(
    name_server, hosts, monkeypatch
):
    monkeypatch.setattr(socket, "getaddrinfo", None)
    resolution = NameResolution(hosts=hosts)
    hanging = [
        asyncio.create_task(resolution(f"hanging-{number}.example", 443)) for number in range(60)
    ]

    assert await resolution("both.example", 443) == ["192.0.2.7", "2001:db8::7"]

    assert not any(each.done() for each in hanging)
    for each in hanging:
        each.cancel()
    ended = await asyncio.gather(*hanging, return_exceptions=True)
    assert all(isinstance(each, asyncio.CancelledError) for each in ended)


@pytest.mark.promise("security: names that hang")
async def test_a_name_whose_servers_hang_fails_and_is_not_asked_for_again_for_a_short_time(
    hosts, timer
):
    asked = []

    async def hang(name):
        asked.append(name)
        await asyncio.Event().wait()

    resolution = NameResolution(hang, hosts, seconds=0, now=timer.monotonic)
    for _ in range(3):
        with pytest.raises(NotResolved, match=r"hanging\.example: no name server answered"):
            await resolution("hanging.example", 443)
    await timer.advance(name_resolution.FAILURE_SECONDS)
    with pytest.raises(NotResolved):
        await resolution("Hanging.example", 443)

    assert asked == ["hanging.example"] * 2


async def test_of_the_failures_the_oldest_is_forgotten_when_there_are_too_many(
    hosts, timer, monkeypatch
):
    monkeypatch.setattr(name_resolution, "MAX_FAILURES", 2)
    asked = []

    async def refuse(name):
        asked.append(name)
        raise NotResolved("unknown")

    resolution = NameResolution(refuse, hosts, now=timer.monotonic)
    for name in ("one", "two", "three", "three", "two", "one"):
        with pytest.raises(NotResolved):
            await resolution(name, 443)

    assert asked == ["one", "two", "three", "one"]


async def test_a_look_up_takes_two_seconds_at_most_and_asks_each_server_in_them(tmp_path):
    path = tmp_path / "resolv.conf"
    path.write_text("nameserver 192.0.2.1\nnameserver 192.0.2.2\noptions timeout:30\n")

    resolver = await name_servers.resolver(str(path))

    assert resolver.lifetime == 2
    assert resolver.timeout * len(resolver.nameservers) < 2


async def test_without_settings_the_name_server_of_this_machine_is_asked(tmp_path):
    resolver = await name_servers.resolver(str(tmp_path / "none"))

    assert list(resolver.nameservers) == ["127.0.0.1"]


async def test_a_name_that_a_name_server_leads_into_a_closed_network_is_not_called(
    name_server, hosts
):
    calls = Outgoing(NameResolution(hosts=hosts))
    with Peer(OK) as peer:
        with pytest.raises(Failed, match="may not be called"):
            await calls.post_form(PUBLIC, f"http://inside.example:{peer.port}/", {})
        with pytest.raises(Failed, match="may not be called"):
            await calls.post_form(PUBLIC, f"http://mail.internal:{peer.port}/", {})

        assert peer.heard == []
