"""The service behind nginx, haproxy and Caddy, each with the configuration of
docs/how-to/running.md."""

from __future__ import annotations

import ssl
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.deploy import proxies
from tests.fire.ground import free_port
from tests.support import patience
from tests.support.programs.program import eventually, listening_port
from tests.support.servers.certificate import self_signed

pytestmark = [pytest.mark.full, pytest.mark.every_row]
CLIENT = "127.0.0.2"  # another address than the proxy's


@pytest.fixture(params=proxies.PROXIES)
def proxy(request):
    return request.param


@pytest.fixture
def trusting(tmp_path):
    self_signed(tmp_path)
    return ssl.create_default_context(cafile=tmp_path / "chain.pem")


@pytest.fixture
def proxied(start_program, tmp_path, trusting, proxy):
    """A service behind the proxy, which ends TLS."""
    port = free_port()
    flags = ("--issuer", f"https://localhost:{port}", "--port", "0", "--admin-pat", "pat")
    program = start_program(*flags, IDP_TRUSTED_PROXIES="127.0.0.1")
    with proxies.running(proxy, tmp_path, port, listening_port(program.pid)):
        eventually(lambda: is_ready(program.issuer, trusting), proxy)
        yield program


def is_ready(issuer, trusting):
    try:
        return httpx.get(f"{issuer}/readyz", verify=trusting).status_code == 200
    except httpx.TransportError:
        return False


async def test_a_sign_in_works_with_any_length_of_state(proxied, open_browser, trusting):
    demo = proxied.demo()
    notes = []
    for characters in (22, 1600, 1980, 2060):
        visitor = open_browser(proxied, verify=trusting)
        state = "s" * characters
        page = await visitor.get(demo.authorize_url(state=state))
        notes += parse_qs(urlsplit(page.location).query)["flow"]
        tokens = await demo.tokens(visitor, *proxied.user, state=state)
        assert (await demo.userinfo(visitor, tokens["access_token"])).status == 200

    assert 2700 < max(map(len, notes)) <= 3000


async def test_the_service_sees_the_address_of_the_client_and_believes_no_header_of_it(
    proxied, open_browser, trusting
):
    transport = httpx.AsyncHTTPTransport(local_address=CLIENT, verify=trusting)
    headers = {"X-Forwarded-For": "203.0.113.7", "Forwarded": "for=203.0.113.7"}
    visitor = open_browser(proxied, transport=transport, headers=headers)
    await visitor.get("/oauth/v2/keys")

    proxied.wait_for(lambda: CLIENT in proxied.printed, "the line of the request")
    assert "203.0.113.7" not in proxied.printed


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

    logs = [proxied.directory / name for name in ("requests", "proxy.log")]
    assert not any("key=secret" in log.read_text() for log in logs if log.exists())


def pat(program):
    return (program.directory / "pat").read_text().strip()
