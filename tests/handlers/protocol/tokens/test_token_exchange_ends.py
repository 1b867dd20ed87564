"""Token exchange: what came of it dies with anything that it came of, and does not come back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.records import (
    APPLICATIONS,
    AUTHORIZATIONS,
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    PATS,
    REVOKED_TOKENS,
    USERS,
)
from storage import Delete, Update
from tests.support.management.callers import new_caller
from tests.support.protocol.exchanging import ACCESS, GRANTS, ID, USER_ID, Broker


class Family:
    """Ann's token, got by one application, exchanged by another in Bob's name."""

    @classmethod
    async def make(cls, broker: Broker) -> Family:
        self = cls()
        self.broker = broker
        self.first = await broker.server.register("First", grant_types=GRANTS)
        self.ann, self.of_ann = await broker.person(party=self.first)
        self.bob, self.of_bob = await broker.person("bob", "IAM_END_USER_IMPERSONATOR")
        self.result = await broker.by(self.of_bob, self.of_ann["access_token"], ACCESS)
        return self

    async def stands(self) -> bool:
        """Whether the new tokens count, and are refreshed; both or neither."""
        opaque = await self.broker.is_active(self.result["access_token"])
        page = await self.broker.party.refresh(self.broker.visitor, self.result["refresh_token"])
        if page.status == 200:
            self.result = page.json()
        assert opaque == (page.status == 200)
        return opaque

    async def change(self, collection, id, **changes) -> None:
        await self.broker.server.store.commit(Update(collection, id, set=changes))

    async def revoke(self, token: str, party) -> None:
        visitor, headers = self.broker.visitor, party.basic()
        await visitor.post("/oauth/v2/revoke", {"token": token}, headers=headers)


@pytest.fixture
def family(io_loop, broker) -> Family:
    return io_loop.run_sync(lambda: Family.make(broker))


async def give_back_anns_token(f):
    await f.revoke(f.of_ann["access_token"], f.first)


async def give_back_bobs_token(f):
    await f.revoke(f.of_bob["access_token"], f.broker.party)


async def give_back_anns_family(f):
    await f.revoke(f.of_ann["refresh_token"], f.first)


async def give_back_bobs_family(f):
    await f.revoke(f.of_bob["refresh_token"], f.broker.party)


async def give_back_the_result(f):
    await f.revoke(f.result["refresh_token"], f.broker.party)


async def end_anns_session(f):
    await f.broker.log_out(f.of_ann)


async def end_bobs_session(f):
    await f.broker.log_out(f.of_bob)


async def lock_ann(f):
    await f.change(USERS, f.ann, state="locked")


async def lock_bob(f):
    await f.change(USERS, f.bob, state="locked")


async def new_password_of_ann(f):
    await f.change(USERS, f.ann, stamp="other")


async def new_password_of_bob(f):
    await f.change(USERS, f.bob, stamp="other")


async def delete_bob(f):
    await f.broker.server.store.commit(Delete(USERS, f.bob))


async def deactivate_the_client(f):
    await f.change(APPLICATIONS, f.broker.party.client_id, state="inactive")


async def deactivate_the_first_client(f):
    await f.change(APPLICATIONS, f.first.client_id, state="inactive")


async def new_stamp_of_the_first_client(f):
    await f.change(APPLICATIONS, f.first.client_id, stamp="other")


async def deactivate_the_organization(f):
    user = await f.broker.server.store.get(USERS, f.ann)
    await f.change(ORGANIZATIONS, user.org_id, state="inactive")


async def new_stamp_of_the_instance(f):
    await f.change(INSTANCES, INSTANCE_ID, stamp="other")


async def forget_anns_grant(f):
    (id,) = [
        one.id
        async for one in f.broker.server.store.scan(AUTHORIZATIONS)
        if one.client_id == f.first.client_id
    ]
    await f.broker.server.store.commit(Delete(AUTHORIZATIONS, id))


ENDS = [
    give_back_anns_token,
    give_back_bobs_token,
    give_back_anns_family,
    give_back_bobs_family,
    give_back_the_result,
    end_anns_session,
    end_bobs_session,
    lock_ann,
    lock_bob,
    new_password_of_ann,
    new_password_of_bob,
    delete_bob,
    deactivate_the_first_client,
    new_stamp_of_the_first_client,
    deactivate_the_organization,
    new_stamp_of_the_instance,
    forget_anns_grant,
]


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
async def test_it_ends_with_anything_that_it_came_of(family, end):
    assert await family.stands()
    assert await family.stands()

    await end(family)

    assert not await family.stands()


@pytest.mark.parametrize("end", [give_back_anns_token, end_bobs_session, lock_bob])
async def test_what_came_of_that_ends_too(family, end):
    again = await family.broker.granted(family.result["access_token"])
    assert await family.broker.is_active(again["access_token"])

    await end(family)

    assert not await family.broker.is_active(again["access_token"])


async def test_it_ends_with_its_client(server, family):
    sibling = await server.register("Sibling")
    token = family.result["access_token"]
    assert (await family.broker.introspect(token, sibling))["active"]

    await deactivate_the_client(family)

    assert not (await family.broker.introspect(token, sibling))["active"]


async def test_it_ends_without_harm_to_what_it_came_of(family):
    await give_back_the_result(family)

    assert await family.broker.is_active(family.of_ann["access_token"])
    assert await family.broker.is_active(family.of_bob["access_token"])


async def test_the_end_of_a_revoked_token_revives_nothing(server, family):
    """Nor of what was exchanged without an actor, whose refresh tokens count for months."""
    family.result = await family.broker.granted(family.of_ann["access_token"])
    assert "refresh_token" in family.result
    await give_back_anns_token(family)
    for _ in range(10):
        server.clock.advance(9 * 86_400)

        assert not await family.stands()


async def test_a_token_that_was_given_back_is_forgotten_when_nothing_can_come_of_it(
    server, family
):
    await give_back_anns_token(family)
    server.clock.advance(90 * 86_400 + 43_200)
    kept = [one async for one in server.store.scan(REVOKED_TOKENS)]
    server.clock.advance(86_400)

    assert len(kept) == 1
    assert not [one async for one in server.store.scan(REVOKED_TOKENS)]


@pytest.mark.parametrize("place", ["subject", "actor"])
async def test_it_ends_with_a_personal_token(server, visitor, broker, place):
    ann, _ = await broker.person()
    home = await server.store.get(ORGANIZATIONS, (await server.store.get(USERS, ann)).org_id)
    role = "IAM_END_USER_IMPERSONATOR"
    script = await new_caller(server, visitor, home, role, everywhere=True)
    if place == "subject":
        body = await broker.granted(script.token)
    else:
        form = {"actor_token": script.token, "actor_token_type": ACCESS}
        body = await broker.granted(ann, USER_ID, **form)
    before = await broker.is_active(body["access_token"])
    page = await server.store.find(PATS, {"user_id": script.user_id})
    await server.store.commit(Delete(PATS, page.records[0].id))

    assert before
    assert not await broker.is_active(body["access_token"])


async def test_it_lasts_no_longer_than_a_personal_token(server, visitor, broker):
    ann, _ = await broker.person()
    home = await server.store.get(ORGANIZATIONS, (await server.store.get(USERS, ann)).org_id)
    script = await new_caller(server, visitor, home)
    server.clock.advance(86_400 - 600)
    body = await broker.granted(script.token)

    assert body["expires_in"] == 600


async def test_of_an_id_token_it_ends_with_the_session(server, broker):
    _, tokens = await broker.person()
    body = await broker.granted(tokens["id_token"], ID, scope="openid")
    before = await broker.is_active(body["access_token"])
    await broker.log_out(tokens)

    assert before
    assert not await broker.is_active(body["access_token"])


async def test_a_token_refreshed_after_the_logout_may_be_exchanged(server, broker):
    _, tokens = await broker.person()
    await broker.log_out(tokens)
    fresh = (await broker.party.refresh(broker.visitor, tokens["refresh_token"])).json()
    body = await broker.granted(fresh["access_token"])
    server.clock.advance(timedelta(hours=1).total_seconds())

    assert await broker.is_active(body["access_token"])
