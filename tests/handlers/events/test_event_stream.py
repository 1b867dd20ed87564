"""GET /v2/events/stream: all sealed events in order, from a cursor on, for those who may read."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from idp.audit import sealing
from idp.records import AUDIT_HEADS, EVENTS, INSTANCE_ID, INSTANCES, USERS
from storage import Delete, Update
from tests.handlers.events.streaming import (  # noqa: F401
    NEXT,
    PATH,
    polling_often,
    read,
    sealed,
    service_of_server,
)
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.store.auditing import sealed_in
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401


async def read_all(caller, query="") -> list[dict]:
    found, url = [], PATH + query
    while True:
        page = await caller.get(url)
        events = [msgspec.json.decode(line) for line in page.text.splitlines()]
        if not events:
            return found
        found += events
        url = NEXT.fullmatch(page.headers["Link"])[1]


@pytest.mark.promise("audit: stream")
@on_both_stores
async def test_pages_have_every_event_once_in_the_order_of_positions(server, service, owner):
    await sealed(service, 250)
    found = await read_all(owner, "?limit=70")

    assert sorted(one["id"] for one in found) == sorted(
        [event.id async for event in server.store.scan(EVENTS)]
    )
    access = [int(one["position"]) for one in found if one["stream"] == "access"]
    assert access == list(range(1, 251))


async def test_a_reader_goes_on_after_each_event_by_its_cursor(service, owner):
    await sealed(service, 5)
    events, _ = await read(owner, "?stream=access")
    for n, event in enumerate(events):
        later, _ = await read(owner, f"?cursor={event['cursor']}")

        assert [one["id"] for one in later] == [one["id"] for one in events[n + 1 :]]


async def test_an_event_is_there_with_its_names_once_it_is_sealed(server, service, owner):
    organization = await new_organization(server, "acme.example")
    caller = await new_caller(server, owner.visitor, organization)
    assert await read(owner, "?types=user.created&cursor=latest") != []
    await sealing.seal(service)
    found, _ = await read(owner, "?types=user.created")
    event = next(one for one in found if one["aggregate"]["id"] == caller.user_id)

    assert event["stream"] == "change"
    assert event["aggregate"]["resourceOwner"] == organization.id
    user = await server.store.get(USERS, caller.user_id)
    assert event["aggregate"]["loginName"] == user.user_name
    assert event["type"]["type"] == "user.created"


async def test_what_is_sealed_late_with_an_earlier_time_is_not_missed(service, owner):
    await sealed(service, 2)
    _, url = await read(owner, "?stream=access")
    (late,) = await sealed(service, 1, earlier=timedelta(minutes=5))
    page = await owner.get(url)

    assert [msgspec.json.decode(line)["id"] for line in page.text.splitlines()] == [late.id]


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ("session.opened", {"session.opened"}),
        ("session.*", {"session.opened", "session.ended"}),
        ("consent.given,session.ended", {"consent.given", "session.ended"}),
        ("device.allowed", set()),
    ],
)
async def test_types_are_exact_or_of_an_object(service, owner, types, expected):
    for type in ("session.opened", "session.ended", "consent.given"):
        await sealed(service, 1, type)
    found, _ = await read(owner, f"?types={types}")

    assert {one["type"]["type"] for one in found} == expected


async def test_streams_are_those_that_are_named(service, owner):
    await sealed(service, 2)
    for query, expected in [
        ("?stream=access", {"access"}),
        ("?stream=access,change", {"access", "change"}),
        ("?stream=failure", set()),
        ("", {"access", "change"}),
    ]:
        found, _ = await read(owner, query)
        assert {one["stream"] for one in found} == expected


async def test_latest_is_the_end_and_goes_on_from_there(service, owner):
    await sealed(service, 2)
    nothing, url = await read(owner, "?cursor=latest")
    (new,) = await sealed(service, 1)
    page = await owner.get(url)

    assert nothing == []
    assert [msgspec.json.decode(line)["id"] for line in page.text.splitlines()] == [new.id]


async def test_a_client_that_accepts_only_json_gets_one_document(service, owner):
    await sealed(service, 2)
    page = await owner.get(f"{PATH}?stream=access&limit=1", Accept="application/json")
    first = page.json()
    page = await owner.get(f"{PATH}?cursor={first['nextCursor']}", Accept="application/json")

    assert page.headers["Content-Type"] == "application/json"
    ids = [one["id"] for one in first["events"] + page.json()["events"]]
    assert ids == [event.id for event in await sealed_in(service, "access")]


class TestOrganizations:
    """Who reads for an organization gets its events alone, without their positions."""

    async def test_an_organization_gets_its_own(self, server, service, owner):
        acme, other = [await new_organization(server, f"{n}.example") for n in ("acme", "other")]
        caller = await new_caller(server, owner.visitor, acme, "ORG_OWNER")
        for organization in (acme, other):
            await sealed(service, 3, org_id=organization.id)
        found = await read_all(caller, "?limit=2")
        access = [one for one in found if one["stream"] == "access"]

        assert len(access) == 3
        assert {one["aggregate"]["resourceOwner"] for one in found} == {acme.id}
        assert not any("position" in one for one in found)

    async def test_the_owner_of_all_may_name_one(self, server, service, owner):
        acme = await new_organization(server, "acme.example")
        await sealed(service, 1, org_id=acme.id)
        found, _ = await read(owner, x_idp_orgid=acme.id)

        assert {one["aggregate"]["resourceOwner"] for one in found} == {acme.id}

    async def test_the_record_of_the_installation_is_for_its_own_readers(
        self, server, service, owner
    ):
        instance_org = (await server.store.get(INSTANCES, INSTANCE_ID)).org_id
        await sealing.seal(service)
        everything, _ = await read(owner, "?limit=1000")
        own, _ = await read(owner, "?limit=1000", x_idp_orgid=instance_org)

        types = {one["type"]["type"] for one in everything}
        assert "instance.created" in types
        assert not [one for one in own if one["type"]["type"].startswith("instance.")]

    async def test_no_role_no_events(self, server, service, owner):
        acme = await new_organization(server, "acme.example")
        caller = await new_caller(server, owner.visitor, acme)

        refused(await caller.get(PATH), 403, 7)
        refused(await owner.get(PATH, x_idp_orgid="nowhere"), 404, 5)


@pytest.mark.parametrize(
    ("query", "field", "error_code"),
    [
        ("cursor=v1.AAAA", "cursor", "events.cursor_unknown"),
        ("cursor=%C3%A9", "cursor", "events.cursor_unknown"),
        ("cursor=", "cursor", "events.cursor_unknown"),
        ("stream=acces", "stream", "events.stream_unknown"),
        ("stream=access,", "stream", "events.stream_unknown"),
        ("types=user.creatd", "types", "events.type_unknown"),
        ("types=*", "types", "events.type_unknown"),
        ("limit=1001", "limit", "field.out_of_range"),
        ("limit=many", "limit", "field.wrong_type"),
        ("wait=31", "wait", "field.out_of_range"),
        ("until=now", "until", "field.unknown"),
        ("limit=1&limit=2", "limit", "field.duplicate"),
    ],
)
async def test_a_query_that_can_not_be_answered_is_refused(owner, query, field, error_code):
    page = await owner.get(f"{PATH}?{query}")

    assert refused(page, 400, 3) == {field: error_code}


async def test_a_cursor_is_for_the_streams_that_it_was_made_with(service, owner):
    await sealed(service, 1)
    events, _ = await read(owner, "?stream=access")
    page = await owner.get(f"{PATH}?cursor={events[0]['cursor']}&stream=change")

    assert refused(page, 400, 3) == {"cursor": "events.cursor_unknown"}


async def test_an_altered_cursor_and_one_beyond_the_end_are_unknown(service, owner):
    await sealed(service, 2)
    events, _ = await read(owner, "?stream=access")
    cursor = events[-1]["cursor"]
    altered = cursor[:-2] + ("AA" if cursor[-2:] != "AA" else "BB")
    assert refused(await owner.get(f"{PATH}?cursor={altered}"), 400, 3) == {
        "cursor": "events.cursor_unknown"
    }

    # As after the restore of an older backup.
    await service.store.commit(Update(AUDIT_HEADS, "access", set={"position": 1}))
    assert refused(await owner.get(f"{PATH}?cursor={cursor}"), 400, 3) == {
        "cursor": "events.cursor_unknown"
    }


async def test_a_cursor_before_the_floor_names_the_first_that_works(service, owner):
    await sealed(service, 3)
    _, url = await read(owner, "?stream=access&limit=1")
    first, second, third = await sealed_in(service, "access")
    await service.store.commit(
        Delete(EVENTS, first.id),
        Delete(EVENTS, second.id),
        Update(AUDIT_HEADS, "access", set={"floor": 2, "floor_chain": second.chain}),
    )
    page = await owner.get(url)

    assert refused(page, 400, 11) == {"cursor": "events.cursor_too_old"}
    oldest = page.json()["details"][0]["oldest"]
    events, _ = await read(owner, f"?cursor={oldest}")
    assert [one["id"] for one in events] == [third.id]


async def test_nothing_but_get_is_answered(owner):
    page = await owner.post(PATH, {})

    assert refused(page, 405, 12) == {"": "method_not_allowed"}
    assert page.headers["Allow"] == "GET"
