"""Two imports at once, of packages that share most rows: each record is there once, and each row
is told once, whoever was faster."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from dataclasses import replace

import pytest

from idp.records import (
    ALL,
    DOMAINS,
    EVENTS,
    JOBS,
    ORGANIZATIONS,
    PROJECT_ROLES,
    PROJECTS,
    SCHEMA,
    USER_METADATA,
    USERS,
)
from storage import open_store
from tests.support.random import SeededRandom
from tests.support.store.audit import events_agree
from tests.support.transfer.packaged import done, made, problems

PEOPLE = 24
RIVALS = 4  # people of either package who want the names of the other's
MADE = (ORGANIZATIONS, DOMAINS, USERS, USER_METADATA, PROJECTS, PROJECT_ROLES)


@pytest.fixture(params=["sqlite", "mongodb"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/db.sqlite3"
    return request.getfixturevalue("emptied_mongodb")


@pytest.fixture
def settings(url):
    return {"store": url}


@pytest.fixture
def neighbour(io_loop, server, url):
    """The service of another process: the same store, opened once more."""
    random = SeededRandom(1)
    store = open_store(url, now=server.clock.now, new_id=random.id)
    io_loop.run_sync(lambda: store.open(ALL, SCHEMA))
    yield replace(server.service, store=store, random=random)
    io_loop.run_sync(store.close)


def organization(n, whose):
    """What both packages have, and a few people whose names only one of the two can give out."""
    org = f"org-{n}"
    people = [person(f"u{n}-{i}", f"user-{n}-{i}") for i in range(PEOPLE)]
    people += [person(f"{whose}{n}-{i}", f"rival-{n}-{i}") for i in range(RIVALS)]
    return {
        "orgId": org,
        "org": {"name": f"Org {n}", "primaryDomain": f"{org}.example"},
        "domains": [{"domainName": f"more.{org}.example", "isVerified": True}],
        "humanUsers": people,
        "userMetadata": [{"id": f"u{n}-{i}", "key": "k", "value": "AA=="} for i in range(PEOPLE)],
        "projects": [{"projectId": f"p{n}", "project": {"name": "P"}}],
        "projectRoles": [{"projectId": f"p{n}", "roleKey": key} for key in "abc"],
    }


def person(id, name):
    profile = {"firstName": "A", "lastName": "B"}
    email = {"email": f"{name}@people.example", "isEmailVerified": True}
    return {"userId": id, "user": {"userName": name, "profile": profile, "email": email}}


def turned(org):
    """The same rows from behind."""
    return {name: rows[::-1] if isinstance(rows, list) else rows for name, rows in org.items()}


@pytest.mark.full
@pytest.mark.promise("import: jobs")
@pytest.mark.parametrize("rounds", [3, pytest.param(32, marks=pytest.mark.load)])
async def test_two_imports_at_once_store_and_report_each_row_once(server, neighbour, rounds):
    shares = Counter()
    for n in range(rounds):
        mine, other = organization(n, "mine"), turned(organization(n, "other"))
        both = threading.Barrier(2)
        first, second = await asyncio.gather(
            done(server.service, mine, size=1 + n % 9, beside=both),
            done(neighbour, other, size=1 + n * 5 % 7, beside=both),
        )
        await each_row_is_told_once(server, first, second)
        shares.update(first=first.created, second=second.created)
    assert min(shares.values()) > 0  # they did meet
    await each_record_was_made_once(server, rounds)
    await events_agree(server.store)


async def each_row_is_told_once(server, first, second):
    created = [*await made(server.service, first), *await made(server.service, second)]
    refused = [one for job in (first, second) for one in await problems(server.service, job)]
    shared = 1 + 1 + PEOPLE + PEOPLE + 1 + 3
    assert {(one.type, one.error_code) for one in refused} == {
        ("human_user", "user.login_name_taken")
    }
    assert max(Counter(map(repr, created)).values()) == 1
    assert len(created) == shared + RIVALS
    for job in (first, second):
        assert job.total == job.position == shared + RIVALS
        assert job.created + job.skipped + job.failed == job.total
    assert first.created + second.created == shared + RIVALS
    assert first.skipped + second.skipped == shared
    assert first.failed + second.failed == len(refused) == RIVALS


async def each_record_was_made_once(server, rounds):
    events = [each async for each in server.store.scan(EVENTS) if each.collection != JOBS.name]
    births = Counter(
        (each.collection, each.record_id) for each in events if dict(each.payload).get("import")
    )
    found = {
        (collection.name, each.id)
        for collection in MADE
        async for each in server.store.scan(collection)
    }
    assert set(births.values()) == {1}
    assert births.keys() <= found
    users = [each async for each in server.store.scan(USERS) if each.org_id.startswith("org-")]
    assert len(users) == rounds * (PEOPLE + RIVALS)
    assert len({each.login_key for each in users}) == len(users)
    assert {each.sequence for each in users} == {1}
