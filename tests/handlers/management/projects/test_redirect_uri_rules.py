"""Which redirect URIs can be registered (table R of the attacks, at registration)."""

from __future__ import annotations

import pytest

from tests.support.management.callers import instance_owner, refused
from tests.support.store.stored import everything

PATH = "/management/v1/projects"

HTTPS = [
    "https://app.example/cb",
    "https://app.example",
    "https://app.example/",
    "https://app.example:8443/cb",
    "https://app.example/cb?tenant=1&x=%20",
    "https://app.example/cb;x",
    "https://app.example//cb",
    "https://app.example/%7Euser/.well-known/cb",
    "https://app.example/a.b/..c",
    "https://app.example?x=/../y",
    "https://APP.example/CB",
    "https://xn--bcher-kva.example/cb",
    "https://10.0.0.1/cb",
    "https://[2001:db8::1]:8443/cb",
    "https://app_1.internal/cb",
    "https://a",
]
LOOPBACK = [
    "http://localhost/cb",
    "http://localhost:3000/cb",
    "http://127.0.0.1:3000/cb",
    "http://[::1]:3000/cb",
    "http://app.localhost:3000/cb",
]
HTTP = [
    "http://app.example/cb",
    "http://localhost.evil.example/cb",
    "http://testlocalhost/cb",
    "http://127.0.0.1.evil.example/cb",
    "http://127.1/cb",
    "http://0x7f.1/cb",
    "http://2130706433/cb",
    "http://0.0.0.0/cb",
    "http://10.0.0.1/cb",
]
CUSTOM = [
    "com.example.app:/cb",
    "com.example.app://cb",
    "com.example.app:///cb",
    "app:/cb",
    "urn:ietf:wg:oauth:2.0:oob",
    "ms-app://s-1-15-2/",
]
NEVER = {
    "": "field.empty",
    "/cb": "redirect_uri.relative",
    "cb": "redirect_uri.relative",
    "//app.example/cb": "redirect_uri.relative",
    "?x=1": "redirect_uri.relative",
    "app.example/cb": "redirect_uri.relative",
    "1a:/cb": "redirect_uri.relative",
    "https://app.example/#": "redirect_uri.fragment",
    "https://app.example/cb#x": "redirect_uri.fragment",
    "com.example.app:/cb#": "redirect_uri.fragment",
    "https://evil.example#good.example": "redirect_uri.fragment",
    "https://*.app.example/cb": "redirect_uri.wildcard",
    "https://app.example/*": "redirect_uri.wildcard",
    "*": "redirect_uri.wildcard",
    "javascript:alert(1)": "redirect_uri.scheme",
    "JavaScript:alert(1)": "redirect_uri.scheme",
    "data:text/html,x": "redirect_uri.scheme",
    "vbscript:x": "redirect_uri.scheme",
    "file:///etc/passwd": "redirect_uri.scheme",
    "blob:https://app.example/1": "redirect_uri.scheme",
    "about:blank": "redirect_uri.scheme",
    "view-source:https://app.example/": "redirect_uri.scheme",
    "filesystem:https://app.example/x": "redirect_uri.scheme",
    "https://": "redirect_uri.host",
    "https:///cb": "redirect_uri.host",
    "https:/app.example/cb": "redirect_uri.host",
    "https:app.example/cb": "redirect_uri.host",
    "https:": "redirect_uri.host",
    "https://:443/cb": "redirect_uri.host",
    "https://user@app.example/cb": "redirect_uri.host",
    "https://user:pw@app.example/cb": "redirect_uri.host",
    "https://good.example@evil.example/cb": "redirect_uri.host",
    "https://app.example:/cb": "redirect_uri.host",
    "https://app.example:0/cb": "redirect_uri.host",
    "https://app.example:65536/cb": "redirect_uri.host",
    "https://app.example:99999/cb": "redirect_uri.host",
    "https://app.example:8a/cb": "redirect_uri.host",
    "https://app.example:-1/cb": "redirect_uri.host",
    "https://[::1/cb": "redirect_uri.host",
    "https://[": "redirect_uri.host",
    "https://[]/cb": "redirect_uri.host",
    "https://[:::1]/cb": "redirect_uri.host",
    "https://[v1.x]/cb": "redirect_uri.host",
    "https://-app.example/cb": "redirect_uri.host",
    "https://app.example./cb": "redirect_uri.host",
    "https://app%2eexample/cb": "redirect_uri.host",
    "https://app,example/cb": "redirect_uri.host",
    "https://app.example\\@evil.example/": "redirect_uri.characters",
    "https:\\\\app.example/cb": "redirect_uri.characters",
    "https://app.example/\\evil": "redirect_uri.characters",
    " https://app.example/cb": "redirect_uri.characters",
    "https://app.example/cb ": "redirect_uri.characters",
    "https://app.example/c b": "redirect_uri.characters",
    "https://app.example/\tcb": "redirect_uri.characters",
    "https://app.example/cb\n": "redirect_uri.characters",
    "https://app.example/cb\r\nX: 1": "redirect_uri.characters",
    "https://app.example/<cb>": "redirect_uri.characters",
    'https://app.example/"cb"': "redirect_uri.characters",
    "https://app.example/{cb}": "redirect_uri.characters",
    "https://app.example/a|b^c`d": "redirect_uri.characters",
    "https://app.example/%": "redirect_uri.characters",
    "https://app.example/%zz": "redirect_uri.characters",
    "https://app.example/%2": "redirect_uri.characters",
    "https://bücher.example/cb": "redirect_uri.characters",
    "https://app\u3002example/cb": "redirect_uri.characters",
    "https://app\uff0eexample/cb": "redirect_uri.characters",
    "https://app.example/ü": "redirect_uri.characters",
    "https://app.exa\u200dmple/cb": "redirect_uri.characters",
    "https://app.example/../cb": "redirect_uri.dots",
    "https://app.example/a/..": "redirect_uri.dots",
    "https://app.example/./cb": "redirect_uri.dots",
    "https://app.example/%2e%2e/cb": "redirect_uri.dots",
    "https://app.example/a/.%2E?x": "redirect_uri.dots",
    "https%3a%2f%2fapp.example%2fcb": "redirect_uri.relative",
    "https://app.example/" + "x" * 2029: "field.too_long",
}
KINDS = ["OIDC_APP_TYPE_WEB", "OIDC_APP_TYPE_USER_AGENT", "OIDC_APP_TYPE_NATIVE"]


