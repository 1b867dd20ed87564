"""oauth2-proxy, alone, behind nginx and behind Caddy: configured by exactly the text of the
guides, with free ports instead of fixed ones."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.interop.running import Running, free_port
from tests.interop.test_presets import registered
from tests.support import guides, patience
from tests.support.programs import debian, go_tools
from tests.support.servers import nginx

COOKIE_KEY = "k" * 32
CSRF = "Unable to find a valid CSRF token"
# What nginx needs around the locations of the guide.
NGINX = """\
daemon off;
pid {directory}/nginx.pid;
error_log {directory}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {directory}/body;
  proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/fastcgi;
  uwsgi_temp_path {directory}/uwsgi;
  scgi_temp_path {directory}/scgi;
  {outside}
  server {{
    listen 127.0.0.1:{port};
    {inside}
  }}
}}
"""
CADDY = "{{\n\tadmin off\n\tdefault_bind 127.0.0.1\n}}\n{sites}"


class Application(BaseHTTPRequestHandler):
    """The application behind a proxy: it answers with the headers of the request."""

    def do_GET(self):
        body = json.dumps({name.lower(): value for name, value in self.headers.items()}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def application():
    """The port of the application that is protected."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Application)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture
def run(tmp_path):
    """Starts a program, and waits until it listens at a port."""
    started = []

    def start(command: list[str], port: int, **variables: str) -> Running:
        environment = os.environ | {"HOME": str(tmp_path)} | variables
        started.append(Running(command, tmp_path, environment))
        started[-1].wait_for(port)
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture(scope="module")
def oauth2_proxy():
    """The program, which is compiled at first: that takes longer than a test may."""
    return go_tools.program("oauth2-proxy")


@pytest.fixture
def begin(place, api, application, run, oauth2_proxy, tmp_path):
    """Registers and starts the programs of a guide; the port of the proxy in front."""

    async def make(name: str, change=lambda text: text, roles=("admin",)) -> int:
        port, gate = free_port(), free_port()
        made, _ = await registered(place, api, name, f"localhost:{port}", roles)
        texts = guides.files(name, place.issuer, made["clientId"], f"localhost:{port}")
        for file, text in texts.items():
            placed = change(text).replace("127.0.0.1:4180", f"127.0.0.1:{gate}")
            placed = placed.replace("127.0.0.1:8080", f"127.0.0.1:{application}")
            (tmp_path / file).write_text(placed, encoding="utf-8")
        is_alone = len(texts) == 1
        listening = port if is_alone else gate
        address = [f"--http-address=127.0.0.1:{listening}"] if is_alone else []
        run(
            [oauth2_proxy, "--config=oauth2-proxy.cfg", *address],
            listening,
            OAUTH2_PROXY_CLIENT_SECRET=made["clientSecret"],
            OAUTH2_PROXY_COOKIE_SECRET=COOKIE_KEY,
        )
        if name in IN_FRONT:
            run(IN_FRONT[name](tmp_path, port), port)
        return port

    return make


def nginx_command(directory: Path, port: int) -> list[str]:
    debian.need(nginx="nginx-light")
    file = directory / "nginx.conf"
    outside, _, inside = file.read_text().partition("# and now inside of the server\n")
    parts = {"outside": outside, "inside": inside}
    file.write_text(NGINX.format(directory=directory, port=port, **parts))
    directory.chmod(0o755)
    return [nginx.PROGRAM, "-e", str(directory / "error.log"), "-c", str(file)]


def caddy_command(directory: Path, port: int) -> list[str]:
    file = directory / "Caddyfile"
    file.write_text(CADDY.format(sites=file.read_text()))
    return [str(Path(sys.executable).with_name("caddy")), "run", "--config", "Caddyfile"]


IN_FRONT = {"nginx": nginx_command, "caddy": caddy_command}


