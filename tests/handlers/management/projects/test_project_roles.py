"""Roles of projects, and the users who have them, over HTTP."""

from __future__ import annotations

import pytest

from idp.records import PROJECT_ROLES, ROLE_ASSIGNMENTS
from storage import Delete, Update
from tests.support.management.api_samples import MACHINES, PROJECTS
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything, only


@pytest.fixture
def project(io_loop, owner) -> str:
    """The id of a project that knows buyers and sellers."""

    async def make():
        id = (await owner.post(PROJECTS, {"name": "Shop"})).json()["id"]
        for key in ("buyer", "seller"):
            body = {"roleKey": key, "displayName": key.title(), "group": "market"}
            assert (await owner.post(f"{PROJECTS}/{id}/roles", body)).status == 200
        return id

    return io_loop.run_sync(make)


@pytest.fixture
def grants(io_loop, owner) -> str:
    """The address of a user's roles."""

    async def make():
        made = await owner.post(MACHINES, {"userName": "nightly", "name": "Nightly script"})
        return f"/management/v1/users/{made.json()['userId']}/grants"

    return io_loop.run_sync(make)


def roles(project):
    return f"{PROJECTS}/{project}/roles"


async def give(owner, grants, project, *keys) -> str:
    page = await owner.post(grants, {"projectId": project, "roleKeys": list(keys)})
    assert page.status == 200, page.text
    return page.json()["userGrantId"]


async def test_roles_are_stored_and_listed_by_their_keys(server, owner, project):
    page = await owner.get(roles(project))

    result = page.json()["result"]
    assert page.json()["details"] == {"totalResult": "2"}
    assert [(one["key"], one["displayName"], one["group"]) for one in result] == [
        ("buyer", "Buyer", "market"),
        ("seller", "Seller", "market"),
    ]
    await events_agree(server.store)


async def test_a_project_knows_a_role_once_and_another_project_knows_it_too(
    server, owner, project
):
    other = (await owner.post(PROJECTS, {"name": "Other"})).json()["id"]
    body = {"roleKey": "buyer", "displayName": "Another"}
    before = await everything(server.store)

    assert refused(await owner.post(roles(project), body), 409, 6) == {"roleKey": "role.exists"}
    assert await everything(server.store) == before
    assert (await owner.post(roles(other), body)).status == 200


@pytest.mark.parametrize(
    ("key", "error_code"),
    [
        ("", "field.empty"),
        ("a b", "field.characters"),
        (" a", "field.characters"),
        ("a\u00a0b", "field.characters"),
        ("a\u202eb", "field.characters"),
        ("a\nb", "field.characters"),
        ("x" * 201, "field.too_long"),
    ],
)
async def test_a_key_that_no_scope_could_name_is_refused(server, owner, project, key, error_code):
    before = await everything(server.store)
    page = await owner.post(roles(project), {"roleKey": key, "displayName": "R"})

    assert refused(page, 400, 3) == {"roleKey": error_code}
    assert await everything(server.store) == before


async def test_a_user_has_the_roles_that_were_given(server, owner, project, grants):
    id = await give(owner, grants, project, "buyer", "seller", "buyer")

    kept = await only(server.store, ROLE_ASSIGNMENTS)
    assert (kept.id, kept.project_id, kept.role_keys) == (id, project, ["buyer", "seller"])
    (shown,) = (await owner.get(grants)).json()["result"]
    assert (shown["id"], shown["projectId"]) == (id, project)
    assert shown["roleKeys"] == ["buyer", "seller"]
    assert f"/{shown['userId']}/" in grants
    await events_agree(server.store)


async def test_roles_are_changed_and_taken_away(server, owner, project, grants):
    id = await give(owner, grants, project, "buyer")
    changed = await owner.request("PUT", f"{grants}/{id}", {"roleKeys": ["seller"]})

    assert changed.json()["details"]["sequence"] == "2"
    assert (await server.store.get(ROLE_ASSIGNMENTS, id)).role_keys == ["seller"]
    gone = await owner.request("DELETE", f"{grants}/{id}", None)
    assert gone.json()["details"]["sequence"] == "3"
    assert await server.store.get(ROLE_ASSIGNMENTS, id) is None
    again = await owner.request("DELETE", f"{grants}/{id}", None)
    assert refused(again, 404, 5) == {"": "user_grant.not_found"}
    await events_agree(server.store)


