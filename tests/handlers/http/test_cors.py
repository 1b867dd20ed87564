"""Cross-origin requests (Fetch Standard, CORS protocol): whose scripts may read an answer."""

from __future__ import annotations

import pytest

from idp.records import CLIENT_ORIGINS
from tests.support.management.callers import instance_owner
from tests.support.store.stored import everything

TOKEN, USERINFO = "/oauth/v2/token", "/oidc/v1/userinfo"
INTROSPECT, REVOKE = "/oauth/v2/introspect", "/oauth/v2/revoke"
SHARED = {TOKEN: "POST", USERINFO: "GET, POST", INTROSPECT: "POST", REVOKE: "POST"}
PUBLIC = ["/.well-known/openid-configuration", "/oauth/v2/keys"]
SHOP, OTHER = "https://shop.example", "https://other.example:8443"
STRANGERS = {
    "nobody's": "https://evil.example",
    "the opaque one": "null",
    "any": "*",
    "empty": "",
    "another scheme": "http://shop.example",
    "another port": "https://shop.example:8443",
    "the usual port": "https://shop.example:443",
    "a port of another": "https://other.example",
    "capitals": "https://SHOP.example",
    "a path": "https://shop.example/",
    "a suffix": "https://shop.example.evil.example",
    "a prefix": "https://evilshop.example",
    "a subdomain": "https://www.shop.example",
    "a dot at its end": "https://shop.example.",
    "a user name": "https://shop.example@evil.example",
    "two": "https://shop.example https://evil.example",
    "a list": "https://shop.example, https://evil.example",
    "a blank before": "x https://shop.example",
    "an escape": "https://shop%2eexample",
    "another alphabet": "https://shöp.example",
    "too long": "https://" + "a" * 4000,
    "a file": "file://",
    "an operator": "$ne",
}


@pytest.fixture
def shop(io_loop, server):
    """A single-page application at SHOP; there is another one at OTHER."""
    uris = ["https://shop.example/cb", "https://shop.example/silent?x=1", f"{OTHER}/cb"]
    options = {"auth_method": "none", "app_type": "user_agent"}
    io_loop.run_sync(lambda: server.register("Other", redirect_uris=[uris[2]], **options))
    return io_loop.run_sync(lambda: server.register("Shop", redirect_uris=uris[:2], **options))


async def met(visitor, *origins: str) -> list[bool]:
    """Of which of these a preflight is told to go on."""
    pages = [await visitor.request("OPTIONS", TOKEN, headers=preflight(one)) for one in origins]
    return [readers(page) is not None for page in pages]


def preflight(origin: str, method: str = "POST", headers: str = "authorization") -> dict:
    return {
        "Origin": origin.encode("latin-1"),
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": headers,
    }


def readers(page) -> str | None:
    """Who may read the answer; whoever it is, never with credentials."""
    told = page.headers
    assert "Access-Control-Allow-Credentials" not in told
    assert len(told.get_list("Access-Control-Allow-Origin")) < 2
    return told.get("Access-Control-Allow-Origin")


async def signed_in(server, visitor, shop) -> dict:
    """The tokens that a script of the shop gets by a request like any other of its own."""
    page = await visitor.sign_in(shop.authorize_url(), *server.user)
    redeemed = await shop.redeem(visitor, page.answer["code"], headers={"Origin": SHOP})
    assert (redeemed.status, readers(redeemed)) == (200, SHOP)
    return redeemed.json()


@pytest.mark.promise("scripts: origins")
@pytest.mark.parametrize(("path", "methods"), SHARED.items())
@pytest.mark.parametrize("origin", [SHOP, OTHER])
async def test_a_preflight_from_a_registered_origin_is_allowed(
    server, visitor, shop, path, methods, origin
):
    before = await everything(server.store)
    page = await visitor.request("OPTIONS", path, headers=preflight(origin))

    assert (page.status, page.text, readers(page)) == (204, "", origin)
    assert page.headers["Access-Control-Allow-Methods"] == methods
    allowed = page.headers["Access-Control-Allow-Headers"].lower().split(", ")
    assert {"authorization", "content-type"} <= set(allowed)
    assert page.headers["Access-Control-Max-Age"] == "300"
    assert page.headers["Vary"] == "Origin"
    assert await everything(server.store) == before