@pytest.fixture
def browser(io_loop):
    """Opens a new browser at a port."""
    opened = []

    def make(port: int) -> httpx.AsyncClient:
        opened.append(
            httpx.AsyncClient(base_url=f"http://localhost:{port}", timeout=patience.SECONDS)
        )
        return opened[-1]

    yield make
    for one in opened:
        io_loop.run_sync(one.aclose)


async def is_closed(own: httpx.AsyncClient) -> bool:
    """Whether the application's page leads to the page of oauth2-proxy."""
    answer = await own.get("/page", follow_redirects=True)
    assert answer.status_code in (200, 403), answer.text
    return "Sign in with OpenID Connect" in answer.text


@pytest.mark.load  # oauth2-proxy is compiled, which takes minutes
@pytest.mark.parametrize("name", ["oauth2-proxy", "nginx", "caddy"])
async def test_a_page_behind_oauth2_proxy_is_for_users_who_have_signed_in(
    place, open_browser, begin, browser, name
):
    port = await begin(name)
    own, other = browser(port), browser(port)
    was_closed = await is_closed(own)
    sent = await own.get("/oauth2/start", params={"rd": "/page"})
    person = open_browser(place)
    page = await person.sign_in(sent.headers["Location"], *place.user)
    callback = urlsplit(page.location)
    refused = await other.get(f"{callback.path}?{callback.query}")
    back = await own.get(f"{callback.path}?{callback.query}")
    seen = await own.get(back.headers["Location"], headers={"X-User": "eve", "X-Email": "eve@x"})
    headers = seen.json()
    is_alone = name == "oauth2-proxy"
    left = await own.get("/oauth2/sign_out")
    again = await own.get("/oauth2/start", params={"rd": "/page"})
    asked = await person.open(again.headers["Location"])

    assert was_closed
    assert (refused.status_code, CSRF in refused.text) == (403, True)
    assert await is_closed(other)
    assert (back.status_code, back.headers["Location"]) == (302, "/page")
    email, user = ("x-forwarded-email", "x-forwarded-user") if is_alone else ("x-email", "x-user")
    assert headers[email] == "dana@example.com"
    assert headers[user] not in ("", "eve")
    assert left.status_code == 302
    assert await is_closed(own)
    assert asked.name == "login-name"  # backend_logout_url has ended the session here, too


async def sign_in(place, open_browser, own: httpx.AsyncClient) -> None:
    sent = await own.get("/oauth2/start", params={"rd": "/page"})
    page = await open_browser(place).sign_in(sent.headers["Location"], *place.user)
    callback = urlsplit(page.location)
    assert (await own.get(f"{callback.path}?{callback.query}")).status_code == 302


def refreshing_soon(text: str) -> str:
    return text.replace('cookie_refresh = "1h"', 'cookie_refresh = "1s"')


@pytest.mark.load  # oauth2-proxy is compiled, and its sessions grow old
@pytest.mark.parametrize("roles", [0, 8], ids=["one cookie", "a session that is split"])
@pytest.mark.parametrize("name", ["oauth2-proxy", "nginx", "caddy"])
async def test_a_sign_in_behind_oauth2_proxy_outlives_refreshes(
    place, open_browser, begin, browser, name, roles
):
    # Names that no compression makes smaller.
    keys = ["admin", *(secrets.token_hex(50) for _ in range(roles))]
    port = await begin(name, refreshing_soon, keys)
    own = browser(port)
    await sign_in(place, open_browser, own)

    seen = []
    for _ in range(3):
        seen.append({each.name: each.value for each in own.cookies.jar})
        await asyncio.sleep(2.1)
        answer = await own.get("/page")
        assert "host" in answer.json()
        assert answer.headers.get_list("Set-Cookie")

    names = {"_oauth2_proxy_0", "_oauth2_proxy_1"} if roles else {"_oauth2_proxy"}
    assert [set(each) for each in seen] == [names] * 3
    for name in names:
        assert len({each[name] for each in seen}) == 3
