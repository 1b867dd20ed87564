"""What becomes of a project over HTTP: renamed, deactivated, reactivated, deleted."""

from __future__ import annotations

import pytest

from idp.background import deferred_work
from idp.management.projects import removal as project_removal
from idp.management.projects import states as project_states
from idp.records import (
    APP_KEYS,
    APPLICATIONS,
    CLIENT_ORIGINS,
    DEFERRED_WORK,
    INSTANCE_ID,
    INSTANCES,
    PROJECT_ROLES,
    PROJECTS,
    ROLE_ASSIGNMENTS,
)
from storage import Unavailable
from tests.support import invariants
from tests.support.management.api_samples import MACHINES, PUBLIC_KEY
from tests.support.management.callers import refused
from tests.support.management.managing import PATH, has_ended, shop
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

__all__ = ["shop"]


async def state_of(shop, app=None) -> str:
    return (await shop.server.store.get(APPLICATIONS, app or shop.made["appId"])).state


async def test_a_project_gets_another_name(shop):
    page = await shop.owner.request("PUT", shop.path, {"name": "Store"})

    assert page.json()["details"]["sequence"] == "2"
    assert (await shop.owner.get(shop.path)).json()["project"]["name"] == "Store"
    again = await shop.owner.request("PUT", shop.path, {"name": "Store"})
    assert again.json()["details"]["sequence"] == "2"
    await events_agree(shop.server.store)


async def test_the_applications_of_a_deactivated_project_get_nothing(server, new_visitor, shop):
    browser = new_visitor()
    tokens = await shop.party.tokens(browser, *server.user)
    page = await shop.step("_deactivate")

    assert page.status == 200, page.text
    shown = (await shop.owner.get(shop.path)).json()["project"]
    assert shown["state"] == "PROJECT_STATE_INACTIVE"
    assert await has_ended(shop, browser, tokens)
    asked = await browser.get(shop.party.authorize_url())
    assert asked.status == 400
    inactive = await browser.post(
        "/oauth/v2/introspect", {"token": "x"}, headers=shop.party.basic()
    )
    assert inactive.status == 401
    await events_agree(server.store)


async def test_what_ended_with_a_project_stays_invalid_when_it_works_again(
    server, new_visitor, shop
):
    browser = new_visitor()
    tokens = await shop.party.tokens(browser, *server.user)
    await shop.step("_deactivate")
    await shop.step("_reactivate")

    assert await has_ended(shop, browser, tokens)
    again = await shop.party.tokens(new_visitor(), *server.user)
    assert (await shop.party.userinfo(browser, again["access_token"])).status == 200
    assert not await server.store.count(DEFERRED_WORK)
    await events_agree(server.store)


@pytest.mark.parametrize("steps", [["_reactivate"], ["_deactivate", "_deactivate"]])
async def test_a_project_is_not_put_into_the_state_that_it_has(server, shop, steps):
    for step in steps[:-1]:
        await shop.step(step)
    before = await everything(server.store)

    assert refused(await shop.step(steps[-1]), 400, 9) == {"": "project.state"}
    assert await everything(server.store) == before


async def test_an_application_that_was_inactive_by_itself_stays_so(shop):
    other = (await shop.another())["appId"]
    await shop.step("_deactivate", f"{shop.path}/apps/{other}")
    await shop.step("_deactivate")
    assert [await state_of(shop), await state_of(shop, other)] == ["suspended", "inactive"]

    await shop.step("_reactivate")

    assert [await state_of(shop), await state_of(shop, other)] == ["active", "inactive"]


async def test_what_is_made_or_reactivated_in_an_inactive_project_waits_for_it(shop):
    await shop.step("_deactivate", shop.app)
    await shop.step("_deactivate")
    other = (await shop.another())["appId"]
    await shop.step("_reactivate", shop.app)
    assert [await state_of(shop), await state_of(shop, other)] == ["suspended"] * 2
    shown = (await shop.owner.get(shop.app)).json()["app"]
    assert shown["state"] == "APP_STATE_ACTIVE"

    await shop.step("_reactivate")

    assert [await state_of(shop), await state_of(shop, other)] == ["active"] * 2
    await events_agree(shop.server.store)


async def test_many_applications_follow_their_project_batch_by_batch(shop, monkeypatch):
    monkeypatch.setattr(project_states, "BATCH_SIZE", 2)
    apps = [shop.made["appId"], *[(await shop.another(f"A{n}"))["appId"] for n in range(4)]]

    await shop.step("_deactivate")
    assert {await state_of(shop, app) for app in apps} == {"suspended"}
    await shop.step("_reactivate")
    assert {await state_of(shop, app) for app in apps} == {"active"}
    await events_agree(shop.server.store)


