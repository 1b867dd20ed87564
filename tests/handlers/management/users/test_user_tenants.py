"""Who may create and read whom: organizations are shut off from each other."""

from __future__ import annotations

import asyncio

import pytest

from idp.identity.users import lookup as user_lookup
from idp.records import USERS
from tests.support.management.callers import (
    Caller,
    new_caller,
    new_organization,
    refused,
)
from tests.support.sign_in.people import PATH, create, person
from tests.support.sign_in.registering import code_for
from tests.support.store.stored import everything

HERE, THERE = "here.example", "there.example"


@pytest.fixture
def here(io_loop, server):
    return io_loop.run_sync(lambda: new_organization(server, HERE))


@pytest.fixture
def there(io_loop, server):
    return io_loop.run_sync(lambda: new_organization(server, THERE))


@pytest.fixture
def manager(io_loop, server, visitor, here):
    return io_loop.run_sync(lambda: new_caller(server, visitor, here, "ORG_USER_MANAGER"))


@pytest.mark.promise("user creation: organization")
async def test_without_more_a_person_belongs_to_the_callers_organization(manager, here):
    assert (await create(manager))["details"]["resourceOwner"] == here.id


@pytest.mark.promise("user creation: organization")
async def test_an_owner_of_the_instance_says_whose_a_person_is(owner, here, there):
    email = {"email": "b@mouse.example", "isVerified": True}
    by_id = await owner.post(PATH, person(username="a", organization={"orgId": here.id}))
    by_domain = await owner.post(
        PATH,
        person(username="b", organization={"orgDomain": "THERE.example"}, email=email),
    )
    by_header = await owner.post(PATH, person(username="c"), x_idp_orgid=here.id)

    owners = [page.json()["details"]["resourceOwner"] for page in (by_id, by_domain, by_header)]
    assert owners == [here.id, there.id, here.id]


@pytest.mark.promise("user creation: organization")
async def test_a_body_that_names_another_organization_than_the_header_is_refused(
    server, owner, here, there
):
    before = await everything(server.store)
    page = await owner.post(PATH, person(organization={"orgId": there.id}), x_idp_orgid=here.id)

    refused(page, 403, 7)
    assert await everything(server.store) == before


@pytest.mark.promise("user creation: 403")
async def test_nobody_is_made_in_anothers_organization(server, manager, there):
    before = await everything(server.store)

    for organization in ({"orgId": there.id}, {"orgDomain": THERE}, {"orgId": "nobodys"}):
        refused(await manager.post(PATH, person(organization=organization)), 403, 7)
    refused(await manager.post(PATH, person(), x_idp_orgid=there.id), 403, 7)
    assert await everything(server.store) == before


@pytest.mark.promise("user creation: 404")
async def test_an_organization_that_does_not_exist_is_reported_to_the_instances_owner(
    server, owner
):
    before = await everything(server.store)

    for name, value in (("orgId", "nobodys"), ("orgDomain", "nobodys.example")):
        page = await owner.post(PATH, person(organization={name: value}))
        assert refused(page, 404, 5) == {f"organization.{name}": "organization.not_found"}
    assert await everything(server.store) == before


@pytest.mark.promise("user creation: 403")
@pytest.mark.parametrize("roles", [(), ("ORG_OWNER_VIEWER",), ("ORG_PROJECT_CREATOR",)])
async def test_who_does_not_manage_users_makes_none(server, visitor, here, roles):
    caller = await new_caller(server, visitor, here, *roles)
    before = await everything(server.store)

    refused(await caller.post(PATH, person()), 403, 7)
    refused(await caller.post("/v2/users/x/email/verify", {"verificationCode": "1"}), 403, 7)
    assert await everything(server.store) == before


