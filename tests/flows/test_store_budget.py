"""How many commands the store gets for each request, and how many of them wait for one another.

The test fails at one command more. A change that needs fewer lowers the numbers here, and those
of docs/how-to/scaling.md. On SQLite a command is a statement, and each waits for the one before.
"""

from __future__ import annotations

import pytest

from idp.background import schedule
from idp.foundation import ttl_cache
from idp.keys import key_ring
from idp.records import ORGANIZATIONS, USERS
from storage.mongo import driver
from tests.support.management.callers import instance_owner
from tests.support.servers.store_commands import (
    Counted,
    MongoCommands,
    SqliteCommands,
    slowed,
)

# For each request the number of commands, and how many of them follow one another.
BUDGET = {
    "mongodb": {
        "authorize": (1, 1),
        "page of the name": (1, 1),
        "answer to it": (2, 2),
        "page of the password": (1, 1),
        "password step": (11, 10),
        "code for tokens": (2, 2),
        "whole sign-in": (18, 17),
        "refresh": (2, 2),
        "userinfo": (1, 1),
        "introspection": (1, 1),
        "client credentials": (1, 1),
        "create user": (8, 8),
        "look at the tasks": (2, 2),
    },
    "sqlite": {
        "authorize": (1, 1),
        "page of the name": (1, 1),
        "answer to it": (3, 3),
        "page of the password": (1, 1),
        # One reads the rate before it is deleted: others may have counted.
        "password step": (24, 24),
        "code for tokens": (4, 4),
        "whole sign-in": (34, 34),
        "refresh": (4, 4),
        "userinfo": (1, 1),
        "introspection": (1, 1),
        "client credentials": (2, 2),
        "create user": (22, 22),
        "look at the tasks": (2, 2),
    },
}
PERSON = {
    "profile": {"givenName": "Ada", "familyName": "Lovelace"},
    "email": {"email": "ada@corp.example", "isVerified": True},
    "password": {"password": "correct horse battery staple 1"},
}


class Meter:
    """What the store got for each request, by the request's name."""

    def __init__(self, server, commands) -> None:
        self._tasks = server.service.background_tasks
        self._commands = commands
        self.found = {}

    async def of(self, name, request):
        """The answer of a request. All its commands are counted, with those of the tasks that it
        leaves; in sequence are those that its client waits for."""
        self._commands.taken()
        answer = await request
        awaited = self._commands.taken()
        await self._tasks.finished()
        left = self._commands.taken()
        self.found[name] = Counted(awaited.commands + left.commands, awaited.sequence)
        return answer


@pytest.fixture(autouse=True)
def warm(monkeypatch):
    """A process that has read keys and settings of pages just now, on a slow machine, too."""
    monkeypatch.setattr(key_ring, "CACHE_SECONDS", 3600.0)
    monkeypatch.setattr(ttl_cache, "MAX_AGE_SECONDS", 3600.0)


@pytest.fixture
def settings(request, io_loop, tmp_path, monkeypatch):
    """A store of each kind, and what counts its commands."""
    if request.param == "sqlite":
        request.node.commands = SqliteCommands()
        yield {"store": f"sqlite:///{tmp_path}/db.sqlite3"}
        return
    request.node.commands = commands = MongoCommands()
    monkeypatch.setattr(driver, "_OPTIONS", {**driver._OPTIONS, "event_listeners": [commands]})
    running = slowed(request.getfixturevalue("emptied_mongodb"), commands)
    yield {"store": io_loop.run_sync(running.__aenter__)}
    io_loop.run_sync(lambda: running.__aexit__(None, None, None))


@pytest.fixture
def meter(request, server):
    commands = request.node.commands
    commands.watch(server.store)
    yield Meter(server, commands)
    commands.stop()


async def with_domain(server):
    """The demo user's login name in the longer form, which takes more look-ups, and password."""
    name, password = server.user
    user = (await server.store.find(USERS, {"login_key": name})).records[0]
    organization = await server.store.get(ORGANIZATIONS, user.org_id)
    return f"{name}@{organization.primary_domain}", password


async def sign_in(meter, visitor, demo, user):
    """A whole sign-in in a new browser, page by page; the token response."""
    page = await meter.of("authorize", visitor.get(demo.authorize_url()))
    page = await meter.of("page of the name", visitor.follow(page))
    answer = await meter.of("answer to it", visitor.send(page, loginName=user[0]))
    page = await meter.of("page of the password", visitor.follow(answer))
    # As a browser sends it: with the login name, which is shown beside the password.
    form = {**page.inputs, "password": user[1]}
    answer = await meter.of("password step", visitor.submit(page, **form))
    redeemed = await meter.of("code for tokens", demo.redeem(visitor, answer.answer["code"]))
    meter.found["whole sign-in"] = tuple(map(sum, zip(*meter.found.values(), strict=True)))
    return redeemed.json()


async def call_endpoints(meter, server, visitor, demo, tokens):
    """What applications ask for, with the tokens of a sign-in; a token response with new ones."""
    refreshed = await meter.of("refresh", demo.refresh(visitor, tokens["refresh_token"]))
    access = refreshed.json()["access_token"]
    await meter.of("userinfo", demo.userinfo(visitor, access))
    asked = visitor.post("/oauth/v2/introspect", {"token": access}, headers=demo.basic())
    await meter.of("introspection", asked)
    return refreshed.json()


async def create_user(meter, owner, name):
    email = {"email": f"{name}@corp.example", "isVerified": True}
    body = {**PERSON, "username": name, "email": email}
    made = owner.post("/v2/users/human", body, Idempotency_Key=name)
    assert (await meter.of("create user", made)).status == 200


async def measure(meter, server, new_visitor, demo):
    """Every request of the table twice: the first time, caches of the process are filled."""
    owner = await instance_owner(server, new_visitor())
    machine = await server.register(grant_types=["client_credentials"])
    form = {"grant_type": "client_credentials", "scope": "openid"}
    user = await with_domain(server)
    for _ in "first", "measured":
        meter.found.clear()
        visitor = new_visitor()
        tokens = await sign_in(meter, visitor, demo, user)
    for name in "first", "measured":
        tokens = await call_endpoints(meter, server, visitor, demo, tokens)
        await meter.of("client credentials", machine.token(visitor, form))
        await create_user(meter, owner, name)
        await look_at_tasks(server.service)  # does what is due
        server.clock.advance(schedule.POLL_SECONDS)
        await meter.of("look at the tasks", look_at_tasks(server.service))


async def look_at_tasks(service):
    """What each process does again and again while nothing is due."""
    due = await schedule.due(service)
    everyones = {name: None for name, job in schedule.JOBS.items() if job.runs_in_each_process}
    for name, lease in {**due, **everyones}.items():
        await schedule.take_turn_after(service, name, schedule.JOBS[name], lease)


@pytest.mark.full
@pytest.mark.parametrize("settings", list(BUDGET), indirect=True)
async def test_no_request_needs_more_commands_than_its_budget(
    meter, server, new_visitor, demo, request
):
    budget = BUDGET[request.node.callspec.params["settings"]]

    await measure(meter, server, new_visitor, demo)

    print(*meter.found.items(), sep="\n")
    assert meter.found.keys() == budget.keys()
    assert {name: row for name, row in meter.found.items() if is_over(row, budget[name])} == {}


def is_over(row, budget):
    return any(found > most for found, most in zip(row, budget, strict=True))
