"""Three members lose their majority while something is written and repeated: nothing that was
acknowledged is missing afterwards, and nobody's tokens are revoked."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from tests.support import patience
from tests.support.management.callers import instance_owner
from tests.support.servers.mongod import fresh_database, replica_set
from tests.support.sign_in.registering import FIELDS, at_code, code_for
from tests.support.transfer.bulk import IMPORT, package

EVENTS = ("secondaries", "write", "repeat", "primary", "members")


def is_possible(order):
    """The secondaries are lost before the write, which comes before it is repeated."""
    return order.index("secondaries") < order.index("write") < order.index("repeat")


ORDERS = list(filter(is_possible, itertools.permutations(EVENTS)))

pytestmark = pytest.mark.load


@pytest.fixture(scope="module")
def trio():
    """Three members, of which a primary without a majority keeps its role for ten seconds."""
    with replica_set(3) as members:
        yield members


@pytest.fixture
def settings(trio):
    trio.mend()
    with fresh_database(trio.url) as url:
        yield {"store": url}


class Creation:
    """A call with an Idempotency-Key."""

    def __init__(self, owner, name):
        self.owner, self.name, self.answer = owner, name, None

    async def attempt(self):
        page = await self.owner.post(
            "/management/v1/projects", {"name": self.name}, Idempotency_Key=self.name
        )
        if page.status == 200:
            assert self.answer in (None, page.json()["id"])
            self.answer = page.json()["id"]
        return page.status

    async def check(self):
        page = await self.owner.get(f"/management/v1/projects/{self.answer}")
        assert page.status == 200


class Refresh:
    def __init__(self, party, visitor, tokens):
        self.party, self.visitor, self.token = party, visitor, tokens["refresh_token"]

    async def attempt(self):
        page = await self.party.refresh(self.visitor, self.token)
        if page.status == 200:
            self.token = page.json()["refresh_token"]
        return page.status

    async def check(self):
        assert await self.attempt() == 200


class Redemption:
    def __init__(self, party, visitor, code):
        self.party, self.visitor, self.code, self.tokens = party, visitor, code, None

    async def attempt(self):
        if self.tokens:  # a code is used once
            return 200
        page = await self.party.redeem(self.visitor, self.code)
        if page.status == 200:
            self.tokens = page.json()
        return page.status

    async def check(self):
        page = await self.party.userinfo(self.visitor, self.tokens["access_token"])
        assert page.status == 200
        page = await self.party.refresh(self.visitor, self.tokens["refresh_token"])
        assert page.status == 200


class Registration:
    """The form with the code of the mail, which opens the account."""

    def __init__(self, party, visitor, page, code, fields):
        self.party, self.visitor, self.page = party, visitor, page
        self.code, self.fields, self.is_done = code, fields, False

    async def attempt(self):
        if self.is_done:
            return 200
        page = await self.visitor.submit(self.page, code=self.code)
        self.is_done = "code" in page.answer
        return 200 if self.is_done else page.status

    async def check(self):
        name, password = self.fields["email"], self.fields["newPassword"]
        url = self.party.authorize_url(prompt="login")
        assert "code" in (await self.visitor.sign_in(url, name, password)).answer


class Import:
    def __init__(self, owner, name):
        self.owner, self.name = owner, name
        person = {
            "userName": name,
            "profile": {"firstName": "Mini", "lastName": "Mouse"},
            "email": {"email": f"{name}@mouse.example", "isEmailVerified": True},
        }
        user = {"userId": f"{name}-user", "user": person}
        self.package = package({"orgId": name, "org": {"name": name}, "humanUsers": [user]})

    async def attempt(self):
        # It has no deadline of 8 s; its client has.
        try:
            page = await asyncio.wait_for(self.owner.post(IMPORT, self.package), 8)
        except TimeoutError:
            return 503
        assert page.status != 200 or not page.json().get("errors"), page.text
        return page.status

    async def check(self):
        page = await self.owner.get(f"/v2/users/{self.name}-user")
        assert page.status == 200


@pytest.fixture
def writers(server, visitor, new_visitor, demo):
    """What is written in each order, each with a name of its own."""

    async def make(name):
        owner = await instance_owner(server, visitor)
        visitors = [new_visitor() for _ in range(3)]
        for each in (visitor, *visitors):
            each.may_fail = True
        tokens = await demo.tokens(visitors[0], *server.user)
        page = await demo.sign_in(visitors[1], *server.user)
        fields = FIELDS | {"email": f"{name}@example.org"}
        form = await at_code(visitors[2], demo, **fields)
        code = await code_for(visitors[2], fields["email"])
        return [
            Creation(owner, name),
            Refresh(demo, visitors[0], tokens),
            Redemption(demo, visitors[1], page.answer["code"]),
            Registration(demo, visitors[2], form, code, fields),
            Import(owner, name),
        ]

    return make


async def attempts(writers):
    """All at once, as requests of different people come."""
    statuses = await asyncio.gather(*(writer.attempt() for writer in writers))
    assert set(statuses) <= {200, 503}, statuses


@pytest.mark.promise("faults: majority")
@pytest.mark.every_row
@pytest.mark.parametrize("order", ORDERS, ids="-".join)
async def test_nothing_acknowledged_is_missing_and_nobody_is_signed_out(
    trio, server, writers, order
):
    # In this thread, with which the servers that it starts would end.
    written = await writers(f"order-{ORDERS.index(order)}")
    first = trio.primary()
    for event in order:
        if event in ("write", "repeat"):
            await attempts(written)
        elif event == "members":
            trio.mend()
        elif event == "primary":
            first.kill()
        else:
            for member in trio.members:
                if member is not first:
                    member.kill()
    trio.mend()

    for writer in written:
        await patience.until(lambda writer=writer: is_acknowledged(writer), type(writer).__name__)
        await writer.check()


async def is_acknowledged(writer):
    status = await writer.attempt()
    assert status in (200, 503), status
    return status == 200
