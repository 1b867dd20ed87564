"""The listener for metrics: what it answers, to whom, and what it refuses to start with."""

from __future__ import annotations

import gzip
import os
import socket
import threading
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest

from idp.config.rules import check
from idp.config.settings import Config
from idp.foundation import metrics
from idp.foundation.errors import ConfigError
from idp.server import metrics_listener
from idp.server.heartbeats import Heartbeats
from tests.support import patience
from tests.support.clock import SteppingTimer

TEXT = "text/plain; version=0.0.4; charset=utf-8"


@pytest.fixture(autouse=True)
def private(tmp_path, monkeypatch):
    """Each test's counts are in a directory of its own."""
    (tmp_path / "run").mkdir()
    monkeypatch.setenv("RUNTIME_DIRECTORY", f"{tmp_path / 'run'}:/another")
    return tmp_path / "run"


@contextmanager
def answering(token_file=None, beats=(), **settings):
    """A listener of two workers; yields what sends a request to it."""
    heartbeats = Heartbeats(2, SteppingTimer())
    for index in beats:
        heartbeats.beat(index)
    config = Config(metrics_listen="127.0.0.1:0", metrics_token_file=token_file, **settings)
    with metrics_listener.opened(config) as listener:
        listener.count_as("0")
        with listener.answering(heartbeats):
            yield Scraper(listener.port)


class Scraper:
    """Sends requests to the port."""

    def __init__(self, port):
        self.port = port

    def __call__(self, method="GET", path="/metrics", **headers):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=patience.SECONDS)
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()


def secret(tmp_path, content="s3cret\n", mode=0o600):
    path = tmp_path / "token"
    path.write_text(content)
    path.chmod(mode)
    return str(path)


def test_a_scrape_has_every_count_in_the_format_that_it_asks_for():
    with answering(beats=[0]) as send:
        metrics.HTTP_REQUESTS.count("token", "POST", "200", by=3)
        status, headers, body = send()
        _, open_headers, open_body = send(Accept="application/openmetrics-text;version=1.0.0")
        _, _, packed = send(**{"Accept-Encoding": "gzip"})

    line = b'idp_http_requests_total{endpoint="token",method="POST",status="200"} 3.0\n'
    assert (status, headers["Content-Type"], headers["Server"]) == (200, TEXT, "idp")
    assert line in body
    assert open_headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert line in open_body
    assert open_body.endswith(b"# EOF\n")
    assert line in gzip.decompress(packed)


def test_a_scrape_shows_which_workers_event_loops_run():
    with answering(beats=[1]) as send:
        _, _, body = send()

    assert b'idp_worker_up{worker="1"} 1.0\n' in body
    assert b'idp_worker_heartbeat_age_seconds{worker="1"} ' in body
    assert b'worker="0"' not in body


REFUSED = {
    ("GET", "/"): (404, None, None),
    ("GET", "/metrics/"): (404, None, None),
    ("GET", "/favicon.ico"): (404, None, None),
    ("POST", "/other"): (404, None, None),
    ("POST", "/metrics"): (401, None, "Bearer"),
    ("GET", "/metrics"): (401, None, "Bearer"),
}


def test_everything_else_is_refused(tmp_path):
    with answering(secret(tmp_path)) as send:
        answers = {request: send(*request) for request in REFUSED}

    assert {
        request: (status, headers["Allow"], headers["WWW-Authenticate"])
        for request, (status, headers, _) in answers.items()
    } == REFUSED
    assert not [body for _, _, body in answers.values() if b"idp_" in body]


TOKENS = {
    "Bearer s3cret": 200,
    "bearer s3cret": 200,
    "Bearer s3cre": 401,
    "Bearer s3cret2": 401,
    "Basic s3cret": 401,
    "s3cret": 401,
    "Bearer s3cr\xe9t": 401,
    "Bearer": 401,
    "": 401,
}


def test_with_a_token_only_a_scrape_that_has_it_is_answered(tmp_path):
    with answering(secret(tmp_path)) as send:
        statuses = {given: send(Authorization=given)[0] for given in TOKENS}

    assert statuses == TOKENS


