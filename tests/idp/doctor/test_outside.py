"""What `idp doctor` checks from outside: TLS, discovery, proxies, mail; all on loopback."""

from __future__ import annotations

import asyncio
import json
import socket
import socketserver
import ssl
import threading
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime, timedelta

import pytest

from idp import doctor
from idp.config.settings import Config
from idp.doctor import outside
from idp.doctor.check import Installation
from idp.foundation.clock import SystemClock
from idp.oauth.paths import KEYS
from idp.outgoing import http as outgoing_http
from idp.outgoing.http import Outgoing
from idp.outgoing.name_resolution import NotResolved
from idp.records import ALL, SIGNING_KEYS, UNTRUSTED_PROXIES, SigningKey, UntrustedProxy
from storage import Insert, open_store
from tests.support import patience
from tests.support.servers import certificate

NAME = "login.example.com"
DISCOVERY = "/.well-known/openid-configuration"
NOW = datetime.now(UTC)


@contextmanager
def listening(directory, answers, name=NAME, days=90):
    """The port of a TLS server that answers each path with a document."""
    chain, key = certificate.self_signed(directory, name, days)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(directory / chain, directory / key)

    class Answering(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.settimeout(patience.SECONDS)
            with suppress(OSError), tls.wrap_socket(self.request, server_side=True) as peer:
                head = peer.recv(4096).decode()
                if head:
                    peer.sendall(answer(answers.get(head.split()[1])))

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def answer(found):
    body = json.dumps(found).encode() if isinstance(found, dict) else b"a page"
    status = "404 Not Found" if found is None else "200 OK"
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def loopback(host, port):
    assert host == NAME
    return ["127.0.0.1"]


@asynccontextmanager
async def a_store(*records):
    store = open_store("memory://", now=lambda: NOW, new_id=lambda: "unit")
    await store.open(ALL)
    for record in records:
        await store.commit(record)
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
def trusted(tmp_path, monkeypatch):
    """Trusts what the listener in this directory shows."""
    monkeypatch.setattr(
        outgoing_http, "_tls", lambda: ssl.create_default_context(cafile=tmp_path / "chain.pem")
    )
    return tmp_path


def installation(store=None, clock=None, resolve=loopback, **settings):
    return Installation(
        Config(**({"issuer": f"https://{NAME}"} | settings)),
        SystemClock(),
        store,
        outgoing=Outgoing(resolve, seconds=5),
        wall_clock=clock or SystemClock(),
    )


async def find(id, store=None, clock=None, **settings):
    examined = installation(store, clock, **settings)
    results = await doctor.examine(examined, ["outside"])
    return next(each for each in results if each.check.id == id).finding


def issuer(port):
    return f"https://{NAME}:{port}"


# The name


@pytest.mark.promise("doctor: checks")
async def test_a_name_without_an_address_fails_until_it_has_one():
    async def missing(host, port):
        assert host == NAME
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    found = await outside.issuer_dns(installation(resolve=missing))
    assert found.state == "fail"
    assert found.sentence == f"{NAME} has no address: Name or service not known"

    async def two(host, port):
        return ["2001:db8::1", "192.0.2.1", "192.0.2.1"]

    async def unknown(host, port):
        raise NotResolved(f"{NAME}: NXDOMAIN")

    found = await outside.issuer_dns(installation(resolve=unknown))
    assert found.sentence == f"{NAME} has no address: NXDOMAIN"
    found = await outside.issuer_tls(installation(resolve=unknown))
    assert found.fix == "Make the address reachable by TLS. No certificate was seen."

    found = await outside.issuer_dns(installation(resolve=two))
    assert found.state == "ok"
    assert found.sentence == f"{NAME} has the addresses 192.0.2.1, 2001:db8::1"


@pytest.mark.parametrize("address", ["127.0.1.1", "::1", "0.0.0.0", "fe80::1%eth0"])
async def test_an_address_that_only_this_machine_reaches_is_a_warning(address):
    async def own(host, port):
        return ["192.0.2.1", address]

    assert (await outside.issuer_dns(installation(resolve=own))).state == "warn"


@pytest.mark.full
async def test_checks_wait_for_other_servers_together_and_for_a_limited_time(monkeypatch):
    monkeypatch.setattr(doctor, "OUTSIDE_SECONDS", 0.5)
    waiting = []

    async def never(host, port):
        waiting.append(host)
        await asyncio.Event().wait()

    results = await doctor.examine(installation(resolve=never), ["outside"])

    by_id = {each.check.id: each.finding for each in results}
    assert waiting == [NAME] * 3
    for id in ("issuer.dns", "issuer.tls", "issuer.self"):
        assert by_id[id].state == "fail"
        assert by_id[id].sentence == "the check was not done after 0.5 s"


# The certificate


@pytest.mark.promise("doctor: checks")
async def test_a_certificate_that_soon_ends_is_a_warning_until_it_is_renewed(trusted):
    with listening(trusted, {}, days=13) as port:
        found = await find("issuer.tls", issuer=issuer(port))
    days = {f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%d}" for days in (12, 13)}
    assert found.state == "warn"
    assert any(day in found.sentence for day in days)

    with listening(trusted, {}, days=90) as port:
        assert (await find("issuer.tls", issuer=issuer(port))).state == "ok"


async def test_a_certificate_of_another_name_fails(trusted):
    with listening(trusted, {}, name="other.example.com") as port:
        found = await find("issuer.tls", issuer=issuer(port))

    assert found.state == "fail"
    assert "mismatch" in found.sentence


async def test_a_certificate_that_nobody_vouches_for_fails(tmp_path):
    with listening(tmp_path, {}) as port:
        found = await find("issuer.tls", issuer=issuer(port))

    assert found.state == "fail"
    assert "CERTIFICATE_VERIFY_FAILED" in found.sentence
    assert not found.fix


async def test_an_issuer_without_tls_fails():
    found = await find("issuer.tls", issuer=f"http://{NAME}", insecure_http=True)

    assert (found.state, found.fix) == ("fail", "Give the service an https issuer.")


# The public address


def documents(port, kid="own", **changes):
    return {DISCOVERY: {"issuer": issuer(port)} | changes, KEYS: {"keys": [{"kid": kid}]}}


def signing_key(id):
    return SigningKey(
        id=id,
        use="sig",
        algorithm="RS256",
        state="active",
        sealed_private="",
        created_at=NOW,
        changed_at=NOW,
    )


@pytest.mark.promise("doctor: checks")
async def test_an_address_of_another_installation_fails_until_it_leads_here(trusted):
    answers = {}
    own = Insert(SIGNING_KEYS, signing_key("own"))
    async with a_store(own) as store:
        with listening(trusted, answers) as port:
            answers |= documents(port, kid="foreign")
            found = await find("issuer.self", store, issuer=issuer(port))
            assert found.state == "fail"
            assert "another installation" in found.sentence

            answers |= documents(port)
            assert (await find("issuer.self", store, issuer=issuer(port))).state == "ok"


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ({}, "answered 404"),
        ({DISCOVERY: "page"}, "something other than JSON"),
        ({DISCOVERY: {"issuer": "https://else.example"}, KEYS: {}}, "names another issuer"),
    ],
)
async def test_an_address_that_does_not_name_this_issuer_fails(trusted, answers, told):
    with listening(trusted, answers) as port:
        found = await find("issuer.self", issuer=issuer(port))

    assert found.state == "fail"
    assert told in found.sentence


