"""The compose file by the loader that Compose uses, and the balancer's settings in haproxy."""

from __future__ import annotations

import socketserver
import threading
from contextlib import closing

import httpx
import pytest
import yaml

from tests.deploy.conftest import run
from tests.fire.ground import free_port
from tests.support.programs import go_tools
from tests.support.programs.program import eventually
from tests.support.repository import ROOT
from tests.support.servers.haproxy import Haproxy

pytestmark = pytest.mark.load

COMPOSE = ROOT / "deploy" / "compose"


def test_it_loads():
    model = yaml.safe_load(run(go_tools.program("compose-go"), COMPOSE / "compose.yaml"))

    assert model["services"].keys() == {"idp"}
    assert model["services"]["idp"]["read_only"]


class Silent(socketserver.StreamRequestHandler):
    """Is ready, and closes the connection of every other request without an answer."""

    def handle(self):
        line = self.rfile.readline().decode()
        if "/readyz" in line:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        else:
            self.server.asked.append(line.split(" ")[0])


@pytest.fixture
def silent():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Silent) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("method", "times"), [("GET", 4), ("POST", 1)])
def test_only_a_request_that_changes_nothing_is_sent_again(tmp_path, silent, method, times):
    port, at = free_port(), silent.server_address[1]
    balancer = Haproxy(tmp_path, port, {"group1": at, "group2": at})
    with closing(balancer):
        eventually(lambda: is_reached(port), "haproxy")
        answer = httpx.request(method, f"http://127.0.0.1:{port}/oauth/v2/token")

    assert answer.status_code == 502
    assert silent.asked == [method] * times


def is_reached(port):
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
    except httpx.ConnectError:
        return False
