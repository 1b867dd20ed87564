"""What becomes of an application over HTTP: renamed, deactivated, reactivated, deleted; and of
the roles beside it."""

from __future__ import annotations

import pytest

from idp.records import APP_KEYS, APPLICATIONS, CONSENTS, DEFERRED_WORK, Application
from storage import Insert
from tests.support import invariants
from tests.support.management.api_samples import PUBLIC_KEY
from tests.support.management.callers import refused
from tests.support.management.managing import CALLBACK, has_ended, shop
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

__all__ = ["shop"]


async def test_an_application_gets_another_name_and_keeps_the_rest(shop):
    before = (await shop.owner.get(shop.app)).json()["app"]
    page = await shop.owner.request("PUT", shop.app, {"name": "Store"})

    assert page.json()["details"]["sequence"] == "2"
    after = (await shop.owner.get(shop.app)).json()["app"]
    assert after["name"] == "Store"
    assert after["oidcConfig"] == before["oidcConfig"]
    await events_agree(shop.server.store)


async def test_a_deactivated_application_gets_nothing_until_it_is_reactivated(
    server, new_visitor, shop
):
    browser = new_visitor()
    tokens = await shop.party.tokens(browser, *server.user)
    assert (await shop.step("_deactivate", shop.app)).status == 200
    shown = (await shop.owner.get(shop.app)).json()["app"]
    assert shown["state"] == "APP_STATE_INACTIVE"
    assert await has_ended(shop, browser, tokens)

    assert (await shop.step("_reactivate", shop.app)).status == 200

    assert await has_ended(shop, browser, tokens)
    again = await shop.party.tokens(new_visitor(), *server.user)
    assert (await shop.party.userinfo(browser, again["access_token"])).status == 200
    await events_agree(server.store)


@pytest.mark.parametrize("steps", [["_reactivate"], ["_deactivate", "_deactivate"]])
async def test_an_application_is_not_put_into_the_state_that_it_has(server, shop, steps):
    for step in steps[:-1]:
        await shop.step(step, shop.app)
    before = await everything(server.store)

    assert refused(await shop.step(steps[-1], shop.app), 400, 9) == {"": "app.state"}
    assert await everything(server.store) == before


async def test_a_deleted_application_gets_nothing_and_nothing_of_it_is_left(
    server, new_visitor, shop
):
    browser = new_visitor()
    await shop.owner.post(f"{shop.app}/keys", {"publicKey": PUBLIC_KEY})
    tokens = await shop.party.tokens(browser, *server.user)
    gone = await shop.owner.request("DELETE", shop.app, None)

    assert gone.json()["details"]["sequence"] == "2"
    assert await has_ended(shop, browser, tokens)
    assert (await browser.get(shop.party.authorize_url())).status == 400
    refused(await shop.owner.get(shop.app), 404, 5)
    refused(await shop.owner.request("DELETE", shop.app, None), 404, 5)
    assert not await server.store.count(APP_KEYS, {"owner_id": shop.made["appId"]})
    assert not await server.store.count(DEFERRED_WORK)
    preflight = await browser.request(
        "OPTIONS",
        "/oauth/v2/token",
        headers={"Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST"},
    )
    assert "Access-Control-Allow-Origin" not in preflight.headers
    await invariants.hold(server.store)


async def test_an_id_that_is_there_again_revives_nothing(server, new_visitor, shop):
    made = await shop.owner.request(
        "PUT",
        f"{shop.app}/oidc_config",
        {"redirectUris": [CALLBACK], "thirdParty": True, "grantTypes": shop_grants()},
    )
    assert made.status == 200
    browser = new_visitor()
    page = await browser.sign_in(shop.party.authorize_url(), *server.user)
    allowed = await browser.submit(page, decision="allow")
    tokens = (await shop.party.redeem(browser, allowed.answer["code"])).json()
    before = await server.store.get(APPLICATIONS, shop.made["appId"])
    await shop.owner.request("DELETE", shop.app, None)
    assert not await server.store.count(CONSENTS, {"client_id": before.id})
    now = server.clock.now()
    again = Application(
        id=before.id,
        project_id=before.project_id,
        org_id=before.org_id,
        name="Another of the same id",
        auth_method=before.auth_method,
        secret_hash=before.secret_hash,
        redirect_uris=before.redirect_uris,
        grant_types=before.grant_types,
        stamp=server.service.random.token(64),
        created_at=now,
        changed_at=now,
    )
    await server.store.commit(Insert(APPLICATIONS, again))

    assert await has_ended(shop, browser, tokens)


def shop_grants() -> list[str]:
    return ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_REFRESH_TOKEN"]


async def test_a_role_gets_another_name_for_people_and_keeps_its_key(shop):
    roles = f"{shop.path}/roles"
    await shop.owner.post(roles, {"roleKey": "buyer", "displayName": "B", "group": "g"})
    page = await shop.owner.request("PUT", f"{roles}/buyer", {"displayName": "Buyer"})

    assert page.json()["details"]["sequence"] == "2"
    (shown,) = (await shop.owner.get(roles)).json()["result"]
    assert (shown["key"], shown["displayName"], "group" in shown) == ("buyer", "Buyer", False)
    refused(await shop.owner.request("PUT", f"{roles}/nobody", {"displayName": "X"}), 404, 5)
    await events_agree(shop.server.store)