async def test_a_role_that_the_project_does_not_know_is_given_to_nobody(
    server, owner, project, grants
):
    id = await give(owner, grants, project, "buyer")
    body = {"projectId": project, "roleKeys": ["buyer", "king", "queen"]}
    made = await owner.post(MACHINES, {"userName": "other", "name": "O"})
    other = f"/management/v1/users/{made.json()['userId']}/grants"
    before = await everything(server.store)
    new = await owner.post(other, body)
    changed = await owner.request("PUT", f"{grants}/{id}", {"roleKeys": ["king"]})

    unknown = {"roleKeys[1]": "role.not_found", "roleKeys[2]": "role.not_found"}
    assert refused(new, 400, 3) == unknown
    assert refused(changed, 400, 3) == {"roleKeys[0]": "role.not_found"}
    assert await everything(server.store) == before


async def test_a_user_has_roles_of_a_project_in_one_place(server, owner, project, grants):
    await give(owner, grants, project, "buyer")
    before = await everything(server.store)
    page = await owner.post(grants, {"projectId": project, "roleKeys": ["seller"]})

    assert refused(page, 409, 6) == {"projectId": "user_grant.exists"}
    assert await everything(server.store) == before


async def test_a_project_that_the_call_does_not_reach_is_as_one_that_is_not_there(
    server, visitor, project
):
    here = await new_organization(server, "here.example")
    manager = await new_caller(server, visitor, here, "ORG_USER_MANAGER")
    grants = f"/management/v1/users/{manager.user_id}/grants"
    before = await everything(server.store)
    for id in (project, "nobody"):
        page = await manager.post(grants, {"projectId": id, "roleKeys": ["buyer"]})
        assert refused(page, 404, 5) == {"projectId": "project.not_found"}
    assert await everything(server.store) == before


async def test_nobody_learns_which_roles_a_user_has_in_others_projects(
    server, visitor, owner, project
):
    here = await new_organization(server, "here.example")
    manager = await new_caller(server, visitor, here, "ORG_USER_MANAGER")
    grants = f"/management/v1/users/{manager.user_id}/grants"
    id = await give(owner, grants, project, "buyer")

    assert (await manager.get(grants)).json() == {"details": {"totalResult": "0"}}
    before = await everything(server.store)
    gone = await manager.request("DELETE", f"{grants}/{id}", None)
    assert refused(gone, 404, 5) == {"": "user_grant.not_found"}
    assert await everything(server.store) == before


async def test_with_a_role_everybody_loses_it_and_only_it(server, owner, project, grants):
    both = await give(owner, grants, project, "buyer", "seller")
    made = await owner.post(MACHINES, {"userName": "other", "name": "O"})
    other = f"/management/v1/users/{made.json()['userId']}/grants"
    one = await give(owner, other, project, "seller")
    page = await owner.request("DELETE", f"{roles(project)}/seller", None)

    assert page.status == 200
    assert (await server.store.get(ROLE_ASSIGNMENTS, both)).role_keys == ["buyer"]
    assert await server.store.get(ROLE_ASSIGNMENTS, one) is None
    await events_agree(server.store)
    again = await owner.request("DELETE", f"{roles(project)}/seller", None)
    assert refused(again, 404, 5) == {"": "role.not_found"}
    body = {"roleKey": "seller", "displayName": "Seller"}
    assert (await owner.post(roles(project), body)).status == 200
    assert (await server.store.get(ROLE_ASSIGNMENTS, both)).role_keys == ["buyer"]
    await events_agree(server.store)


async def test_a_role_that_goes_at_the_same_moment_is_not_given(
    server, owner, project, grants, monkeypatch
):
    commit = server.store.commit
    (role,) = [one async for one in server.store.scan(PROJECT_ROLES) if one.key == "seller"]

    async def overtaken(*writes):
        if any(write.collection is ROLE_ASSIGNMENTS for write in writes):
            await commit(Delete(PROJECT_ROLES, role.id))
        await commit(*writes)

    monkeypatch.setattr(server.store, "commit", overtaken)
    page = await owner.post(grants, {"projectId": project, "roleKeys": ["seller"]})

    assert refused(page, 400, 3) == {"roleKeys[0]": "role.not_found"}
    assert [one async for one in server.store.scan(ROLE_ASSIGNMENTS)] == []


async def test_a_role_that_is_given_while_it_goes_is_lost_with_it(
    server, owner, project, grants, monkeypatch
):
    """Between the last look at who has it and its end, somebody gets it."""
    id, commit = await give(owner, grants, project, "buyer"), server.store.commit

    async def late(*writes):
        if any(isinstance(w, Delete) and w.collection is PROJECT_ROLES for w in writes):
            await commit(Update(ROLE_ASSIGNMENTS, id, set={"role_keys": ["buyer", "seller"]}))
        await commit(*writes)

    monkeypatch.setattr(server.store, "commit", late)
    assert (await owner.request("DELETE", f"{roles(project)}/seller", None)).status == 200

    assert (await server.store.get(ROLE_ASSIGNMENTS, id)).role_keys == ["buyer"]
