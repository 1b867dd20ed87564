"""Calls to addresses that others registered lead into no closed network."""

from __future__ import annotations

import asyncio
import socketserver
import ssl
import threading
from contextlib import suppress
from ipaddress import ip_address

import pytest

from idp.config.settings import Config
from idp.outgoing import http as outgoing_http
from idp.outgoing.failures import Failed
from idp.outgoing.http import Outgoing
from tests.support import patience
from tests.support.servers import certificate

PUBLIC = Config(issuer="https://login.example.com", store="memory://")
LOCAL = Config(issuer="http://localhost:8080", store="memory://")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Peer:
    """A server that says what it is told, whatever it is asked; `heard` is what it was sent.

    It goes on with `endless` until the other side has had enough. Without anything to say it is
    silent for as long.
    """

    def __init__(self, says: bytes | None, *, endless: bytes = b"", tls=None) -> None:
        self.heard: list[bytes] = []
        peer = self

        class Answer(socketserver.BaseRequestHandler):
            def handle(self):
                with suppress(OSError):
                    spoken = (
                        tls.wrap_socket(self.request, server_side=True) if tls else self.request
                    )
                    peer._answer(spoken, says, endless)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answer)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

    def __enter__(self):
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, spoken, says, endless):
        spoken.settimeout(patience.SECONDS)
        with spoken, spoken.makefile("rb") as reader:
            head = b"".join(iter(reader.readline, b"\r\n"))
            said = head.lower().partition(b"content-length: ")[2]
            length = int(said.split(b"\r\n")[0] or 0)
            self.heard.append(head + b"\r\n" + reader.read(length))
            if says is None:
                reader.read()
                return
            spoken.sendall(says)
            while endless:
                spoken.sendall(endless)
                patience.pause()