@pytest.mark.parametrize(
    ("content", "mode", "problem"),
    [
        ("s3cret", 0o640, "is open to others (mode 0640); run: chmod 600"),
        ("\n", 0o600, "must hold one word of ASCII characters"),
        ("two words", 0o600, "must hold one word of ASCII characters"),
        ("ključ", 0o600, "must hold one word of ASCII characters"),
    ],
)
def test_a_token_file_that_protects_nothing_is_refused(private, content, mode, problem):
    token_file = secret(private.parent, content, mode)
    with pytest.raises(ConfigError, match="metrics_token_file") as refused, answering(token_file):
        pass

    assert problem in str(refused.value)
    assert not list(private.iterdir())


def test_a_token_file_that_is_not_there_is_refused(tmp_path):
    refused = pytest.raises(ConfigError, match="can't be read: No such file")

    with refused, answering(str(tmp_path / "none")):
        pass


def test_an_address_that_is_taken_is_refused(private):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        config = Config(metrics_listen=f"127.0.0.1:{taken.getsockname()[1]}")
        refused = pytest.raises(ConfigError, match="can't be listened on: Address already in use")
        with refused, metrics_listener.opened(config):
            pass

    assert not list(private.iterdir())


def test_a_directory_without_room_is_refused(private, monkeypatch):
    def no_room(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", no_room)

    refused = pytest.raises(ConfigError, match=f"can't be counted in {private}: No space left")
    with refused, answering():
        pass
    assert not list(private.iterdir())


def test_the_counts_are_private_and_end_with_the_listener(private, monkeypatch):
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "/nowhere")
    with answering() as send:
        (directory,) = private.iterdir()
        mode = directory.stat().st_mode & 0o777
        status, _, _ = send()

    assert (mode, status) == (0o700, 200)
    assert not list(private.iterdir())
    assert not metrics.process_name()


def test_clients_that_send_nothing_keep_no_scrape_from_its_answer():
    with answering() as send:
        silent = [
            socket.create_connection(("127.0.0.1", send.port))
            for _ in range(metrics_listener.MAX_CONCURRENT_SCRAPES - 1)
        ]
        status, _, _ = send()
        for each in silent:
            each.close()

    assert status == 200


def test_scrapes_for_which_there_was_no_thread_keep_no_slot(monkeypatch):
    with answering() as send:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", no_thread)
            for _ in range(metrics_listener.MAX_CONCURRENT_SCRAPES):
                with pytest.raises(ConnectionError):
                    send()
        status, _, _ = send()

    assert status == 200


def no_thread(thread):
    raise RuntimeError("can't start new thread")


def test_without_the_setting_there_is_no_listener(private):
    for config in (Config(), Config(metrics_listen="")):
        assert not list(check(config))
        with metrics_listener.opened(config) as listener:
            assert listener is None

    assert not list(private.iterdir())


@pytest.mark.parametrize(
    "address", ["9464", ":9464", "localhost:9464", "127.0.0.1", "1.2.3.4:65536"]
)
def test_an_address_that_is_none_is_a_broken_rule(address):
    (rule,) = check(Config(metrics_listen=address))

    assert rule.names == ("metrics_listen",)
    assert "127.0.0.1:9464" in rule.text


def test_a_token_file_without_a_listener_is_a_broken_rule():
    (rule,) = check(Config(metrics_token_file="token"))

    assert rule.names == ("metrics_token_file", "metrics_listen")


@pytest.mark.full
def test_a_connection_that_sends_nothing_is_ended(monkeypatch):
    monkeypatch.setattr(metrics_listener._Handler, "timeout", 0.1)
    with (
        answering() as scrape,
        socket.create_connection(("127.0.0.1", scrape.port), timeout=patience.SECONDS) as silent,
    ):
        assert silent.recv(1) == b""


def test_no_answer_names_the_library(tmp_path):
    with (
        answering() as scrape,
        socket.create_connection(("127.0.0.1", scrape.port), timeout=patience.SECONDS) as client,
    ):
        client.sendall(b"GET /" + 70_000 * b"a" + b" HTTP/1.1\r\n\r\n")
        answer = client.recv(65_536)

    assert b"414" in answer
    assert b"Server: idp" in answer
    assert b"Python" not in answer