@pytest.mark.parametrize("token", [None, "", "idp_pat_nobodys", "a b"])
async def test_without_a_valid_token_nothing_is_done(server, visitor, token):
    caller = Caller(visitor, token)
    before = await everything(server.store)

    for page in (
        await caller.post(PATH, person()),
        await caller.get("/v2/users/x"),
        await caller.post("/v2/users/x/email/verify", {"verificationCode": "1"}),
    ):
        refused(page, 401, 16)
        assert page.headers["WWW-Authenticate"].startswith("Bearer")
    assert await everything(server.store) == before


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "GET", "TRACE", "FOO"])
async def test_another_method_is_none_of_this_address(owner, method):
    page = await owner.request(method, PATH, None)

    refused(page, 405, 12)
    assert page.json()["message"] == "the method is not one of this address"
    assert page.headers["Allow"] == "POST"


async def test_another_organizations_user_is_as_unknown_as_nobodys(
    server, visitor, owner, manager, here, there
):
    theirs = await create(owner, userId="theirs", organization={"orgId": there.id})
    reader = await new_caller(server, visitor, there, "ORG_OWNER_VIEWER")

    answers = [await manager.get(f"/v2/users/{id}") for id in (theirs["userId"], "nobodys")]
    proofs = [
        await manager.post(f"/v2/users/{id}/email/verify", {"verificationCode": "12345678"})
        for id in (theirs["userId"], "nobodys")
    ]

    for pages in (answers, proofs):
        bodies = [page.json() for page in pages]
        assert [refused(page, 404, 5) for page in pages] == [{"": "user.not_found"}] * 2
        assert bodies[0]["message"] == bodies[1]["message"]
        assert "theirs" not in pages[0].text
    assert (await reader.get("/v2/users/theirs")).status == 200
    assert (await owner.get("/v2/users/theirs", x_idp_orgid=here.id)).status == 404


async def test_nobody_is_shut_out_by_who_manages_another_organization(
    server, owner, manager, here, there
):
    theirs = await create(owner, organization={"orgId": there.id})
    email = {"email": "MINI@mouse.example", "isVerified": True}
    await create(manager, username="other", email=email)
    before = await everything(server.store)
    page = await manager.post(PATH, person(username="MINI@mouse.example", email=email))

    assert refused(page, 409, 6) == {"username": "user.login_name_taken"}
    assert await everything(server.store) == before
    for org_id in (None, here.id, there.id):
        found = await user_lookup.find_by_login_name(server.service, "mini@mouse.example", org_id)
        assert found.id == theirs["userId"]


async def test_an_address_that_another_organizations_person_has_is_not_verified_again(
    server, owner, manager, there, visitor
):
    await create(owner, organization={"orgId": there.id})
    mine = await create(manager, username="other", email={"email": "mini@mouse.example"})
    code = {"verificationCode": await code_for(visitor, "mini@mouse.example")}
    before = await everything(server.store)
    page = await manager.post(f"/v2/users/{mine['userId']}/email/verify", code)

    assert refused(page, 400, 9) == {"": "user.email_held"}
    assert await everything(server.store) == before


async def test_of_two_verifications_at_once_in_two_organizations_one_counts(
    server, visitor, here, there
):
    proofs = []
    for home in (here, there):
        caller = await new_caller(server, visitor, home, "ORG_USER_MANAGER")
        made = await create(caller, username=home.name, email={"email": "mini@mouse.example"})
        code = await code_for(visitor, "mini@mouse.example")
        server.clock.advance(1)
        path = f"/v2/users/{made['userId']}/email/verify"
        proofs.append(caller.post(path, {"verificationCode": code}))

    pages = await asyncio.gather(*proofs)

    assert sorted(page.status for page in pages) == [200, 400]
    found = await server.store.find(USERS, {"email_key": "mini@mouse.example"})
    assert len(found.records) == 1


async def test_two_users_of_one_organization_verify_one_address(manager):
    for name in ("one", "two"):
        email = {"email": "mini@mouse.example", "returnCode": {}}
        made = await create(manager, username=name, email=email)
        code = {"verificationCode": made["emailCode"]}
        page = await manager.post(f"/v2/users/{made['userId']}/email/verify", code)
        assert page.status == 200


async def test_a_taken_name_reveals_nothing_about_its_user(owner, manager, there):
    await create(owner, organization={"orgId": there.id})
    page = await manager.post(PATH, person())

    assert refused(page, 409, 6) == {"email.email": "user.login_name_taken"}
    assert there.id not in page.text
    assert THERE not in page.text