@pytest.fixture
def register(io_loop, server, visitor):
    async def prepare():
        owner = await instance_owner(server, visitor)
        project = (await owner.post(PATH, {"name": "Shop"})).json()["id"]

        async def register(field, uris, **changes):
            body = {"name": "Web shop", field: uris} | changes
            return await owner.post(f"{PATH}/{project}/apps/oidc", body)

        return register

    return io_loop.run_sync(prepare)


FIELDS = ["redirectUris", "postLogoutRedirectUris"]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("kind", KINDS)
async def test_https_and_the_person_s_own_machine_are_taken_for_every_kind(register, field, kind):
    page = await register(field, HTTPS + LOOPBACK, appType=kind)

    assert page.status == 200, page.text


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dev_mode", [True, False])
async def test_what_leads_to_danger_or_nowhere_is_refused_for_every_kind_with_its_reason(
    server, register, field, kind, dev_mode
):
    before = await everything(server.store)
    assert len(NEVER) > 60
    for start in range(0, len(NEVER), 50):
        uris = list(NEVER)[start : start + 50]
        page = await register(field, uris, appType=kind, devMode=dev_mode)

        expected = {f"{field}[{n}]": NEVER[uri] for n, uri in enumerate(uris)}
        assert refused(page, 400, 3) == expected
    assert await everything(server.store) == before


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("kind", KINDS)
async def test_plain_http_beyond_this_machine_is_for_development(server, register, field, kind):
    before = await everything(server.store)
    page = await register(field, HTTP, appType=kind)

    expected = {f"{field}[{n}]": "redirect_uri.http" for n in range(len(HTTP))}
    assert refused(page, 400, 3) == expected
    assert await everything(server.store) == before
    developed = await register(field, HTTP, appType=kind, devMode=True)
    assert developed.json()["noneCompliant"] is True


@pytest.mark.parametrize("field", FIELDS)
async def test_schemes_of_their_own_are_for_native_apps(server, register, field):
    before = await everything(server.store)
    for kind in KINDS[:2]:
        page = await register(field, CUSTOM, appType=kind, devMode=True)
        expected = {f"{field}[{n}]": "redirect_uri.scheme" for n in range(len(CUSTOM))}
        assert refused(page, 400, 3) == expected
    assert await everything(server.store) == before
    assert (await register(field, CUSTOM, appType=KINDS[2])).status == 200


@pytest.mark.parametrize("field", FIELDS)
async def test_a_uri_that_is_listed_twice_is_refused(register, field):
    page = await register(field, [HTTPS[0], HTTPS[1], HTTPS[0]])

    assert refused(page, 400, 3) == {f"{field}[2]": "field.duplicate"}


@pytest.mark.parametrize(
    ("address", "error_code"),
    [
        ("javascript:alert(1)", "redirect_uri.scheme"),
        ("shop.example", "redirect_uri.relative"),
        ("com.example.app:/home", "field.address"),
        ("https://shop.example/#top", "redirect_uri.fragment"),
        ("https://shop.example/ü", "redirect_uri.characters"),
    ],
)
async def test_the_home_page_is_a_web_address(server, register, address, error_code):
    before = await everything(server.store)
    page = await register("redirectUris", [HTTPS[0]], homeUrl=address)

    assert refused(page, 400, 3) == {"homeUrl": error_code}
    assert await everything(server.store) == before
