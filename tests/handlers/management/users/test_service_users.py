"""Service users, their tokens and who manages what, over HTTP."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.records import MEMBERSHIPS, USERS
from idp.records import PATS as STORED_PATS
from tests.support.management.api_samples import (
    INSTANCE_MEMBERS,
    MACHINES,
    MEMBERS,
    SET_UP,
    organization,
)
from tests.support.management.callers import Caller, new_caller, new_organization, refused
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

PROJECTS = "/management/v1/projects"


@pytest.fixture
def machine(io_loop, owner) -> str:
    """The id of a service user."""

    async def make():
        made = await owner.post(MACHINES, {"userName": "nightly", "name": "Nightly script"})
        return made.json()["userId"]

    return io_loop.run_sync(make)


def pats(user_id):
    return f"/management/v1/users/{user_id}/pats"


@pytest.mark.promise("service: users", "token: personal access token")
async def test_a_service_user_is_stored_and_shown(server, owner):
    body = {"userName": "Nightly", "name": "Nightly script", "description": "Makes people."}
    made = (await owner.post(MACHINES, body)).json()

    user = await server.store.get(USERS, made["userId"])
    assert (user.kind, user.user_name, user.login_key) == ("machine", "Nightly", "nightly")
    shown = (await owner.get(f"/v2/users/{user.id}")).json()["user"]
    assert shown["machine"] == {"name": "Nightly script", "description": "Makes people."}
    await events_agree(server.store)


@pytest.mark.parametrize("name", ["nightly", "NIGHTLY", "demo", "nightly@localhost"])
async def test_a_name_that_is_taken_is_409(server, owner, machine, name):
    before = await everything(server.store)
    page = await owner.post(MACHINES, {"userName": name, "name": "N"})

    assert refused(page, 409, 6) == {"userName": "user.login_name_taken"}
    assert await everything(server.store) == before


async def test_a_service_user_may_get_tokens_that_are_jwts(server, owner):
    body = {"userName": "n", "name": "N", "accessTokenType": "ACCESS_TOKEN_TYPE_JWT"}
    made = (await owner.post(MACHINES, body)).json()

    assert (await server.store.get(USERS, made["userId"])).access_token_type == "jwt"
    shown = (await owner.get(f"/v2/users/{made['userId']}")).json()["user"]
    assert shown["machine"] == {"name": "N", "accessTokenType": "ACCESS_TOKEN_TYPE_JWT"}


async def test_a_service_user_does_not_sign_in_at_the_pages(visitor, demo, machine):
    page = await visitor.open(demo.authorize_url())
    page = await visitor.submit(page, loginName="nightly")
    page = await visitor.submit(page, password="")

    assert page.name == "password"


async def test_a_token_opens_the_api_until_the_date_it_was_given(server, visitor, owner, machine):
    await owner.post(MEMBERS, {"userId": machine, "roles": ["ORG_OWNER"]})
    until = server.clock.now() + timedelta(hours=2)
    made = (await owner.post(pats(machine), {"expirationDate": until.isoformat()})).json()
    script = Caller(visitor, made["token"])

    assert made["token"].startswith("idp_pat_")
    assert made["token"] not in str(await everything(server.store))
    assert (await script.post(PROJECTS, {"name": "P"})).status == 200
    server.clock.advance(timedelta(hours=2, seconds=-1))
    assert (await script.post(PROJECTS, {"name": "P"})).status == 200
    server.clock.advance(1)
    refused(await script.post(PROJECTS, {"name": "P"}), 401, 16)


async def test_a_token_without_a_date_lives_ninety_days_and_says_so(server, owner, machine):
    made = (await owner.post(pats(machine), {})).json()

    pat = await server.store.get(STORED_PATS, made["tokenId"])
    assert pat.expires_at == server.clock.now() + timedelta(days=90)
    assert made["expirationDate"].startswith(pat.expires_at.date().isoformat())


async def test_a_token_that_would_expire_at_once_is_refused(server, owner, machine):
    before = await everything(server.store)
    now = server.clock.now().isoformat()
    page = await owner.post(pats(machine), {"expirationDate": now})

    assert refused(page, 400, 3) == {"expirationDate": "pat.expiration_past"}
    assert await everything(server.store) == before


async def test_a_person_has_no_personal_access_tokens(server, owner):
    made = (await owner.post(SET_UP, organization())).json()
    before = await everything(server.store)
    page = await owner.post(pats(made["userId"]), {})

    assert refused(page, 400, 9) == {"": "user.not_machine"}
    assert await everything(server.store) == before


async def test_nobody_gets_a_token_of_who_may_do_more_than_they(server, visitor, owner):
    """Who manages the users of an organization is no more than that by way of its scripts."""
    here = await new_organization(server, "here.example")
    manager = await new_caller(server, visitor, here, "ORG_USER_MANAGER")
    peer = await new_caller(server, visitor, here, "ORG_USER_MANAGER")
    chief = await new_caller(server, visitor, here, "ORG_OWNER")
    instance = await new_caller(server, visitor, here, "IAM_OWNER_VIEWER", everywhere=True)
    before = await everything(server.store)
    for mightier in (chief, instance):
        page = await manager.post(pats(mightier.user_id), {})
        assert refused(page, 403, 7) == {"": "permission_denied"}
    assert refused(await chief.post(pats(instance.user_id), {}), 403, 7)
    assert await everything(server.store) == before

    assert (await manager.post(pats(peer.user_id), {})).status == 200
    assert (await chief.post(pats(manager.user_id), {})).status == 200
    assert (await owner.post(pats(instance.user_id), {})).status == 200


async def test_a_member_may_do_what_the_roles_say_at_once(server, visitor, owner):
    here = await new_organization(server, "here.example")
    script = await new_caller(server, visitor, here)
    refused(await script.post(PROJECTS, {"name": "P"}), 403, 7)
    body = {"userId": script.user_id, "roles": ["ORG_PROJECT_CREATOR", "ORG_PROJECT_CREATOR"]}
    added = await owner.post(MEMBERS, body, x_idp_orgid=here.id)

    assert added.json()["details"]["resourceOwner"] == here.id
    held = (await server.store.find(MEMBERSHIPS, {"user_id": script.user_id})).records
    assert [(one.org_id, one.roles) for one in held] == [(here.id, ["ORG_PROJECT_CREATOR"])]
    assert (await script.post(PROJECTS, {"name": "P"})).status == 200
    await events_agree(server.store)


async def test_a_member_of_the_instance_may_do_it_everywhere(server, visitor, owner):
    here = await new_organization(server, "here.example")
    script = await new_caller(server, visitor, here)
    await owner.post(INSTANCE_MEMBERS, {"userId": script.user_id, "roles": ["IAM_OWNER"]})

    assert (await script.post(SET_UP, organization())).status == 200


@pytest.mark.parametrize("path", [MEMBERS, INSTANCE_MEMBERS])
async def test_who_is_a_member_already_is_409(server, owner, machine, path):
    body = {"userId": machine, "roles": ["ORG_OWNER" if path == MEMBERS else "IAM_OWNER"]}
    assert (await owner.post(path, body)).status == 200
    before = await everything(server.store)

    assert refused(await owner.post(path, body), 409, 6) == {"": "member.exists"}
    assert await everything(server.store) == before


@pytest.mark.parametrize("path", [MEMBERS, INSTANCE_MEMBERS])
@pytest.mark.parametrize(
    ("roles", "problem"),
    [
        ([], {"roles": "field.too_few"}),
        (["KING"], {"roles[0]": "field.unknown_name"}),
        (["IAM_OWNER", "ORG_OWNER"], None),
    ],
)
async def test_a_role_belongs_to_its_kind_of_member(server, owner, machine, path, roles, problem):
    before = await everything(server.store)
    page = await owner.post(path, {"userId": machine, "roles": roles})

    foreign = "roles[0]" if path == MEMBERS else "roles[1]"
    assert refused(page, 400, 3) == (problem or {foreign: "field.unknown_name"})
    assert await everything(server.store) == before


async def test_a_user_of_another_organization_is_as_one_that_is_not_there(server, visitor):
    here = await new_organization(server, "here.example")
    there = await new_organization(server, "there.example")
    chief = await new_caller(server, visitor, here, "ORG_OWNER")
    stranger = await new_caller(server, visitor, there)
    before = await everything(server.store)
    for user_id in (stranger.user_id, "nobody"):
        page = await chief.post(MEMBERS, {"userId": user_id, "roles": ["ORG_OWNER"]})
        assert refused(page, 404, 5) == {"": "user.not_found"}
    assert await everything(server.store) == before
