"""Projects and applications that end while others use, change or fill them, over two processes."""

from __future__ import annotations

import asyncio

import pytest

from idp.records import APPLICATIONS
from tests.flows.test_managing import NO_REUSE, owner
from tests.support.management.managing import CALLBACK, PATH, REFRESHING, Shop
from tests.support.protocol.relying_party import RelyingParty

AT_ONCE = 8
STORES = ["sqlite", "mongodb"]


async def shop_of(place, browser) -> Shop:
    script = await owner(place, browser)
    made = await script.post(PATH, {"name": "Shop"})
    path = f"{PATH}/{made.json()['id']}"
    shop = Shop(place, script, path, "", {})
    shop.made = await shop.another("Web shop")
    shop.app = f"{path}/apps/{shop.made['appId']}"
    return shop


async def by_secret(shop, browser, secret: str) -> int:
    party = RelyingParty(shop.server.issuer, shop.made["clientId"], secret, CALLBACK)
    form = {"grant_type": "refresh_token", "refresh_token": "none"}
    return (await party.token(browser, form)).status


@pytest.mark.parametrize("place", STORES, indirect=True)
async def test_of_many_rotations_at_once_two_secrets_count_in_the_end(place, open_browser):
    browser = open_browser(place, limits=NO_REUSE)
    shop = await shop_of(place, browser)
    rotate = f"{shop.app}/oidc_config/_generate_client_secret"
    pages = await asyncio.gather(
        *[shop.owner.post(rotate, {"overlap": "1h"}) for _ in range(AT_ONCE)]
    )

    assert [page.status for page in pages] == [200] * AT_ONCE
    secrets = [shop.made["clientSecret"], *[page.json()["clientSecret"] for page in pages]]
    told = [await by_secret(shop, browser, secret) for secret in secrets]
    assert sorted(told) == [400, 400] + [401] * (AT_ONCE - 1)
    order = sorted(pages, key=lambda page: int(page.json()["details"]["sequence"]))
    last = [await by_secret(shop, browser, page.json()["clientSecret"]) for page in order[-2:]]
    assert last == [400, 400]


@pytest.mark.parametrize("end", ["app", "project", "suspension"])
@pytest.mark.parametrize("place", STORES, indirect=True)
async def test_no_token_outlives_its_application_however_late_it_was_issued(
    place, open_browser, end
):
    browser = open_browser(place, limits=NO_REUSE)
    shop = await shop_of(place, browser)
    user = await place.copy_user(f"late-{place.service.random.id()}".casefold())
    families = [
        await shop.party.tokens(open_browser(place, limits=NO_REUSE), *user) for _ in range(4)
    ]

    under_way = asyncio.Event()

    async def refreshed(tokens: dict) -> list[dict]:
        """What each refresh brings, until there is no more."""
        got = []
        while True:
            page = await shop.party.refresh(browser, tokens["refresh_token"])
            if page.status != 200:
                return got
            tokens = page.json()
            got.append(tokens)
            under_way.set()

    waiting = [asyncio.ensure_future(refreshed(tokens)) for tokens in families]
    await under_way.wait()
    ended = await (
        shop.step("_deactivate")
        if end == "suspension"
        else shop.owner.request("DELETE", shop.app if end == "app" else shop.path, None)
    )
    told = [
        (await shop.party.userinfo(browser, tokens["access_token"])).status for tokens in families
    ]
    late = [tokens for family in await asyncio.gather(*waiting) for tokens in family]

    assert ended.status == 200, ended.text
    assert set(told) == {401}
    assert late
    for tokens in late:
        assert (await shop.party.userinfo(browser, tokens["access_token"])).status == 401


@pytest.mark.parametrize("place", STORES, indirect=True)
async def test_what_is_made_in_a_project_while_it_is_deleted_is_gone_with_it(place, open_browser):
    shop = await shop_of(place, open_browser(place, limits=NO_REUSE))
    body = {"name": "Late", "redirectUris": [CALLBACK], "grantTypes": REFRESHING}
    asked = [shop.owner.post(f"{shop.path}/apps/oidc", body) for _ in range(AT_ONCE)]
    gone, *made = await asyncio.gather(shop.owner.request("DELETE", shop.path, None), *asked)

    assert gone.status == 200, gone.text
    assert {page.status for page in made} <= {200, 404}
    assert not await place.store.count(APPLICATIONS, {"project_id": shop.id})