@pytest.mark.promise("scripts: headers")
@pytest.mark.parametrize("path", [*SHARED, *PUBLIC])
async def test_a_registered_origin_may_send_any_header_that_it_asks_for(visitor, shop, path):
    asked = "authorization,traceparent, baggage ,sentry-trace,x-requested-with,X_!#$%&'*+.^`|~9"
    page = await visitor.request("OPTIONS", path, headers=preflight(SHOP, headers=asked))

    allowed = page.headers["Access-Control-Allow-Headers"].split(", ")
    assert {name.strip().lower() for name in asked.split(",")} <= {
        name.lower() for name in allowed
    }
    assert len(allowed) == len({name.lower() for name in allowed})


@pytest.mark.promise("scripts: headers")
@pytest.mark.parametrize("asked", ["a b", "a:b", "a/b", '"a"', "a;b", "(a)", "\xe9", "a=b", ""])
async def test_what_is_no_name_of_a_header_is_not_allowed(visitor, shop, asked):
    headers = preflight(SHOP) | {"Access-Control-Request-Headers": asked.encode("latin-1")}
    page = await visitor.request("OPTIONS", TOKEN, headers=headers)

    allowed = page.headers["Access-Control-Allow-Headers"]
    assert allowed == "Authorization, Content-Type, X-Request-Id"


@pytest.mark.promise("scripts: origins")
@pytest.mark.parametrize("path", SHARED)
async def test_a_preflight_from_any_other_origin_is_not_allowed(server, visitor, shop, path):
    before, told = await everything(server.store), {}
    for kind, origin in STRANGERS.items():
        page = await visitor.request("OPTIONS", path, headers=preflight(origin))
        assert (page.status, page.text, page.headers["Vary"]) == (204, "", "Origin")
        told[kind] = [name for name in page.headers if name.startswith("access-control")]

    assert told == dict.fromkeys(STRANGERS, [])
    assert await everything(server.store) == before


@pytest.mark.full
@pytest.mark.promise("scripts: origins")
async def test_no_other_origin_reads_tokens_or_claims(server, visitor, shop):
    tokens, reading = await signed_in(server, visitor, shop), {}
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    for kind, origin in STRANGERS.items():
        sent = {"Origin": origin.encode("latin-1")}
        refreshed = await shop.refresh(visitor, tokens["refresh_token"], headers=sent)
        told = await visitor.get(USERINFO, headers=bearer | sent)
        refused = await visitor.get(USERINFO, headers=sent)
        tokens = refreshed.json()
        assert (told.status, refused.status, told.headers["Vary"]) == (200, 401, "Origin")
        reading[kind] = {readers(page) for page in (refreshed, told, refused)}

    assert reading == dict.fromkeys(STRANGERS, {None})


@pytest.mark.promise("scripts: origins")
async def test_the_origin_of_another_application_reads_neither(server, visitor, shop):
    tokens, sent = await signed_in(server, visitor, shop), {"Origin": OTHER}
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    refreshed = await shop.refresh(visitor, tokens["refresh_token"], headers=sent)
    told = await visitor.get(USERINFO, headers=bearer | sent)
    spent = await shop.refresh(visitor, tokens["refresh_token"], headers=sent)

    assert (refreshed.status, readers(refreshed)) == (200, None)
    assert (told.status, readers(told)) == (200, None)
    assert (spent.status, readers(spent)) == (400, None)


@pytest.mark.promise("scripts: origins")
async def test_the_application_reads_claims_and_errors_at_its_own_origin(server, visitor, shop):
    tokens, sent = await signed_in(server, visitor, shop), {"Origin": SHOP}
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    told = await visitor.get(USERINFO, headers=bearer | sent)
    posted = await visitor.post(USERINFO, {"access_token": tokens["access_token"]}, headers=sent)
    wrong = await shop.redeem(visitor, "x" * 65, headers=sent)
    broken = await visitor.post(TOKEN, {}, headers=sent)
    unknown = await visitor.get(USERINFO, headers=sent | {"Authorization": "Bearer nothing"})

    assert (told.status, told.json()["email"]) == (200, "dana@example.com")
    assert (wrong.status, broken.status, unknown.status) == (400, 400, 401)
    assert {readers(page) for page in (told, posted, wrong, broken, unknown)} == {SHOP}
    assert "WWW-Authenticate" in unknown.headers["Access-Control-Expose-Headers"]


