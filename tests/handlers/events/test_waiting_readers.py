"""How many readers of the event stream wait at once, of an organization and of all."""

from __future__ import annotations

import asyncio

from idp.audit import sealing
from idp.limits import waiting_readers
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.patience import until

PATH = "/v2/events/stream"


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
