"""Addresses that are nearly registered (RFC 9700 2.1): a page, no redirect, nothing stored."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.support.browsers.wire import FORM
from tests.support.protocol import answers
from tests.support.store.stored import everything

WEB = "https://client.example/cb"
QUERY = "https://client.example/cb?tenant=1&x=2"
ACCENT = "https://client.example/caf\u00e9"
NATIVE = "app:/cb"
LOOPBACK = "http://127.0.0.1/cb"
LOCALHOST = "http://localhost:8123/cb"
REGISTERED = [WEB, QUERY, ACCENT, NATIVE, LOOPBACK, LOCALHOST]

NEAR_MISSES = [
    # more and less of the address
    f"{WEB}/",
    f"{WEB}/more",
    f"{WEB}x",
    "https://client.example/c",
    "https://client.example/",
    "https://client.example",
    f"{WEB}?a=1",
    f"{WEB}?",
    f"{WEB}#",
    f"{WEB}#fragment",
    f"{WEB}&x=1",
    f"{WEB};x",
    f"{WEB};jsessionid=1",
    "https://client.example/cb?x=2&tenant=1",
    "https://client.example/cb?tenant=1",
    "https://client.example/cb?tenant=1&x=2&x=2",
    "https://client.example/cb?tenant=1&x=2&",
    "https://client.example/cb?tenant=1&amp;x=2",
    "https://client.example/cb?tenant=%31&x=2",
    # letters' case, ports, dots and slashes
    "HTTPS://client.example/cb",
    "https://CLIENT.example/cb",
    "https://client.example/CB",
    "https://client.example:443/cb",
    "https://client.example:80/cb",
    "https://client.example:/cb",
    "http://client.example/cb",
    "https://client.example/./cb",
    "https://client.example/x/../cb",
    "https://client.example/cb/..",
    "https://client.example/%2e%2e/cb",
    "https://client.example/x/%252e%252e/cb",
    "https://client.example//cb",
    "https:/client.example/cb",
    "https:client.example/cb",
    "https:///client.example/cb",
    "https:\\\\client.example\\cb",
    "https://client.example\\cb",
    "https://client.example/\\evil.example",
    "https://client.example/%63b",
    "https://client.example./cb",
    # what a parser may skip
    f" {WEB}",
    f"{WEB} ",
    f"{WEB}%20",
    f"{WEB}\t",
    f"{WEB}\r\n",
    f"{WEB}\r\nLocation: https://evil.example/",
    "https://client.ex\tample/cb",
    "https://client.example/c\nb",
    f"{WEB}\x00",
    f"{WEB}\x00.evil.example",
    f"\x00{WEB}",
    f"{WEB}\u200d",
    f"{WEB}\u202e",
    f"{WEB}\ufeff",
    # another host that looks like it
    "https://user@client.example/cb",
    "https://user:pw@client.example/cb",
    "https://client.example@evil.example/cb",
    "https://evil.example#client.example/cb",
    "https://evil.example/?https://client.example/cb",
    "https://client.example.evil.example/cb",
    "https://evilclient.example/cb",
    "https://sub.client.example/cb",
    "https://example/cb",
    "https://cli\u0435nt.example/cb",
    "https://client\uff0eexample/cb",
    "https://client\u3002example/cb",
    "https://xn--clint-e2a.example/cb",
    "https://client.example/cafe\u0301",
    "https://client.example/caf%C3%A9",
    "https://client.example/caf%c3%a9",
    "https://client.example/cafe",
    # this machine, spelled otherwise
    "http://localhost/cb",
    "http://127.0.0.1:49152/cb",
    "http://127.1/cb",
    "http://127.000.000.001/cb",
    "http://0x7f.1/cb",
    "http://2130706433/cb",
    "http://[::1]/cb",
    "http://[::ffff:127.0.0.1]/cb",
    "http://127.0.0.2/cb",
    "http://localhost:8124/cb",
    "http://localhost.evil.example:8123/cb",
    "http://testlocalhost:8123/cb",
    # other schemes
    "app://cb",
    "app:///cb",
    "app:cb",
    "APP:/cb",
    "app:/cb/",
    "javascript:alert(1)",
    "javascript://client.example/cb",
    "data:text/html,hi",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://client.example/cb",
    "urn:ietf:wg:oauth:2.0:oob",
    # not an address at all
    "/cb",
    "cb",
    "//client.example/cb",
    "http://[",
    "https://client.example:port/cb",
    quote(WEB, safe=""),
    quote(quote(WEB, safe=""), safe=""),
    f"{WEB},{QUERY}",
    f"{WEB} {QUERY}",
    "*",
    "https://*.example/cb",
    "https://client.example/*",
    f"{WEB}?" + "a" * 8000,
    '"><svg/onload=alert(1)>',
    "${7*7}{{7*7}}",
]


def encoded(**values: str) -> str:
    return "&".join(f"{name}={quote(value, safe='')}" for name, value in values.items())


async def register(server, kind: str):
    auth_method = "client_secret_basic" if kind == "web" else "none"
    return await server.register(
        auth_method=auth_method,
        redirect_uris=REGISTERED,
        post_logout_redirect_uris=REGISTERED,
    )


def query_of(client, uri: str) -> str:
    form = client.authorize_form()
    return encoded(**{**form, "redirect_uri": uri})


def assert_refused(page, uri: str) -> None:
    assert (page.status, page.name, page.location) == (400, "explain", None), uri
    assert "Set-Cookie" not in page.headers
    assert "<svg/" not in page.text


def test_the_list_is_long_enough_and_each_string_differs_from_what_is_registered():
    assert len(set(NEAR_MISSES)) == len(NEAR_MISSES) >= 60
    assert not set(NEAR_MISSES) & set(REGISTERED)


@pytest.mark.full
@pytest.mark.promise(
    "client: redirect URIs", "authorization: redirect_uri", "authorization: exact redirect_uri"
)
@pytest.mark.parametrize("kind", ["web", "public"])
async def test_authorize_by_get_refuses_an_address_that_is_nearly_registered(
    server, visitor, kind
):
    client = await register(server, kind)
    before = await everything(server.store)
    for uri in NEAR_MISSES:
        page = await visitor.get(f"/oauth/v2/authorize?{query_of(client, uri)}")
        assert_refused(page, uri)

    assert await everything(server.store) == before


@pytest.mark.full
@pytest.mark.promise("authorization: redirect_uri", "authorization: exact redirect_uri")
@pytest.mark.parametrize("kind", ["web", "public"])
async def test_authorize_by_post_refuses_an_address_that_is_nearly_registered(
    server, visitor, kind
):
    client = await register(server, kind)
    before = await everything(server.store)
    for uri in NEAR_MISSES:
        page = await visitor.post(
            "/oauth/v2/authorize",
            content=query_of(client, uri),
            headers={"Content-Type": FORM},
        )
        assert_refused(page, uri)

    assert await everything(server.store) == before


@pytest.mark.full
@pytest.mark.parametrize("kind", ["web", "public"])
async def test_a_pushed_request_may_not_have_an_address_that_is_nearly_registered(
    server, visitor, kind
):
    client = await register(server, kind)
    headers = {"Content-Type": FORM} | (client.basic() if kind == "web" else {})
    before = await everything(server.store)
    for uri in NEAR_MISSES:
        page = await visitor.post("/oauth/v2/par", content=query_of(client, uri), headers=headers)
        answers.assert_refused(page, 400, "invalid_request", uri)

    assert await everything(server.store) == before


@pytest.mark.full
@pytest.mark.parametrize("mode", ["fragment", "form_post"])
async def test_no_response_mode_opens_a_nearly_registered_address(server, visitor, mode):
    client = await register(server, "web")
    before = await everything(server.store)
    for uri in NEAR_MISSES:
        query = f"{query_of(client, uri)}&response_mode={mode}"
        assert_refused(await visitor.get(f"/oauth/v2/authorize?{query}"), uri)

    assert await everything(server.store) == before


@pytest.mark.promise("logout: post_logout_redirect_uri", "logout: no redirect")
@pytest.mark.full
@pytest.mark.parametrize("named_by", ["client_id", "id_token_hint"])
async def test_end_session_refuses_an_address_that_is_nearly_registered(server, visitor, named_by):
    client = await register(server, "web")
    tokens = await client.tokens(visitor, *server.user)
    named = {"client_id": client.client_id, "id_token_hint": tokens["id_token"]}
    before = await everything(server.store)
    for uri in NEAR_MISSES:
        query = encoded(**{named_by: named[named_by]}, post_logout_redirect_uri=uri, state="s")
        asked = await visitor.get(f"/oidc/v1/end_session?{query}")
        sent = await visitor.post(
            "/oidc/v1/end_session", content=query, headers={"Content-Type": FORM}
        )
        assert_refused(asked, uri)
        assert_refused(sent, uri)

    assert await everything(server.store) == before


@pytest.mark.full
async def test_the_token_endpoint_refuses_an_address_that_is_nearly_registered(server, visitor):
    client = await register(server, "web")
    page = await client.sign_in(visitor, *server.user)
    before = await everything(server.store)
    for uri in NEAR_MISSES:
        refused = await client.redeem(visitor, page.answer["code"], redirect_uri=uri)
        assert (refused.status, refused.json()["error"]) == (400, "invalid_grant"), uri

    assert await everything(server.store) == before
    assert (await client.redeem(visitor, page.answer["code"])).status == 200


@pytest.mark.parametrize("octets", ["%ff", "%c0%ae", "%ed%a0%80", "%f8%88%80%80%80", "%", "%4"])
async def test_bytes_that_are_not_utf_8_make_a_page(server, visitor, octets):
    client = await register(server, "web")
    query = query_of(client, WEB) + octets
    before = await everything(server.store)
    page = await visitor.post("/oauth/v2/authorize", content=query, headers={"Content-Type": FORM})

    assert_refused(page, octets)
    assert await everything(server.store) == before


@pytest.mark.promise("client: redirect URIs", "authorization: redirect_uri")
@pytest.mark.parametrize("uri", REGISTERED)
async def test_every_registered_address_itself_is_answered(server, visitor, uri):
    client = await register(server, "web")
    page = await visitor.get(
        f"/oauth/v2/authorize?{query_of(client, uri)}&prompt=none", follow_redirects=False
    )
    start = quote(uri, safe=":/?&=.")

    assert page.status == 303
    assert page.headers["Location"].startswith((start, uri))
    assert "error=login_required" in page.headers["Location"]


async def test_an_address_registered_for_logging_out_is_not_one_for_signing_in(server, visitor):
    client = await server.register(
        redirect_uris=[WEB], post_logout_redirect_uris=["https://client.example/bye"]
    )
    query = query_of(client, "https://client.example/bye")

    assert_refused(await visitor.get(f"/oauth/v2/authorize?{query}"), query)


async def test_an_address_of_another_application_is_refused(server, visitor, demo):
    client = await register(server, "web")

    assert_refused(
        await visitor.get(f"/oauth/v2/authorize?{query_of(client, demo.redirect_uri)}"), "demo's"
    )


async def test_unknown_and_inactive_clients_get_the_same_page(server, visitor):
    inactive = await server.register(state="inactive", redirect_uris=[WEB])
    pages = [
        await visitor.get(f"/oauth/v2/authorize?{encoded(client_id=id, redirect_uri=WEB)}")
        for id in (inactive.client_id, "u" * 22)
    ]
    texts = [
        page.text.replace(inactive.client_id, "u" * 22).replace(page.headers["X-Request-Id"], "")
        for page in pages
    ]

    assert [page.status for page in pages] == [400, 400]
    assert [page.location for page in pages] == [None, None]
    assert texts[0] == texts[1]
