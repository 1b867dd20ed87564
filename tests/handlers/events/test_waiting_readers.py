"""How many readers of the event stream wait at once, of an organization and of all."""

from __future__ import annotations

import asyncio

import pytest

from idp.audit import sealing
from idp.limits import waiting_readers
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.patience import until

PATH = "/v2/events/stream"


@pytest.mark.promise("overload: waiting readers")
async def test_a_caller_has_ten_waiting_readers_and_leaves_the_other_places_to_others(
    server, owner
):
    service = server.service
    acme = await new_organization(server, "acme.example")
    viewer = await new_caller(server, owner.visitor, acme, "IAM_OWNER_VIEWER", everywhere=True)
    await sealing.seal(service)
    query = f"{PATH}?cursor=latest&wait=20"
    waiting = [asyncio.create_task(viewer.get(query)) for _ in range(10)]
    await until(lambda: service.waiting_readers.count >= len(waiting))

    owner.visitor.may_fail = True
    pages = [await viewer.get(query), await viewer.get(query, Accept="text/event-stream")]

    for page in pages:
        assert refused(page, 429, 8)[""] == "rate_limit.exceeded"
        assert int(page.headers["Retry-After"]) > 0
    waiting.append(asyncio.create_task(owner.get(query)))
    await until(lambda: service.waiting_readers.count >= len(waiting))
    for each in waiting:
        each.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_an_organization_can_not_keep_others_from_waiting(server, owner, monkeypatch):
    service = server.service
    monkeypatch.setattr(waiting_readers, "MAX_OF_ORGANIZATION", 2)
    monkeypatch.setattr(waiting_readers, "MAX_OF_ORGANIZATIONS", 3)
    names = ("acme.example", "second.example", "third.example")
    organizations = [await new_organization(server, name) for name in names]
    acme, second, third = [
        await new_caller(server, owner.visitor, each, "ORG_OWNER") for each in organizations
    ]
    await sealing.seal(service)
    query = f"{PATH}?cursor=latest&wait=20"
    owner.visitor.may_fail = True
    waiting = [asyncio.create_task(each.get(query)) for each in (acme, acme, second, owner)]
    await until(lambda: service.waiting_readers.count >= len(waiting))

    assert refused(await acme.get(query), 503, 14)[""] == "busy"
    assert refused(await third.get(query), 503, 14)[""] == "busy"
    page = await third.get(query, Accept="text/event-stream")
    assert refused(page, 503, 14)[""] == "busy"
    for each in waiting:
        each.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
