"""The service behind Debian's nginx, with the configuration of docs/how-to/operating.md."""

from __future__ import annotations

import re
import ssl
import subprocess
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.fire.ground import free_port
from tests.support import patience
from tests.support.programs import debian
from tests.support.programs.program import eventually, listening_port
from tests.support.servers.certificate import self_signed
from tests.test_house import read

pytestmark = pytest.mark.load

# What Debian's own configuration has around a server. One process, which is not a daemon.
AROUND = """
daemon off;
master_process off;
pid {place}/pid;
error_log {place}/errors;
events {{}}
http {{
    access_log {place}/requests;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    {server}
}}
"""


def documented(place, port, service_port):
    """The server block of the documentation, with these ports, and a certificate for localhost."""
    (server,) = re.findall(r"^```nginx\n(.+?)^```$", read("docs/how-to/operating.md"), re.S | re.M)
    changes = {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "server_name login.example.com": "server_name localhost",
        "/etc/ssl/login/fullchain.pem": f"{place}/chain.pem",
        "/etc/ssl/login/privkey.pem": f"{place}/key.pem",
        "http://127.0.0.1:8080": f"http://127.0.0.1:{service_port}",
    }
    for named, replaced in changes.items():
        assert named in server
        server = server.replace(named, replaced)
    return AROUND.format(place=place, server=server)


@pytest.fixture
def trusting(tmp_path):
    self_signed(tmp_path)
    return ssl.create_default_context(cafile=tmp_path / "chain.pem")


@pytest.fixture
def proxied(start_program, tmp_path, trusting):
    """A service behind nginx, which ends TLS."""
    debian.need("nginx")
    port = free_port()
    flags = ("--issuer", f"https://localhost:{port}", "--port", "0", "--admin-pat", "pat")
    program = start_program(*flags, IDP_TRUSTED_PROXIES="127.0.0.1")
    configuration = documented(tmp_path, port, listening_port(program.pid))
    (tmp_path / "nginx.conf").write_text(configuration)
    command = ["nginx", "-p", tmp_path, "-c", tmp_path / "nginx.conf"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as nginx:
        try:
            eventually(lambda: is_ready(program.issuer, trusting), "nginx")
            yield program
        finally:
            nginx.terminate()


def is_ready(issuer, trusting):
    try:
        return httpx.get(f"{issuer}/readyz", verify=trusting).status_code == 200
    except httpx.TransportError:
        return False


async def test_a_sign_in_with_the_longest_addresses_works(proxied, open_browser, trusting):
    visitor, demo = open_browser(proxied, verify=trusting), proxied.demo()
    page = await visitor.get(demo.authorize_url(state="s" * 1900))
    (flow,) = parse_qs(urlsplit(page.location).query)["flow"]
    tokens = await demo.tokens(visitor, *proxied.user, state="s" * 1900)

    assert 3000 < len(flow) <= 3500
    assert (await demo.userinfo(visitor, tokens["access_token"])).status == 200


async def test_the_service_sees_the_address_of_the_client(proxied, open_browser, trusting):
    visitor = open_browser(proxied, verify=trusting, headers={"X-Forwarded-For": "203.0.113.7"})
    await visitor.get("/oauth/v2/keys")

    proxied.wait_for(lambda: "203.0.113.7" in proxied.printed, "the line of the request")


async def test_a_package_of_any_size_gets_to_the_service(proxied, open_browser, trusting):
    visitor = open_browser(proxied, verify=trusting)
    page = await visitor.request(
        "POST",
        "/admin/v1/import",
        content=b" " * 3_000_000 + b"[]",
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {pat(proxied)}"},
    )

    assert page.status == 400
    assert "X-Request-Id" in page.headers


async def test_server_sent_events_are_not_held_back(proxied, trusting):
    headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {pat(proxied)}"}
    url = f"{proxied.issuer}/v2/events/stream?cursor=oldest"
    async with (
        httpx.AsyncClient(verify=trusting, timeout=patience.SECONDS) as client,
        client.stream("GET", url, headers=headers) as response,
    ):
        lines = response.aiter_lines()
        first = await anext(lines)

    assert response.headers["Content-Type"] == "text/event-stream"
    assert first.startswith(("id: ", ": no event"))


async def test_no_address_of_a_page_is_logged_by_the_proxy(proxied, open_browser, trusting):
    visitor = open_browser(proxied, verify=trusting)
    await visitor.get("/ui/reset?key=secret")

    log = proxied.directory / "requests"
    assert not log.exists() or not log.read_text()


def pat(program):
    return (program.directory / "pat").read_text().strip()