async def test_whatever_a_crash_leaves_active_in_a_deactivated_project_is_deactivated_soon(
    server, shop, monkeypatch
):
    monkeypatch.setattr(project_states, "BATCH_SIZE", 1)
    apps = [shop.made["appId"], (await shop.another())["appId"]]

    async def crash(*_):
        raise Unavailable("the process ended here")

    with monkeypatch.context() as patch:
        patch.setattr(project_states, "update_applications", crash)
        assert (await shop.step("_deactivate")).status == 200
    assert {await state_of(shop, app) for app in apps} == {"suspended", "active"}

    await deferred_work.process_due(server.service)

    assert {await state_of(shop, app) for app in apps} == {"suspended"}
    assert not await server.store.count(DEFERRED_WORK)
    await events_agree(server.store)


async def fill(shop) -> None:
    """Let the project have roles, somebody who has one, keys and more applications."""
    await shop.owner.post(f"{shop.path}/roles", {"roleKey": "buyer", "displayName": "Buyer"})
    made = await shop.owner.post(MACHINES, {"userName": "nightly", "name": "N"})
    grants = f"/management/v1/users/{made.json()['userId']}/grants"
    given = {"projectId": shop.id, "roleKeys": ["buyer"]}
    assert (await shop.owner.post(grants, given)).status == 200
    await shop.owner.post(f"{shop.app}/keys", {"publicKey": PUBLIC_KEY})
    for n in range(3):
        await shop.another(f"A{n}")


async def left_of(shop) -> list[str]:
    """The collections that have something of the project still."""
    found = await everything(shop.server.store)
    apps = {id for id, one in found["applications"].items() if one.project_id == shop.id}
    hanging = {
        PROJECTS.name: {"id": {shop.id}},
        APPLICATIONS.name: {"project_id": {shop.id}},
        PROJECT_ROLES.name: {"project_id": {shop.id}},
        ROLE_ASSIGNMENTS.name: {"project_id": {shop.id}},
        APP_KEYS.name: {"owner_id": apps | {shop.made["appId"]}},
        CLIENT_ORIGINS.name: {"client_id": apps | {shop.made["appId"]}},
    }
    return [
        name
        for name, of in hanging.items()
        for field, ids in of.items()
        if any(getattr(one, field) in ids for one in found[name].values())
    ]


@pytest.mark.full
@pytest.mark.parametrize("at_once", [50, 1])
async def test_a_deleted_project_takes_all_that_is_in_it_along(
    server, new_visitor, shop, monkeypatch, at_once
):
    monkeypatch.setattr(project_removal, "BATCH_SIZE", at_once)
    await fill(shop)
    browser = new_visitor()
    tokens = await shop.party.tokens(browser, *server.user)
    page = await shop.owner.request("DELETE", shop.path, None)

    assert page.status == 200, page.text
    assert await has_ended(shop, browser, tokens)
    assert refused(await shop.owner.get(shop.path), 404, 5) == {"": "project.not_found"}
    await deferred_work.process_due(server.service)
    assert await left_of(shop) == []
    assert not await server.store.count(DEFERRED_WORK)
    await invariants.hold(server.store)


async def test_a_crash_while_a_project_is_deleted_leaves_work_and_nothing_usable(
    server, shop, monkeypatch
):
    monkeypatch.setattr(project_removal, "BATCH_SIZE", 1)
    await fill(shop)

    async def crash(*_):
        raise Unavailable("the process ended here")

    with monkeypatch.context() as patch:
        patch.setattr(project_removal, "purge", crash)
        assert (await shop.owner.request("DELETE", shop.path, None)).status == 200
    refused(await shop.owner.post(f"{shop.path}/apps/oidc", {"name": "Late"}), 404, 5)

    await deferred_work.process_due(server.service)

    assert await left_of(shop) == []
    await invariants.hold(server.store)


async def test_what_is_made_while_its_project_is_deleted_is_refused(shop, monkeypatch):
    """The creation looks, the deletion is faster, and the creation looks again."""
    store, commit, met = shop.server.store, shop.server.store.commit, []

    async def overtaken(*writes):
        if not met and any(getattr(one, "collection", None) is PROJECT_ROLES for one in writes):
            met.append(True)
            assert (await shop.owner.request("DELETE", shop.path, None)).status == 200
        await commit(*writes)

    monkeypatch.setattr(store, "commit", overtaken)
    page = await shop.owner.post(f"{shop.path}/roles", {"roleKey": "a", "displayName": "A"})

    assert refused(page, 404, 5) == {"": "project.not_found"}
    assert not await store.count(PROJECT_ROLES, {"project_id": shop.id})


async def test_the_project_and_the_application_of_the_demo_stay(server, shop):
    instance = await server.store.get(INSTANCES, INSTANCE_ID)
    demo = await server.store.get(APPLICATIONS, instance.demo.client_id)
    path = f"{PATH}/{demo.project_id}"
    before = await everything(server.store)
    app = await shop.owner.request("DELETE", f"{path}/apps/{demo.id}", None)
    project = await shop.owner.request("DELETE", path, None)

    assert refused(app, 400, 9) == {"": "app.demo"}
    assert refused(project, 400, 9) == {"": "project.demo"}
    assert await everything(server.store) == before