async def test_without_a_store_the_keys_are_not_compared(trusted):
    answers = {}
    with listening(trusted, answers) as port:
        answers |= documents(port)
        found = await find("issuer.self", issuer=issuer(port))

    assert found.state == "ok"
    assert "not compared" in found.sentence


# Proxies


@pytest.mark.promise("doctor: checks")
async def test_a_proxy_that_is_not_named_is_a_warning_until_it_is():
    proxy = UntrustedProxy(id="10.1.2.3", seen_at=NOW, expires_at=NOW + timedelta(days=7))
    async with a_store(Insert(UNTRUSTED_PROXIES, proxy)) as store:
        found = await find("proxy.address", store)
        assert (found.state, found.names, found.count) == ("warn", ["10.1.2.3"], 1)

        named = await find("proxy.address", store, trusted_proxies=("10.0.0.0/8",))
        assert named.state == "ok"


async def test_trusting_every_address_fails():
    found = await find("proxy.address", trusted_proxies=("0.0.0.0/0",))

    assert found.state == "fail"


# Mail


@pytest.mark.promise("doctor: checks")
async def test_a_mail_server_that_refuses_fails_until_it_takes_the_connection(
    new_mail_server, tmp_path
):
    password = tmp_path / "password"
    password.write_text("wrong and secret")
    server = await new_mail_server()
    settings = {"smtp_host": "127.0.0.1", "smtp_port": server.port, "smtp_security": "none"}
    closed = await new_mail_server(is_closed=True)

    log_in = {"smtp_user": "nobody", "smtp_password_file": str(password)}
    refused = await find("mail.reach", **(settings | log_in | {"smtp_port": closed.port}))
    found = await find("mail.reach", **settings)

    assert refused.state == "fail"
    assert "wrong and secret" not in refused.sentence
    assert found.state == "ok"
    assert (server.raw_messages, closed.raw_messages) == ([], [])


async def test_no_mail_server_is_a_warning():
    assert (await find("mail.reach")).state == "warn"


async def test_a_loopback_issuer_is_not_looked_at_from_outside():
    for id in (each.id for each in doctor.AREAS["outside"]):
        assert (await find(id, issuer="http://localhost:8080")).state == "skipped"
