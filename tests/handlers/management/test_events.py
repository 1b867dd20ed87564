"""The audit log over the API: who changed what and when, found by each filter, for its readers."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from typing import get_args

import msgspec
import pytest

from idp.audit import event_details, event_types, failure_events
from idp.identity.guesses import reports as guess_reports
from idp.management.instance import events as instance_events
from idp.records import EVENTS, USERS
from storage.codec import instant_text
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.store.stored import everything

ALL = "/admin/v1/events/_search"
OWN = "/management/v1/orgs/me/events/_search"
LINES = "application/x-ndjson"


async def found(caller, path=ALL, **query):
    page = await caller.post(path, query)
    assert page.status == 200, page.text
    return page.json().get("events", [])


async def new_project(caller, **headers):
    page = await caller.post("/management/v1/projects", {"name": "Shop"}, **headers)
    return page.json()["id"], page


async def test_a_change_is_logged_with_actor_subject_time_and_request(server, owner):
    id, page = await new_project(owner)
    (event,) = await found(owner, aggregateId=id)

    user = await server.store.get(USERS, event["editor"]["userId"])
    assert event["editor"]["displayName"] == user.profile.display_name
    assert event["aggregate"] == {
        "id": id,
        "type": {
            "type": "project",
            "localized": {"key": "EventTypes.project", "localizedMessage": "Project"},
        },
        "resourceOwner": user.org_id,
    }
    assert event["sequence"] == "1"
    assert event["creationDate"] == page.json()["details"]["creationDate"]
    assert event["type"]["type"] == "project.created"
    assert event["type"]["localized"]["localizedMessage"] == "Project: created"
    assert event["requestId"] == page.headers["X-Request-Id"]


async def test_each_filter_keeps_what_it_says(server, owner):
    first, _ = await new_project(owner)
    server.clock.advance(60)
    later = server.clock.now()
    id, page = await new_project(owner)
    (event,) = await found(owner, aggregateId=id)
    at = instant_text(later)
    kept = [
        {"eventTypes": ["project.created"], "limit": 1},
        {"aggregateTypes": ["project"], "from": at, "asc": True},
        {"editorUserId": event["editor"]["userId"], "limit": 1},
        {"resourceOwner": event["aggregate"]["resourceOwner"], "range": {"since": at}},
        {"requestId": page.headers["X-Request-Id"]},
        {"range": {"since": at, "until": at}},
    ]

    for query in kept:
        assert [each["id"] for each in await found(owner, **query)] == [event["id"]], query
    for query in (
        {"aggregateId": first, "range": {"since": at}},
        {"aggregateId": id, "eventTypes": ["user.created"]},
        {"aggregateId": id, "sequence": 1, "asc": True},
        {"aggregateId": id, "from": "2020-01-01T00:00:00Z"},
        {"aggregateId": id, "editorUserId": "nobody"},
        {"aggregateId": id, "resourceOwner": "nobody"},
        {"aggregateId": id, "requestId": "nobody"},
    ):
        assert await found(owner, **query) == [], query


@pytest.mark.parametrize("asc", [True, False])
async def test_pages_follow_one_another_and_meet_each_event_once(server, owner, asc):
    for _ in range(7):
        server.clock.advance(1)
        await new_project(owner)
    whole = await found(owner, asc=asc)
    pages, cursor = [], ""
    while cursor or not pages:
        page = (await owner.post(ALL, {"asc": asc, "limit": 3, "cursor": cursor})).json()
        pages.append([event["id"] for event in page.get("events", [])])
        cursor = page.get("nextCursor", "")

    dates = [event["creationDate"] for event in whole]
    assert sum(pages, []) == [event["id"] for event in whole]
    assert dates == sorted(dates, reverse=not asc)
    assert {event["id"] for event in whole} == {
        event.id async for event in server.store.scan(EVENTS)
    }


@pytest.mark.parametrize("cursor", ["x", "AAAA", "W10", "bnVsbA", "WyIyMDIwLTAxLTAxIiwgImEiXQ"])
async def test_a_cursor_that_was_never_given_is_refused(owner, cursor):
    page = await owner.post(ALL, {"cursor": cursor})

    assert refused(page, 400, 3) == {"cursor": "query.cursor"}


async def test_what_nothing_is_indexed_by_is_looked_for_a_bounded_time(server, owner, monkeypatch):
    monkeypatch.setattr(instance_events, "MAX_RECORDS_READ", 2)
    monkeypatch.setattr(instance_events, "_PAGE_SIZE", 2)
    page = (await owner.post(ALL, {"requestId": "nobody"})).json()

    assert "events" not in page
    assert page["nextCursor"]


async def test_an_organization_s_owner_sees_what_belongs_to_it_alone(server, visitor, owner):
    own = await new_organization(server, "own.example")
    other = await new_organization(server, "other.example")
    caller = await new_caller(server, visitor, own, "ORG_OWNER")
    mine, _ = await new_project(caller)
    theirs, _ = await new_project(owner, x_idp_orgid=other.id)
    seen = await found(caller, OWN)

    assert mine in {event["aggregate"]["id"] for event in seen}
    assert theirs not in {event["aggregate"]["id"] for event in seen}
    assert {event["aggregate"]["resourceOwner"] for event in seen} == {own.id}
    assert await found(caller, OWN, aggregateId=theirs) == []
    assert await found(caller, OWN, resourceOwner=other.id) == []
    refused(await caller.post(ALL, {}), 403, 7)
    refused(await caller.post(OWN, {}, x_idp_orgid=other.id), 403, 7)


async def test_nobody_of_another_organization_is_named(server, visitor, owner):
    own = await new_organization(server, "own.example")
    caller = await new_caller(server, visitor, own, "ORG_OWNER")
    id, _ = await new_project(owner, x_idp_orgid=own.id)
    (event,) = await found(caller, OWN, aggregateId=id)

    assert set(event["editor"]) == {"userId"}


async def test_events_come_as_lines_on_request(server, owner, monkeypatch):
    monkeypatch.setattr(instance_events, "MAX_EXPORTED", 5)
    for _ in range(7):
        await new_project(owner)
    page = await owner.post(ALL, {"limit": 2}, Accept=LINES)
    newest = await found(owner, limit=5)

    assert page.headers["Content-Type"] == LINES
    assert [msgspec.json.decode(line) for line in page.text.splitlines()] == newest


async def test_every_type_is_described_in_words(owner):
    page = await owner.post("/admin/v1/events/types/_search", {})
    told = {each["type"]: each["localized"] for each in page.json()["eventTypes"]}

    assert set(told) == set(event_types.TYPES)
    assert told["user.email_changed"]["localizedMessage"] == "User: email changed"


async def test_a_search_changes_nothing(server, owner):
    before = await everything(server.store)
    await found(owner)

    assert await everything(server.store) == before


async def test_a_range_that_holds_nothing_finds_nothing(server, owner):
    ahead = instant_text(server.clock.now() + timedelta(days=1))

    assert await found(owner, range={"since": ahead}) == []
    assert await found(owner, range={"since": ahead, "until": "2020-01-01T00:00:00Z"}) == []


async def test_what_hangs_on_a_user_or_an_application_belongs_to_their_organization(
    server, visitor, owner
):
    own = await new_organization(server, "own.example")
    caller = await new_caller(server, visitor, own, "ORG_OWNER")
    body = {"userName": "nightly", "name": "Nightly"}
    user = (await caller.post("/management/v1/users/machine", body)).json()["userId"]
    path = f"/management/v1/users/{user}"
    pat = (await caller.post(f"{path}/pats", {})).json()["tokenId"]
    key = (await caller.post(f"{path}/keys", {})).json()["keyId"]
    for value in ("QQ==", "Qg=="):
        await caller.post(f"{path}/metadata/team", {"value": value})
    for gone in (f"{path}/pats/{pat}", f"{path}/keys/{key}", f"{path}/metadata/team"):
        assert (await caller.request("DELETE", gone, None)).status == 200

    told = {event["type"]["type"] for event in await found(caller, OWN)}
    assert told >= {
        *("pat.created", "pat.deleted", "user_key.created", "user_key.deleted"),
        *("user_metadata.created", "user_metadata.changed", "user_metadata.deleted"),
    }


async def test_what_goes_with_a_user_or_an_application_went_in_their_organization(
    server, visitor, owner
):
    own = await new_organization(server, "own.example")
    caller = await new_caller(server, visitor, own, "ORG_OWNER")
    body = {"userName": "nightly", "name": "Nightly"}
    user = (await caller.post("/management/v1/users/machine", body)).json()["userId"]
    project, _ = await new_project(caller)
    apps = f"/management/v1/projects/{project}/apps"
    app = (await caller.post(f"{apps}/oidc", {"name": "A"})).json()["appId"]
    await caller.post(f"/management/v1/users/{user}/metadata/team", {"value": "QQ=="})
    for path in (f"/management/v1/users/{user}", f"{apps}/{app}"):
        await caller.post(f"{path}/keys", {})
    for gone in (f"/v2/users/{user}", f"{apps}/{app}"):
        assert (await caller.request("DELETE", gone, None)).status == 200

    told = {event["type"]["type"] for event in await found(caller, OWN)}
    assert told >= {"user_metadata.deleted", "user_key.deleted", "app_key.deleted"}


async def note_refusals(server):
    """A wrong password of the demo user, twice, and one of a name that nobody has."""
    service = server.service
    (user,) = (await server.store.find(USERS, {"login_key": "demo"})).records
    for _ in range(2):
        failure_events.sign_in(service, user.id, "wrong", "192.0.2.7", "shop")
    failure_events.unknown_name_sign_in(service, "a digest", "192.0.2.8")
    await failure_events.flush(service)
    server.clock.advance(600)
    await failure_events.flush(service)
    return user


@pytest.mark.promise("credentials: events")
async def test_a_refused_sign_in_is_readable_with_cause_count_network_client_and_login_name(
    server, owner
):
    user = await note_refusals(server)
    event, _ = await found(owner, eventTypes=["user.sign_in.failed"])
    (of_nobody,) = await found(owner, eventTypes=["instance.sign_in.failed"])

    assert event["type"]["localized"]["localizedMessage"] == "A sign-in of this user was refused."
    assert event["aggregate"]["loginName"] == user.user_name
    begin = "Cause: wrong password or code; Count: 1; Network: 192.0.2.7; Client: shop; Until: "
    assert event["summary"].startswith(begin)
    assert of_nobody["summary"] == "Count: 1; Usernames: 1; Networks: 1"


async def test_changes_have_no_summary(owner):
    id, _ = await new_project(owner)
    (event,) = await found(owner, aggregateId=id)

    assert "summary" not in event


def test_every_failure_event_has_a_sentence_and_every_cause_a_text():
    payload = {"cause": "?"}
    causes = set(get_args(guess_reports.Cause)) - {"accepted"}
    texts = {event_details.summary("user.sign_in.failed", {"cause": one}) for one in causes}

    assert set(event_details.SENTENCES) == {
        *(failure_events.SIGN_IN, failure_events.UNKNOWN_NAME_SIGN_IN, failure_events.NETWORK),
        *(failure_events.CLIENT, failure_events.IMPERSONATION),
    }
    assert len(texts) == len(causes)
    assert not any(text == f"Cause: {one}" for text, one in product(texts, causes))
    assert event_details.summary("user.sign_in.failed", payload) == "Cause: ?"
    assert not [told for told in event_types.TYPES.values() if ".failed" in told]
