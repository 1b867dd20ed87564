"""One service, one address: the page that names the fix, and the redirect to the right name."""

from urllib.parse import urlsplit

import httpx
import pytest

from tests.support import patience
from tests.support.browsers.wire import exchange
from tests.support.sign_in.steps import Seen, text_of

HTML = {"Accept": "text/html"}
PROTOCOL = ["/oauth/v2/token", "/oidc/v1/userinfo", "/oauth/v2/keys"]
PAGES = ["/", "/ui/login", "/oauth/v2/authorize", "/oidc/v1/end_session", "/demo", "/ui/logout"]


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("host", ["192.168.1.20:8080", "login.example.com", "[2001:db8::1]:8080"])
async def test_a_wrong_host_gets_the_page_that_names_the_fix(visitor, server, path, host):
    page = await visitor.get(path, headers={"Host": host, **HTML})

    assert (page.status, page.name) == (421, "host-mismatch")
    assert f"You opened http://{host}, but this service's issuer is {server.issuer}." in text_of(
        page
    )
    assert f"IDP_ISSUER=http://{host}" in text_of(page)
    assert server.issuer in Seen(page).links
    assert not page.headers.get_list("Set-Cookie")


class TestSchemeOfTheRequest:
    """The issuer is https; the requests of these tests come by http, from 127.0.0.1."""

    @pytest.fixture(params=[("127.0.0.1",), ()])
    def trusted_proxies(self, request):
        return request.param

    @pytest.fixture
    def settings(self, trusted_proxies):
        return {"issuer": "https://id.example.com", "trusted_proxies": trusted_proxies}

    @pytest.mark.parametrize(
        ("forwarded", "scheme"),
        [
            (None, "http"),
            ("https", "https"),
            ("http, HTTPS", "https"),
            ("javascript", "http"),
        ],
    )
    async def test_the_page_names_it_as_the_connection_or_a_trusted_proxy_has_it(
        self, server, trusted_proxies, forwarded, scheme
    ):
        headers = {"Host": "login.example.net", **HTML}
        if forwarded is not None:
            headers["X-Forwarded-Proto"] = forwarded
        async with httpx.AsyncClient(timeout=patience.SECONDS) as client:
            address = f"http://127.0.0.1:{server.service.config.port}/ui/login"
            page = await client.get(address, headers=headers)
        expected = scheme if trusted_proxies else "http"

        assert page.status_code == 421
        assert f"IDP_ISSUER={expected}://login.example.net<" in page.text


@pytest.mark.parametrize("path", PROTOCOL)
async def test_a_program_gets_the_fix_in_json(visitor, server, path):
    method = "POST" if path.endswith("token") else "GET"
    answer = await visitor.request(method, path, headers={"Host": "10.0.0.7:9000"})

    assert answer.status == 421
    assert answer.headers["Content-Type"].startswith("application/json")
    assert "IDP_ISSUER=http://10.0.0.7:9000" in answer.json()["error_description"]
    assert server.issuer in answer.json()["error_description"]


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example/path",
        '"><svg/onload=alert(1)>',
        "user@evil.example",
        "a b",
        "x" * 300,
        "localhost.evil.example",
        "localhost:1",
        "[::1",
        "évil".encode(),
    ],
)
async def test_a_host_that_is_none_is_not_repeated_as_markup(visitor, server, host):
    answer = await visitor.http.get(f"{server.issuer}/ui/login", headers={"Host": host, **HTML})

    assert answer.status_code in (400, 421)  # Tornado refuses some by itself
    assert "<svg/" not in answer.text
    assert "Location" not in answer.headers


async def test_the_name_of_the_host_has_no_case(visitor, server):
    host = f"LocalHost:{server.service.config.port}"

    assert (await visitor.get("/ui/login", headers={"Host": host})).status == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "127.8.9.10", "a.localhost"])
async def test_another_name_of_this_machine_is_sent_to_the_right_one(visitor, server, host):
    port = server.service.config.port
    page = await visitor.get("/ui/login?a=%20b&c", headers={"Host": f"{host}:{port}", **HTML})

    assert page.status == 308
    assert page.location == f"{server.issuer}/ui/login?a=%20b&c"


async def test_a_form_sent_to_another_name_of_this_machine_learns_the_right_one(visitor, server):
    host = f"127.0.0.1:{server.service.config.port}"
    page = await visitor.post("/ui/login?flow=f", {}, headers={"Host": host})

    assert (page.status, page.name) == (421, "host-mismatch")
    assert page.location is None


@pytest.mark.parametrize("header", ["X-Forwarded-Host", "X-Host", "X-Original-Host"])
async def test_only_the_host_header_counts(visitor, demo, server, header):
    page = await visitor.open(demo.authorize_url(), headers={header: "evil.example"})

    assert page.status in (200, 303)
    assert "evil.example" not in page.text
    assert page.url.startswith(server.issuer)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_a_probe_may_call_the_machine_what_it_likes(visitor, path):
    assert (await visitor.get(path, headers={"Host": "10.0.0.7"})).status == 200


async def test_the_page_can_be_read_in_german(visitor):
    headers = {"Host": "login.example.com", "Accept-Language": "de", **HTML}
    page = await visitor.get("/ui/login", headers=headers)

    assert page.headers["Content-Language"] == "de"


async def test_the_page_about_a_wrong_host_has_its_style(visitor):
    headers = {"Host": "login.example.com", **HTML}
    page = await visitor.get("/ui/login", headers=headers)
    (style,) = [one["href"] for one in Seen(page).all("link") if one["rel"] == "stylesheet"]
    sheet = await visitor.get(style, headers={"Host": "login.example.com"})

    assert sheet.status == 200
    assert sheet.headers["Content-Type"].startswith("text/css")


async def test_no_page_leads_to_an_address_that_was_only_asked_for(visitor):
    page = await visitor.get("/x")
    long = f"///evil.example/{'a' * 17_000}"
    wrong = await visitor.http.get(f"{visitor.base}{long}", headers={"Accept": "text/html"})

    assert page.status == 404
    assert wrong.status_code == 431
    assert "evil.example" not in wrong.text


TARGETS = [
    "@evil.example/",
    ":pass@evil.example/",
    ".evil.example/",
    "//evil.example/",
    "///evil.example/",
    "http://evil.example/",
    "evil.example",
    "?next=/",
    "*",
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_only_a_path_is_sent_to_the_right_name(server, method, target):
    host = f"127.0.0.1:{urlsplit(server.issuer).port}"
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", "Connection: close", "", ""]
    answer = await exchange(server, "\r\n".join(lines).encode())

    assert answer.status_code == 400
    assert "Location" not in answer.headers


@pytest.mark.parametrize("target", ["/", "/ui/login?a=//b", "/a//b", "/@evil.example", "/\\evil"])
async def test_a_path_of_one_slash_is_sent_to_the_right_name(server, target):
    host = f"127.0.0.1:{urlsplit(server.issuer).port}"
    lines = [f"GET {target} HTTP/1.1", f"Host: {host}", "Connection: close", "", ""]
    answer = await exchange(server, "\r\n".join(lines).encode())

    assert answer.status_code == 308
    assert answer.headers["Location"] == server.issuer + target
