"""The server's accepting: what it does where the kernel gives it no connection."""

from __future__ import annotations

import asyncio
import errno
import json
import math
import os
import socket
import ssl
import struct

import pytest
from tornado.web import Application, RequestHandler

from idp.config.settings import Config
from idp.server import certificate, http_server
from idp.server.http_server import BoundedServer
from idp.server.port import ManagersSocket
from tests.support import patience
from tests.support.measured.logged import logged
from tests.support.patience import until
from tests.support.servers.certificate import self_signed

LARGE = 32 * 1024 * 1024  # more than the kernel takes for a client that does not read


class Hello(RequestHandler):
    def get(self):
        self.finish("hello")


class Large(RequestHandler):
    def get(self):
        self.finish(bytes(LARGE))


class Failing:
    """A listening socket whose next accepts fail."""

    def __init__(self, real, *errors):
        self._real = real
        self.errors = list(errors)

    def accept(self):
        if self.errors:
            raise OSError(self.errors.pop(0), "as told")
        return self._real.accept()

    def __getattr__(self, name):
        return getattr(self._real, name)


class Time:
    """The server's loop, at a time that only tests move."""

    def __init__(self, server):
        self._real = server._loop
        # A whole second, so that sums and differences are exact, and none that was before a
        # connection was accepted.
        self._now = float(math.ceil(self._real.time()))
        self._server = server
        server._timer.cancel()
        server._loop = self

    def time(self):
        return self._now

    def call_later(self, *_):
        return self._server._timer

    def __getattr__(self, name):
        return getattr(self._real, name)

    def passes(self, seconds):
        """So many seconds pass, and the server looks at its connections."""
        self._now += seconds
        self._server._check_time_limits()


class Log:
    def __init__(self):
        self.events = []

    def error(self, event, **fields):
        self.events.append(event)


@pytest.fixture
def log(monkeypatch):
    made = Log()
    monkeypatch.setattr(http_server, "_log", made)
    return made


def serving(shut, *errors, tls=None):
    """A server whose next accepts fail with these errors, and its port."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setblocking(False)
    app = Application([("/", Hello), ("/large", Large)], log_function=lambda _: None)
    server = BoundedServer(app, Config(), tls, shut.set)
    server.listen_on(Failing(listening, *errors))
    return server, listening.getsockname()[1]


async def asked(port):
    """A connection, and the first line of its answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    return writer, await again(reader, writer)


async def at_rest(reader, writer, server):
    """Asks again, and waits until the server knows that it has answered."""
    await again(reader, writer)
    await until(lambda: not server._connections.active)


async def again(reader, writer):
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(5)
    return head.split(b"\r\n")[0].decode()


async def test_without_descriptors_it_pauses_closes_idle_connections_and_says_so_once(log):
    server, port = serving(asyncio.Event())
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await again(reader, writer)
    server._listening_socket.errors += [errno.EMFILE, errno.ENFILE, errno.EMFILE]

    other, status = await asked(port)

    assert status == "HTTP/1.1 200 OK"
    assert await reader.read() == b""  # the idle one
    assert log.events == ["no file descriptors left"]
    for each in (writer, other):
        each.close()
    server.stop()
    await server.close_all_connections()


async def test_another_failure_of_the_network_stops_nothing(log):
    server, port = serving(asyncio.Event(), errno.EPROTO, errno.ENOBUFS)

    writer, status = await asked(port)
    server._listening_socket.errors.append(errno.EPROTO)
    server.stop()

    assert status == "HTTP/1.1 200 OK"
    assert log.events == ["connections can't be accepted"]
    writer.close()
    await server.close_all_connections()


async def test_a_socket_that_the_supervisor_shut_asks_for_a_stop():
    shut = asyncio.Event()
    server, _ = serving(shut)
    server._listening_socket.shutdown(socket.SHUT_RDWR)

    async with asyncio.timeout(patience.SECONDS):
        await shut.wait()
    server.stop()
    await server.close_all_connections()

    assert shut.is_set()


async def test_a_connection_that_ended_in_the_queue_delays_nobody():
    server, port = serving(asyncio.Event(), errno.ECONNABORTED)

    writer, status = await asked(port)

    assert status == "HTTP/1.1 200 OK"
    writer.close()
    server.stop()
    await server.close_all_connections()


