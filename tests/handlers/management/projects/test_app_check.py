"""Looking before registering: what would be refused, what would be told, and nothing is made; and
debug mode, which lets the explain page say more."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.browsers.https_proxy import Through
from tests.support.management.callers import refused
from tests.support.management.managing import CALLBACK, shop
from tests.support.store.audit import events_agree, events_of
from tests.support.store.stored import everything

__all__ = ["shop"]
NATIVE = "OIDC_APP_TYPE_NATIVE"


@pytest.fixture
def check(shop):
    async def check(*uris, **settings):
        body = {"redirectUris": list(uris)} | settings
        return await shop.owner.post(f"{shop.path}/apps/oidc/_check", body)

    return check


@pytest.mark.promise("client: redirect URIs")
async def test_what_can_not_be_registered_is_refused_in_the_same_words(server, shop, check):
    wrong = ["https://*.shop.example/cb", "http://shop.example/cb", "javascript:alert(1)", "/cb"]
    before = await everything(server.store)
    checked = await check(*wrong)
    registered = await shop.owner.post(
        f"{shop.path}/apps/oidc", {"name": "N", "redirectUris": wrong}
    )

    error_codes = ["wildcard", "http", "scheme", "relative"]
    named = {
        f"redirectUris[{n}]": f"redirect_uri.{error_code}"
        for n, error_code in enumerate(error_codes)
    }
    assert refused(checked, 400, 3) == refused(registered, 400, 3) == named
    assert checked.json()["message"] == registered.json()["message"]
    assert await everything(server.store) == before


WARNINGS = {
    "no_path": (["https://shop.example"], {}, ["redirectUris[0]"]),
    "twin": (["https://shop.example/cb", "https://shop.example/cb/"], {}, ["redirectUris[1]"]),
    "open_http": (["http://shop.example/cb"], {"devMode": True}, ["redirectUris[0]"]),
    "localhost": (["https://localhost/cb"], {}, ["redirectUris[0]"]),
    "case": (["https://Shop.example/cb"], {}, ["redirectUris[0]"]),
    "usual_port": (["https://shop.example:443/cb"], {}, ["redirectUris[0]"]),
}
FINE = [
    (["https://shop.example/cb", "https://shop.example/CB?a=B"], {}),
    (["http://127.0.0.1/cb", "app.shop:/Cb"], {"appType": NATIVE, "loopbackAnyPort": True}),
    (["http://127.0.0.1:3000/cb"], {}),
    (["http://127.0.0.1:3000/cb", "http://[::1]/cb"], {"appType": NATIVE}),
]


@pytest.mark.parametrize("key", WARNINGS)
async def test_what_is_allowed_and_often_not_meant_is_reported_for_each_address(
    server, check, key
):
    uris, settings, fields = WARNINGS[key]
    before = await everything(server.store)
    page = await check(*uris, **settings)

    assert page.status == 200, page.text
    told = page.json()["warnings"]
    assert [one["field"] for one in told] == fields
    assert {one["key"] for one in told} == {f"redirect_uri.{key}"}
    assert all(one["localizedMessage"] for one in told)
    assert await everything(server.store) == before


async def test_a_native_application_at_localhost_is_told_that_its_port_is_compared(check):
    fixed = await check("http://localhost:3000/cb", appType=NATIVE)
    free = await check("http://localhost:3000/cb", appType=NATIVE, loopbackAnyPort=True)

    of_fixed, of_free = ({one["key"] for one in page.json()["warnings"]} for page in (fixed, free))
    assert of_fixed == {"redirect_uri.localhost", "redirect_uri.fixed_port"}
    assert of_free == {"redirect_uri.localhost"}


@pytest.mark.parametrize(("uris", "more"), FINE)
async def test_nothing_is_reported_of_what_is_as_it_should_be(check, uris, more):
    page = await check(*uris, **more)

    assert (page.status, "warnings" in page.json()) == (200, False)


async def test_addresses_after_a_logout_are_looked_at_too(check):
    page = await check(CALLBACK, postLogoutRedirectUris=["https://shop.example"])

    assert [one["field"] for one in page.json()["warnings"]] == [
        "redirectUris[0]",
        "postLogoutRedirectUris[0]",
    ]


async def test_what_registering_would_report_is_reported(check):
    page = await check()

    body = page.json()
    assert body["noneCompliant"] is True
    assert [one["key"] for one in body["complianceProblems"]] == ["app.redirect_uris.missing"]


class TestDebugMode:
    """On an issuer that others can reach, the page tells strangers a number, and no more."""

    @pytest.fixture
    def settings(self) -> dict:
        return {"issuer": "https://login.example"}

    @pytest.fixture
    def visitor(self, server, new_visitor):
        return new_visitor(transport=Through(server.service.config.port))

    async def explained(self, shop, visitor) -> bool:
        page = await visitor.get(shop.party.authorize_url(redirect_uri=CALLBACK.upper()))
        assert (page.status, page.name) == (400, "explain")
        return "<mark>" in page.text

    @pytest.mark.full
    async def test_the_details_are_shown_for_an_hour(self, server, shop, visitor):
        assert not await self.explained(shop, visitor)
        page = await shop.step("_debug", shop.app)

        until = (server.clock.now() + timedelta(hours=1)).isoformat()[:19]
        assert page.json()["explainsUntil"][:19] == until
        shown = (await shop.owner.get(shop.app)).json()["app"]
        assert shown["explainsUntil"][:19] == until
        assert await self.explained(shop, visitor)
        server.clock.advance(3600)
        assert not await self.explained(shop, visitor)
        assert "explainsUntil" not in (await shop.owner.get(shop.app)).json()["app"]
        await events_agree(server.store)

    async def test_it_is_ended_at_once(self, server, shop, visitor):
        await shop.owner.post(f"{shop.app}/_debug", {"duration": "24h"})
        page = await shop.owner.post(f"{shop.app}/_debug", {"duration": "0s"})

        assert "explainsUntil" not in page.json()
        assert not await self.explained(shop, visitor)
        told = await events_of(server.store, shop.made["appId"])
        assert [one.type for one in told][1:] == [
            "application.debug_mode_set",
            "application.debug_mode_ended",
        ]


@pytest.mark.parametrize("duration", ["24h0m1s", "an hour"])
async def test_debug_mode_has_its_limits(server, shop, duration):
    before = await everything(server.store)
    page = await shop.owner.post(f"{shop.app}/_debug", {"duration": duration})

    assert set(refused(page, 400, 3)) == {"duration"}
    assert await everything(server.store) == before


async def test_an_api_application_has_no_page_that_explains(server, shop):
    made = (await shop.owner.post(f"{shop.path}/apps/api", {"name": "Stock"})).json()
    before = await everything(server.store)
    page = await shop.owner.post(f"{shop.path}/apps/{made['appId']}/_debug", {})

    assert refused(page, 400, 9) == {"": "app.not_oidc"}
    assert await everything(server.store) == before
