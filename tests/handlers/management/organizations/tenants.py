"""Two organizations, and what the one asserts of addresses and names.

The chief of Evil calls an address verified that is Vera's, for a user of their own, Mallory. The
application `shop` belongs to Corp, whose chief is `boss`, and `own` to Evil.

Fixtures::

    settings    each store
    place       all of them
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import pytest

from idp.background import deferred_work
from idp.foundation.base64url import decode
from idp.records import APPLICATIONS, USERS
from storage import Update
from tests.handlers.management.organizations.naming import Zone
from tests.support.management.callers import (
    Caller,
    instance_owner,
    new_caller,
    new_organization,
)
from tests.support.protocol.relying_party import RelyingParty
from tests.support.sign_in.people import PASSWORD, create
from tests.support.sign_in.registering import registered
from tests.support.transfer.bulk import IMPORT

VERA, HERS = "vera@mail.example", "a quiet harbour at noon"
NUMBER = "+41791234567"
FOREIGN = {"username": "user.name.foreign_domain"}
ORG_SCOPE = "urn:idp:iam:org:id:"


@pytest.fixture(params=["sqlite", "mongodb"])
def settings(request, tmp_path):
    if request.param == "sqlite":
        return {"store": f"sqlite:///{tmp_path}/db.sqlite3"}
    return {"store": request.getfixturevalue("emptied_mongodb")}


@dataclass
class Place:
    server: object
    new_visitor: object
    owner: Caller
    chief: Caller
    boss: Caller
    evil: object
    corp: object
    shop: RelyingParty
    own: RelyingParty
    zone: Zone

    async def mallory(self, **changes):
        """A user of Evil, of whom its chief asserts Vera's address and a number."""
        email = {"email": VERA, "isVerified": True}
        phone = {"phone": NUMBER, "isVerified": True}
        password = {"password": PASSWORD}
        told = {"username": "mallory", "email": email, "phone": phone, "password": password}
        return (await create(self.chief, **(told | changes)))["userId"]

    async def vera(self):
        """Vera herself, who has opened an account by a code from her mailbox."""
        page = await registered(
            self.new_visitor(), self.shop, email=VERA, userName="vera", newPassword=HERS
        )
        assert "code" in page.answer, page.text
        found = await self.server.store.find(USERS, {"login_key": "vera"})
        return found.records[0].id

    async def signed_in(self, party, name="mallory", password=PASSWORD, **changes):
        """The tokens of a sign-in."""
        told = {"scope": "openid profile email phone offline_access"} | changes
        return await party.tokens(self.new_visitor(), name, password, **told)

    async def who(self, party, name, password=PASSWORD, **changes):
        """Who signs in by a name; None where nobody does."""
        url = party.authorize_url(**changes)
        page = await self.new_visitor().sign_in(url, name, password)
        if not page.answer:
            return None
        tokens = (await party.redeem(self.new_visitor(), page.answer["code"])).json()
        return (await party.userinfo(self.new_visitor(), tokens["access_token"])).json()["sub"]

    async def userinfo(self, party, tokens):
        return (await party.userinfo(self.new_visitor(), tokens["access_token"])).json()

    async def introspected(self, party, token):
        page = await self.new_visitor().post(
            "/oauth/v2/introspect", {"token": token}, headers=party.basic()
        )
        return page.json()

    async def user(self, id):
        return await self.server.store.get(USERS, id)

    async def options(self, party, **changes):
        await self.server.store.commit(Update(APPLICATIONS, party.client_id, set=changes))

    async def tidied(self):
        await deferred_work.process_due(self.server.service)


@pytest.fixture
def place(io_loop, server, new_visitor):
    async def make():
        evil = await new_organization(server, "evil.example")
        corp = await new_organization(server, "corp.example")
        visitor = new_visitor()
        return Place(
            server=server,
            new_visitor=new_visitor,
            owner=await instance_owner(server, visitor),
            chief=await new_caller(server, visitor, evil, "ORG_OWNER"),
            boss=await new_caller(server, visitor, corp, "ORG_OWNER"),
            evil=evil,
            corp=corp,
            shop=await server.register("Shop", org_id=corp.id),
            own=await server.register("Own", org_id=evil.id),
            zone=Zone(server),
        )

    return io_loop.run_sync(make)


def claims_of(token):
    return msgspec.json.decode(decode(token.split(".")[1]))


def claims_parameter(part):
    claims = {part: {"email_verified": None, "phone_number_verified": None}}
    return msgspec.json.encode(claims).decode()


async def import_users(place, org_id, *rows):
    document = {"dataOrgs": {"orgs": [{"orgId": org_id, "humanUsers": list(rows)}]}}
    page = await place.owner.post(IMPORT, document)
    assert page.status == 200, page.text
    return page.json()