def reset(port, sent):
    """A connection that its client resets at once."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(sent)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


async def test_connections_that_were_reset_before_their_handshake_harm_nobody(tmp_path):
    chain, key = self_signed(tmp_path)
    files = {"tls_cert": str(tmp_path / chain), "tls_key": str(tmp_path / key)}
    server, port = serving(asyncio.Event(), tls=certificate.context(Config(**files)))
    for sent in (b"", b"x"):
        reset(port, sent)
    trusting = ssl.create_default_context(cafile=tmp_path / chain)
    _, last = await asyncio.open_connection("127.0.0.1", port, ssl=trusting)
    last.close()
    for sent in (b"", b"x"):
        reset(port, sent)

    server.stop()
    await server.close_all_connections()
    assert len(server._connections) == 0


async def test_a_stop_accepts_what_waits_in_the_queue_and_then_nothing():
    server, port = serving(asyncio.Event())
    connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]

    server.stop()  # the event loop has not accepted any of them

    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
    for each in connections:
        each.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=each)
        assert await again(reader, writer) == "HTTP/1.1 200 OK"
        writer.close()
    await server.close_all_connections()


async def test_a_stop_leaves_what_waits_at_the_service_managers_socket_to_the_next_process():
    with socket.create_server(("127.0.0.1", 0)) as shared:
        shared.setblocking(False)
        server = BoundedServer(Application([]), Config(), None, lambda: None)
        server.listen_on(ManagersSocket(fileno=os.dup(shared.fileno())))
        waiting = [socket.create_connection(shared.getsockname()) for _ in range(3)]
        server.stop()
        await server.close_all_connections()

        left = [shared.accept()[0] for _ in waiting]
    for each in (*waiting, *left):
        each.close()


async def test_a_first_request_that_is_on_its_way_when_the_server_stops_is_answered():
    server, port = serving(asyncio.Event())
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await until(lambda: len(server._connections) == 1)
    server.stop()
    arriving = asyncio.ensure_future(server.first_requests())

    assert await again(reader, writer) == "HTTP/1.1 200 OK"
    await arriving
    writer.close()
    await server.close_all_connections()


async def ended(server):
    await server.close_all_connections()
    server.stop()


async def test_a_connection_that_rests_for_too_long_is_closed(counted):
    server, port = serving(asyncio.Event())
    time = Time(server)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    await at_rest(reader, writer, server)
    time.passes(74)
    await at_rest(reader, writer, server)
    time.passes(74)
    assert counted("http_connections_closed_total", reason="idle") in (0, None)
    time.passes(1)

    assert await reader.read() == b""
    assert counted("http_connections_closed_total", reason="idle") == 1
    writer.close()
    await ended(server)


async def unread(server, port):
    """A connection whose client has asked for a large response, and reads nothing of it."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
    client.connect(("127.0.0.1", port))
    client.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await until(lambda: any(stream.is_sending() for stream in server._connection_of_stream))
    return client


async def test_a_client_that_does_not_read_its_response_is_not_waited_for(counted):
    server, port = serving(asyncio.Event())
    time = Time(server)
    client = await unread(server, port)

    time.passes(0)
    time.passes(29)
    assert len(server._connections) == 1

    # Until the kernel has passed on what its buffers take, that counts as read.
    await until(lambda: time.passes(30) or not server._connection_of_stream)
    assert len(server._connections) == 0
    assert counted("http_connections_closed_total", reason="stalled") == 1
    client.close()
    await ended(server)


@pytest.mark.full
async def test_a_client_that_reads_slowly_gets_its_whole_response(counted):
    server, port = serving(asyncio.Event())
    time = Time(server)
    client = await unread(server, port)

    time.passes(0)
    for _ in range(6):
        client.recv(128 * 1024, socket.MSG_WAITALL)  # less than the kernel frees at once
        time.passes(29)
    reader, writer = await asyncio.open_connection(sock=client)
    rest = await reader.readexactly(LARGE - 6 * 128 * 1024)

    assert not any(rest)
    assert counted("http_connections_closed_total", reason="stalled") in (0, None)
    writer.close()
    await ended(server)


@pytest.fixture
def over_tls(tmp_path):
    chain, key = self_signed(tmp_path)
    files = {"tls_cert": str(tmp_path / chain), "tls_key": str(tmp_path / key)}
    return certificate.context(Config(**files))


async def test_handshakes_that_fail_or_do_not_come_are_counted(over_tls, counted):
    server, port = serving(asyncio.Event(), tls=over_tls)
    time = Time(server)
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await until(lambda: server._connection_of_stream)
    await until(lambda: not server._connection_of_stream)
    assert counted("http_connections_closed_total", reason="tls") == 1

    silent, silent_writer = await asyncio.open_connection("127.0.0.1", port)
    await until(lambda: server._connection_of_stream)
    time.passes(10)

    assert await silent.read() == b""
    assert counted("http_connections_closed_total", reason="tls") == 2
    assert counted("http_connections_closed_total", reason="slow_head") in (0, None)
    for each in (writer, silent_writer):
        each.close()
    await ended(server)


@pytest.fixture
def lines():
    with logged() as stream:
        yield stream


async def test_handshakes_that_fail_are_one_line_with_the_cause_and_their_number(over_tls, lines):
    server, port = serving(asyncio.Event(), tls=over_tls)
    for _ in range(5):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await until(lambda: server._connection_of_stream)
        await until(lambda: not server._connection_of_stream)
        writer.close()

    [line] = [json.loads(each) for each in lines.getvalue().splitlines()]
    assert (line["level"], line["event"]) == ("info", "a TLS handshake failed")
    assert line["cause"] == "the client sent HTTP without TLS"
    assert line["address"] == "127.0.0.1"
    await ended(server)


def connect(port: int, client_side: ssl.SSLContext) -> None:
    """Connect as most programs do: unlike asyncio, they send an alert when they give up."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        client_side.wrap_socket(client, server_hostname="localhost").close()


@pytest.mark.parametrize("trusts", [True, False])
async def test_a_handshake_fails_for_a_cause_that_the_log_names(over_tls, lines, trusts):
    server, port = serving(asyncio.Event(), tls=over_tls)
    client_side = ssl.create_default_context()
    if trusts:
        client_side.check_hostname, client_side.verify_mode = False, ssl.CERT_NONE
        client_side.maximum_version = ssl.TLSVersion.TLSv1_2
        client_side.set_ciphers("AES128-SHA256")
    with pytest.raises(ssl.SSLError):
        await asyncio.to_thread(connect, port, client_side)
    await until(lambda: "handshake" in lines.getvalue())

    cause = "none of the accepted cipher suites" if trusts else "does not trust the certificate"
    assert cause in lines.getvalue()
    await ended(server)


async def test_a_client_that_leaves_during_its_handshake_is_not_counted(over_tls, counted):
    server, port = serving(asyncio.Event(), tls=over_tls)
    for sent in (b"", b"\x16\x03\x01"):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        await until(lambda: server._connection_of_stream)
        writer.close()
        await until(lambda: not server._connection_of_stream)

    assert counted("http_connections_closed_total", reason="tls") in (0, None)
    await ended(server)
