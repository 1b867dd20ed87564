"""Switches of the whole installation over HTTP: features, and what security allows."""

from __future__ import annotations

import asyncio

import pytest

from idp.records import INSTANCE_ID, INSTANCES
from tests.support.management.api_samples import FEATURES, SECURITY
from tests.support.store.audit import events_agree, events_of
from tests.support.store.stored import everything


async def test_token_exchange_is_off_until_it_is_switched_on(server, owner):
    before = (await owner.get(FEATURES)).json()
    server.clock.advance(60)
    page = await owner.request("PUT", FEATURES, {"oidcTokenExchange": True})

    assert before["oidcTokenExchange"] == {}
    steps = [int(answer["details"]["sequence"]) for answer in (before, page.json())]
    assert steps == [steps[0], steps[0] + 1]
    after = (await owner.get(FEATURES)).json()
    assert after["oidcTokenExchange"] == {"enabled": True}
    assert after["details"] == page.json()["details"]
    assert after["details"]["changeDate"] > after["details"]["creationDate"]
    assert (await server.store.get(INSTANCES, INSTANCE_ID)).allows_token_exchange is True
    await owner.request("PUT", FEATURES, {"oidc_token_exchange": False})
    assert (await owner.get(FEATURES)).json()["oidcTokenExchange"] == {}
    await events_agree(server.store)


async def test_impersonation_is_off_until_it_is_switched_on(server, owner):
    before = (await owner.get(SECURITY)).json()["policy"]
    await owner.request("PUT", SECURITY, {"enableImpersonation": True})

    assert set(before) == {"details"}
    assert (await owner.get(SECURITY)).json()["policy"]["enableImpersonation"] is True
    assert (await server.store.get(INSTANCES, INSTANCE_ID)).allows_impersonation is True
    await events_agree(server.store)


async def test_a_feature_that_is_not_named_stays_and_a_policy_is_replaced(owner):
    await owner.request("PUT", FEATURES, {"oidcTokenExchange": True})
    await owner.request("PUT", SECURITY, {"enableImpersonation": True})
    await owner.request("PUT", FEATURES, {})
    await owner.request("PUT", SECURITY, {})

    assert (await owner.get(FEATURES)).json()["oidcTokenExchange"] == {"enabled": True}
    assert "enableImpersonation" not in (await owner.get(SECURITY)).json()["policy"]


@pytest.mark.parametrize(
    ("path", "body"),
    [(FEATURES, {"oidcTokenExchange": False}), (SECURITY, {"enableImpersonation": False})],
)
async def test_what_is_so_already_is_no_change(server, owner, path, body):
    before = await everything(server.store)
    page = await owner.request("PUT", path, body)

    assert page.status == 200
    assert await everything(server.store) == before


async def test_two_switches_at_once_are_both_set_each_with_its_event(server, owner):
    await asyncio.gather(
        owner.request("PUT", FEATURES, {"oidcTokenExchange": True}),
        owner.request("PUT", SECURITY, {"enableImpersonation": True}),
    )

    instance = await server.store.get(INSTANCES, INSTANCE_ID)
    assert (instance.allows_token_exchange, instance.allows_impersonation) == (True, True)
    assert {event.type for event in await events_of(server.store, INSTANCE_ID)} >= {
        "instance.features_changed",
        "instance.security_policy_changed",
    }
    await events_agree(server.store)