class Names:
    """A resolver that knows what it is told, and forgets it: each answer is given once."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = [*answers]
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host, port):
        self.asked.append((host, port))
        return self.answers.pop(0)


async def post(peer, config=LOCAL, host="127.0.0.1", calls=None, scheme="http"):
    url = f"{scheme}://{host}:{peer.port}/logout?x=1"
    return await (calls or Outgoing()).post_form(config, url, {"a": "b c"})


# which addresses

CLOSED = [
    *["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::", "0.1.2.3"],
    *["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "192.0.0.1"],
    *["169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "fd00::1", "fc00::1", "fec0::1"],
    *["224.0.0.1", "ff02::1", "ff0e::1", "240.0.0.1", "255.255.255.255", "198.18.0.1"],
    *["192.0.2.1", "2001:db8::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1"],
    *["2002:7f00:1::", "2002:a00:1::", "2001:0:7f00:1::", "::127.0.0.1"],
]


@pytest.mark.parametrize("address", CLOSED)
def test_no_address_of_a_closed_network_is_called_from_the_internet(address):
    assert not outgoing_http.may_be_called(PUBLIC, ip_address(address))


@pytest.mark.parametrize("address", ["93.184.215.14", "::ffff:93.184.215.14", "2606:2800::1"])
def test_public_addresses_are_called(address):
    assert outgoing_http.may_be_called(PUBLIC, ip_address(address))
    assert outgoing_http.may_be_called(LOCAL, ip_address(address))


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "172.17.0.2", "::ffff:10.0.0.1"])
def test_a_service_on_a_developers_machine_calls_its_neighbours(address):
    assert outgoing_http.may_be_called(LOCAL, ip_address(address))


@pytest.mark.parametrize("address", ["169.254.169.254", "fe80::1", "0.0.0.0", "224.0.0.1"])
def test_not_even_such_a_service_calls_what_no_application_has(address):
    assert not outgoing_http.may_be_called(LOCAL, ip_address(address))


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.1.2.3", "192.168.1.1", "fd00::1"])
def test_a_trial_that_others_reach_calls_nothing_nearby(address):
    reached = Config(host="0.0.0.0", allow_trial_network=True)  # noqa: S104
    opened = Config(allow_trial_network=True, outgoing_networks=("10.1.0.0/16",))

    assert outgoing_http.may_be_called(Config(), ip_address(address))
    assert not outgoing_http.may_be_called(reached, ip_address(address))
    assert outgoing_http.may_be_called(opened, ip_address(address)) is (address == "10.1.2.3")


def test_a_network_that_was_opened_is_called_and_no_other():
    config = Config(issuer=PUBLIC.issuer, outgoing_networks=("10.1.0.0/16", "fd00:1::/32"))
    called = ["10.1.2.3", "::ffff:10.1.2.3", "fd00:1::5"]

    assert all(outgoing_http.may_be_called(config, ip_address(each)) for each in called)
    assert not outgoing_http.may_be_called(config, ip_address("10.2.0.1"))
    assert not outgoing_http.may_be_called(config, ip_address("127.0.0.1"))


async def test_a_name_that_leads_nearby_is_not_called():
    with Peer(OK) as peer:
        for host in ("127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "localhost"):
            with pytest.raises(Failed, match="may not be called"):
                await post(peer, PUBLIC, host)

        assert peer.heard == []


async def test_one_closed_address_among_public_ones_is_enough_to_refuse_a_name():
    with Peer(OK) as peer:
        names = Names(["93.184.215.14", "127.0.0.1"], ["127.0.0.1", "93.184.215.14"])
        for _ in range(2):
            with pytest.raises(Failed, match="may not be called"):
                await post(peer, PUBLIC, "rebound.example", Outgoing(names))

        assert peer.heard == []


async def test_a_name_is_resolved_once_so_that_it_cannot_change_its_mind():
    with Peer(OK) as peer:
        names = Names(["127.0.0.1"])
        status = await post(peer, LOCAL, "rebound.example", Outgoing(names))

        assert status == 200
        assert names.asked == [("rebound.example", peer.port)]
        assert f"Host: rebound.example:{peer.port}".encode() in peer.heard[0]


async def test_of_several_addresses_the_first_that_listens_is_taken():
    with Peer(OK) as peer:
        names = Names(["127.0.0.2", "127.0.0.1"])

        assert await post(peer, LOCAL, "two.example", Outgoing(names)) == 200


async def test_a_name_without_an_address_is_no_failure_of_ours():
    with pytest.raises(Failed, match="no address"):
        await Outgoing(Names([])).post_form(LOCAL, "http://nobody.example/", {})


@pytest.mark.parametrize(
    "url",
    [
        *["file:///etc/passwd", "gopher://127.0.0.1:6379/_x", "ftp://client.example/", "app:/x"],
        *["//client.example/", "/logout", "", "http://", "http:///x", "http://[", "http://[::1"],
        *["http://client.example:22/", "http://client.example:25/", "http://client.example:0/"],
        *["http://client.example:99999/", "http://client.example:x/", "http://u@client.example/"],
        *["http://u:p@client.example/", "http://client.example@evil.example/"],
        *[
            "http://client.example/a b",
            "http://client.example/\r\nX: 1",
            "http://cli\tent.example",
        ],
        *["http://client.example\\@evil.example/", "http://caf\u00e9.example/", "http://a/\x00"],
    ],
)
async def test_what_is_no_address_of_a_web_server_is_not_even_looked_up(url):
    names = Names()
    with pytest.raises(Failed):
        await Outgoing(names).post_form(LOCAL, url, {})

    assert names.asked == []


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "a..example"])
async def test_a_host_that_cannot_be_looked_up_is_no_failure_of_ours(host):
    async def refuse(host, port):
        host.encode("idna")
        raise OSError("unknown")

    with pytest.raises(Failed):
        await Outgoing(refuse).post_form(LOCAL, f"http://{host}/", {})


# what is said and heard


async def test_the_request_is_a_form_and_nothing_more():
    with Peer(OK) as peer:
        await post(peer)
        head, _, body = peer.heard[0].partition(b"\r\n\r\n")

        assert head.split(b"\r\n")[0] == b"POST /logout?x=1 HTTP/1.1"
        assert b"Content-Type: application/x-www-form-urlencoded" in head
        assert b"Accept-Encoding: identity" in head
        assert b"Connection: close" in head
        assert b"Cookie" not in head
        assert b"Authorization" not in head
        assert body == b"a=b+c"


@pytest.mark.parametrize(
    ("says", "status"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204),
        (b"HTTP/1.0 400 Bad\r\n\r\n", 400),
        (b"HTTP/1.1 200\r\n\r\n", 200),
        (b"HTTP/1.1 200 OK\n\n", 200),
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", 200),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", 302),
        (b"HTTP/1.1 503 " + b"x" * 4000 + b"\r\n\r\n", 503),
        (OK + b"x" * 1_000_000, 200),
    ],
)
async def test_the_status_of_the_answer_is_all_that_counts(says, status):
    with Peer(says) as peer:
        assert await post(peer) == status


@pytest.mark.parametrize(
    "says",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 99 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 200 " + b"x" * 20_000 + b"\r\n\r\n",
    ],
)
async def test_what_is_no_answer_fails(says):
    with Peer(says) as peer, pytest.raises(Failed):
        await post(peer)


async def test_a_connection_that_is_closed_at_once_is_reported_as_such():
    with Peer(b"") as peer, pytest.raises(Failed, match="closed without an answer"):
        await post(peer)


async def test_an_answer_counts_even_if_its_body_never_ends():
    with Peer(OK, endless=b"more") as peer:
        assert await post(peer) == 200


@pytest.mark.full
@pytest.mark.parametrize(
    ("says", "endless"),
    [(b"", b"\0"), (b"HTTP/1.1 100 Continue\r\n", b"X: y\r\n"), (b"HTTP/1.1 2", b"0")],
)
async def test_who_answers_drop_by_drop_is_waited_for_no_longer_than_a_deadline(says, endless):
    with Peer(says, endless=endless) as peer, pytest.raises(Failed):
        await post(peer, calls=Outgoing(seconds=0.5))


async def test_who_never_answers_is_not_waited_for():
    with Peer(None) as peer, pytest.raises(Failed, match="no answer within"):
        await post(peer, calls=Outgoing(seconds=0.2))


@pytest.mark.full
async def test_too_many_calls_at_once_fail_before_they_are_made(monkeypatch):
    monkeypatch.setattr(outgoing_http, "MAX_CALLS", 2)
    asked = []

    async def hold(host, port):
        asked.append(host)
        await asyncio.Event().wait()

    calls = Outgoing(hold, seconds=0.3)
    posts = [calls.post_form(LOCAL, f"http://{name}.example/", {}) for name in "abcdefgh"]
    failures = await asyncio.gather(*posts, return_exceptions=True)

    assert all(isinstance(each, Failed) for each in failures)
    assert asked[:2] == ["a.example", "b.example"]
    assert any("too many" in str(each) for each in failures)


async def test_a_certificate_of_an_unknown_issuer_is_not_trusted(tmp_path):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    chain, key = certificate.self_signed(tmp_path)
    tls.load_cert_chain(tmp_path / chain, tmp_path / key)
    with Peer(OK, tls=tls) as peer:
        with pytest.raises(Failed, match="CERTIFICATE_VERIFY_FAILED"):
            await post(peer, scheme="https")

        assert peer.heard == []