@pytest.mark.parametrize("origin", [SHOP, OTHER])
async def test_the_application_alone_reads_what_becomes_of_its_revocation(
    server, visitor, shop, origin
):
    tokens = await signed_in(server, visitor, shop)
    form = {"token": tokens["refresh_token"], "client_id": shop.client_id}
    page = await visitor.post(REVOKE, form, headers={"Origin": origin})

    assert (page.status, readers(page)) == (200, SHOP if origin == SHOP else None)
    assert (await shop.refresh(visitor, tokens["refresh_token"])).status == 400


@pytest.mark.parametrize("path", [TOKEN, INTROSPECT])
async def test_a_client_that_authenticates_by_header_is_known_by_it(server, visitor, shop, path):
    own = await server.register(redirect_uris=["https://server.example/cb"])
    form, reading = {"grant_type": "x", "token": "x"}, {}
    for origin in (SHOP, "https://server.example"):
        page = await visitor.post(path, form, headers=own.basic() | {"Origin": origin})
        reading[origin] = readers(page)

    assert page.status == (200 if path == INTROSPECT else 400)
    assert reading == {SHOP: None, "https://server.example": "https://server.example"}


@pytest.mark.promise("scripts: origins")
@pytest.mark.parametrize("path", PUBLIC)
async def test_what_is_public_is_read_from_any_origin(visitor, path):
    for origin in [SHOP, *STRANGERS.values()]:
        page = await visitor.get(path, headers={"Origin": origin.encode("latin-1")})
        asked = await visitor.request("OPTIONS", path, headers=preflight(origin, "GET"))

        assert (page.status, readers(page)) == (200, "*")
        assert (asked.status, readers(asked)) == (204, "*")
        assert asked.headers["Access-Control-Allow-Methods"] == "GET, HEAD"


@pytest.mark.promise("scripts: origins")
@pytest.mark.parametrize("path", ["/oauth/v2/authorize", "/oidc/v1/end_session", "/ui/login"])
async def test_pages_are_read_from_no_other_origin(visitor, shop, path):
    page = await visitor.get(path, headers={"Origin": SHOP})
    asked = await visitor.request("OPTIONS", path, headers=preflight(SHOP))

    assert (readers(page), readers(asked)) == (None, None)
    assert asked.status == 405


@pytest.mark.parametrize("path", [*SHARED, *PUBLIC])
async def test_options_that_are_no_preflight_are_a_wrong_method(visitor, shop, path):
    page = await visitor.request("OPTIONS", path, headers={"Origin": SHOP})

    assert page.status == 405
    assert "OPTIONS" not in page.headers["Allow"]


async def test_an_origin_is_as_browsers_write_it(server, visitor):
    uris = [
        "HTTPS://Shop.Example:443/cb",
        "http://[0:0::1]:80/cb",
        "http://127.0.0.1:3000",
        "com.example.app:/cb",
    ]
    await server.register("Capitals", redirect_uris=uris, additional_origins=["capacitor://app"])
    kept = [record.origin async for record in server.store.scan(CLIENT_ORIGINS)]

    assert sorted(kept) == [
        "capacitor://app",
        "http://127.0.0.1:3000",
        "http://[::1]",
        "https://shop.example",
    ]
    assert all(await met(visitor, *kept))


async def test_what_is_registered_by_api_counts_until_it_is_changed(server, visitor):
    caller = await instance_owner(server, visitor)
    project = (await caller.post("/management/v1/projects", {"name": "Shop"})).json()["id"]
    apps = f"/management/v1/projects/{project}/apps"
    origins = ["https://one.example", "https://two.example", "https://three.example"]
    before = {"redirectUris": [f"{origins[0]}/cb", f"{origins[0]}/cb2", f"{origins[1]}/cb"]}
    made = await caller.post(f"{apps}/oidc", {"name": "Shop", **before})
    first = await met(visitor, *origins)
    after = {"redirectUris": [f"{origins[1]}/cb"], "additionalOrigins": [origins[2]]}
    path = f"{apps}/{made.json()['appId']}/oidc_config"
    changed = await caller.request("PUT", path, after)
    second = await met(visitor, *origins)

    assert (made.status, changed.status) == (200, 200)
    assert first == [True, True, False]
    assert second == [False, True, True]
