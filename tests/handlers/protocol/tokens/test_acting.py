"""Acting for somebody: it is judged at every use, ends at once and for good, and is short."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from idp.records import AUTHORIZATIONS, INSTANCE_ID, INSTANCES
from storage import Update
from tests.support.attacks.forged import part
from tests.support.management.callers import new_caller, new_organization
from tests.support.measured.logged import log_fixture  # noqa: F401 - a fixture
from tests.support.protocol.acting import (
    ENDS,
    MANAGING,
    Acting,
    forget_the_role,
    switch_the_policy,
    withdraw_the_role,
)
from tests.support.protocol.exchanging import ACCESS, JWT, USER_ID, Broker
from tests.support.store.stored import everything, refusals

HOUR = 3600


@pytest.fixture
def acting(io_loop, server, new_visitor) -> Acting:
    return io_loop.run_sync(lambda: Acting.make(server, new_visitor))


@pytest.mark.promise("acting: every use")
@pytest.mark.parametrize("end", [*ENDS.values(), forget_the_role], ids=[*ENDS, "forgotten"])
async def test_what_ends_it_counts_at_the_next_request(acting, end):
    await acting.assert_acts()

    await end(acting)

    await acting.assert_ended()


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
async def test_what_is_refused_writes_nothing(server, acting, end):
    await end(acting)
    before = await everything(server.store)

    await acting.assert_ended()

    assert await everything(server.store) == before


@pytest.mark.promise("acting: policy")
async def test_a_policy_that_is_switched_off_ends_it_for_good(acting):
    await switch_the_policy(acting, is_on=False)
    await switch_the_policy(acting, is_on=True)

    await acting.assert_ended()
    acting.body = await acting.broker.by(acting.of_bob, acting.ann)
    await acting.assert_acts()


async def test_a_policy_that_stays_on_ends_nothing(acting):
    await switch_the_policy(acting, is_on=True)

    await acting.assert_acts()


async def test_a_role_that_is_given_back_counts_again(acting):
    await withdraw_the_role(acting)
    await acting.assert_ended()
    body = {"userId": acting.bob, "roles": ["IAM_END_USER_IMPERSONATOR"]}
    await acting.owner.post("/admin/v1/members", body)

    await acting.assert_acts()


@pytest.mark.promise("acting: every use")
async def test_everybody_in_the_chain_has_to_keep_the_role(acting):
    carl, of_carl = await acting.broker.person("carl", "IAM_ADMIN_IMPERSONATOR", scope=MANAGING)
    body = await acting.broker.by(of_carl, acting.body["access_token"], ACCESS)
    told = await acting.broker.introspect(body["access_token"])
    await withdraw_the_role(acting)

    assert (told["act"]["sub"], told["act"]["act"]["sub"]) == (carl, acting.bob)
    await acting.assert_ended(body)


async def test_a_role_in_the_subjects_organization_is_enough_and_one_elsewhere_is_not(
    server, visitor, new_visitor
):
    broker = await Broker.make(server, visitor, new_visitor, has_management_access=True)
    ann, _ = await broker.person()
    home, elsewhere = await broker.home(), await new_organization(server, "elsewhere.example")
    stranger = (await new_caller(server, visitor, elsewhere)).user_id
    actor = await new_caller(server, visitor, home, "ORG_END_USER_IMPERSONATOR")
    form = {"actor_token": actor.token, "actor_token_type": ACCESS}
    body = await broker.granted(ann, USER_ID, **form)
    page = await broker.exchange(stranger, USER_ID, **form)

    assert await broker.is_active(body["access_token"])
    assert (page.status, page.json()["error"]) == (403, "invalid_request")


async def test_others_go_on_when_somebody_may_not_act_any_more(acting):
    await switch_the_policy(acting, is_on=False)

    assert await acting.broker.is_active(acting.of_bob["access_token"])
    body = await acting.broker.granted(acting.of_bob["access_token"])
    assert await acting.broker.is_active(body["access_token"])


async def test_only_a_token_with_an_actor_is_checked_by_roles(server, acting, monkeypatch):
    store, listed, read = type(server.store), [], []
    find, get_many = store.find, store.get_many

    async def noting_find(self, collection, *args, **kwargs):
        listed.append(collection.name)
        return await find(self, collection, *args, **kwargs)

    async def noting_get_many(self, keys):
        read.append([collection.name for collection, _ in keys])
        return await get_many(self, keys)

    monkeypatch.setattr(store, "find", noting_find)
    monkeypatch.setattr(store, "get_many", noting_get_many)
    for token, lists in ((acting.of_bob, []), (acting.body, ["memberships"])):
        listed.clear()
        read.clear()
        assert await acting.broker.is_active(token["access_token"])
        assert listed == lists
        assert len(read) == 1
        assert ("memberships" in read[0]) == bool(lists)


async def test_a_refusal_says_why_to_the_administrator_and_not_to_the_client(server, acting):
    await withdraw_the_role(acting)
    page = await acting.broker.party.userinfo(acting.broker.visitor, acting.body["access_token"])
    refusal = (await refusals(server.store))[0]

    assert page.status == 401
    assert "role" not in page.text + page.headers["WWW-Authenticate"]
    assert "roles do not allow" in refusal.sentence


async def test_each_refusal_is_logged_with_who_for_whom_and_by_which_client(acting, log):
    await withdraw_the_role(acting)
    await acting.broker.introspect(acting.body["access_token"])
    await acting.broker.exchange(acting.ann, USER_ID, **_by(acting.of_bob))
    lines = [msgspec.json.decode(line) for line in log.getvalue().splitlines()]
    told = [line for line in lines if line["event"] == "impersonation refused"]

    assert len(told) == 2
    for line in told:
        assert line["actor_id"] == acting.bob
        assert line["subject_id"] == acting.ann
        assert line["client_id"] == acting.broker.party.client_id


def _by(actor: dict) -> dict:
    return {"actor_token": actor["access_token"], "actor_token_type": ACCESS}


async def test_an_access_token_lasts_an_hour_at_most(server, acting):
    by_refresh = (await acting.refreshed()).json()

    assert acting.body["expires_in"] == by_refresh["expires_in"] == HOUR
    assert acting.of_bob["expires_in"] > HOUR
    server.clock.advance(HOUR)
    assert not await acting.broker.is_active(acting.body["access_token"])


@pytest.mark.promise("acting: life")
@pytest.mark.parametrize("settings", [{"acting_token_seconds": 90}])
@pytest.mark.parametrize("type", [ACCESS, JWT])
@pytest.mark.parametrize("scope", ["openid", "openid offline_access"])
async def test_the_setting_shortens_it_for_every_type(server, acting, type, scope):
    body = await acting.broker.by(
        acting.of_bob, acting.ann, requested_token_type=type, scope=scope
    )
    alone = await acting.broker.granted(acting.of_bob["access_token"])

    assert body["expires_in"] == 90
    assert alone["expires_in"] > HOUR
    if type == JWT:
        claims = part(body["access_token"], 1)
        assert claims["exp"] - claims["iat"] == 90


@pytest.mark.promise("acting: life")
async def test_the_family_ends_eight_hours_after_the_exchange(server, acting):
    for _ in range(9):
        server.clock.advance(HOUR - 460)
        acting.body = (await acting.refreshed()).json()
    server.clock.advance(8 * HOUR - 9 * (HOUR - 460) - 61)
    acting.body = (await acting.refreshed()).json()
    left = acting.body["expires_in"]
    server.clock.advance(60)
    before = await acting.broker.is_active(acting.body["access_token"])
    server.clock.advance(1)
    page = await acting.refreshed()

    assert left == 61
    assert before
    assert (page.status, page.json()["error"]) == (400, "invalid_grant")
    assert not await acting.broker.is_active(acting.body["access_token"])


@pytest.mark.promise("acting: life")
async def test_an_exchange_of_what_an_actor_got_does_not_prolong_it(server, acting):
    server.clock.advance(7.5 * HOUR)
    acting.of_bob = (await acting.refreshed(acting.of_bob)).json()
    fresh = (await acting.refreshed()).json()
    again = await acting.broker.granted(fresh["access_token"])
    left = again["expires_in"]
    server.clock.advance(0.5 * HOUR)

    assert left == HOUR / 2
    assert not await acting.broker.is_active(again["access_token"])
    page = await acting.refreshed(again)
    assert (page.status, page.json()["error"]) == (400, "invalid_grant")


@pytest.mark.promise("acting: life")
async def test_what_an_older_release_stored_ends_eight_hours_after_the_exchange(server, acting):
    record = await acting.broker.authorization()
    later = record.created_at + timedelta(days=90)
    changes = {
        "expires_at": later,
        "acting_ends_at": None,
        "refresh.expires_at": later,
        "refresh.idle_expires_at": later,
    }
    await server.store.commit(Update(AUTHORIZATIONS, record.id, set=changes))
    server.clock.advance(7.5 * HOUR)
    fresh = (await acting.refreshed()).json()
    left = fresh["expires_in"]
    server.clock.advance(0.5 * HOUR)
    page = await acting.refreshed(fresh)

    assert left == HOUR / 2
    assert (page.status, page.json()["error"]) == (400, "invalid_grant")
    assert "its time is up" in (await refusals(server.store))[0].sentence


async def test_a_token_of_the_release_before_counts_while_nothing_was_switched(server, acting):
    record = await acting.broker.authorization()
    instance = await server.store.get(INSTANCES, INSTANCE_ID)

    assert (record.acting_stamp, instance.acting_stamp) == ("", "")
    await acting.assert_acts()
    await switch_the_policy(acting, is_on=False)
    await switch_the_policy(acting, is_on=True)
    await acting.assert_ended()


async def test_the_token_itself_says_nothing_new(acting):
    body = await acting.broker.by(acting.of_bob, acting.ann, requested_token_type=JWT)
    references = part(body["access_token"], 1)["urn:idp:ref"]

    assert references.keys() <= KNOWN_REFERENCES


KNOWN_REFERENCES = {
    "stamps",
    "authorization",
    "user_org",
    "client_org",
    "session",
    "actor_orgs",
    "parents",
    "sessions",
    "tokens",
    "pats",
    "clients",
    "grounds",
    "uses",
}
