"""Project grants: other organizations that may use a project and assign roles of it."""

from __future__ import annotations

import pytest

from idp.background import deferred_work
from idp.identity.users import grant_ids
from idp.management.organizations import removal as organization_removal
from idp.management.projects import granted_roles
from idp.records import DEFERRED_WORK, PROJECT_GRANTS, ROLE_ASSIGNMENTS
from storage import META, SCHEMA_ID, Schema, TooNew
from storage.upgrades import opening
from tests.support.management.api_samples import MACHINES, PROJECTS
from tests.support.management.callers import instance_owner, new_caller, new_organization, refused
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything


class Shop:
    """A project of one organization with the roles buyer and seller, and managers of both."""

    async def make(self, server, visitor):
        self.server, self.everywhere = server, await instance_owner(server, visitor)
        self.own = await new_organization(server, "own.example")
        self.other = await new_organization(server, "other.example")
        self.third = await new_organization(server, "third.example")
        self.owner = await new_caller(server, visitor, self.own, "ORG_OWNER")
        self.manager = await new_caller(server, visitor, self.other, "ORG_OWNER")
        self.stranger = await new_caller(server, visitor, self.third, "ORG_OWNER")
        self.project = (await self.owner.post(PROJECTS, {"name": "Shop"})).json()["id"]
        for key in ("buyer", "seller"):
            role = {"roleKey": key, "displayName": key}
            assert (await self.owner.post(f"{PROJECTS}/{self.project}/roles", role)).status == 200
        self.grants = f"{PROJECTS}/{self.project}/grants"
        return self

    async def grant(self, *keys):
        body = {"grantedOrgId": self.other.id, "roleKeys": list(keys)}
        page = await self.owner.post(self.grants, body)
        assert page.status == 200, page.text
        return f"{self.grants}/{page.json()['grantId']}"

    async def user(self, caller=None):
        body = {"userName": self.server.service.random.id()[:12].lower(), "name": "U"}
        page = await (caller or self.manager).post(MACHINES, body)
        assert page.status == 200, page.text
        return f"/management/v1/users/{page.json()['userId']}/grants"

    async def assign(self, user, *keys, caller=None, **more):
        body = {"projectId": self.project, "roleKeys": list(keys), **more}
        return await (caller or self.manager).post(user, body)

    async def assigned(self, user, caller=None):
        found = (await (caller or self.manager).get(user)).json().get("result", [])
        return {one["projectId"]: one["roleKeys"] for one in found}


@pytest.fixture
def shop(io_loop, server, visitor):
    return io_loop.run_sync(lambda: Shop().make(server, visitor))


async def test_a_grant_is_made_shown_and_found(server, shop):
    one = await shop.grant("buyer")

    shown = (await shop.owner.get(one)).json()["projectGrant"]
    assert shown.pop("details")["resourceOwner"] == shop.own.id
    assert shown == {
        "grantId": one.rpartition("/")[2],
        "grantedOrgId": shop.other.id,
        "grantedOrgName": shop.other.name,
        "grantedRoleKeys": ["buyer"],
        "state": "PROJECT_GRANT_STATE_ACTIVE",
        "projectId": shop.project,
        "projectName": "Shop",
    }
    found = (await shop.owner.post(f"{shop.grants}/_search", {})).json()
    assert [each["grantId"] for each in found["result"]] == [shown["grantId"]]
    by_third = {"queries": [{"grantedOrgIdQuery": {"grantedOrgId": shop.third.id}}]}
    found = (await shop.owner.post(f"{shop.grants}/_search", by_third)).json()
    assert found.get("result", []) == []
    await events_agree(server.store)


@pytest.mark.parametrize(
    ("changes", "status", "field", "error_code"),
    [
        ({"grantedOrgId": "nobody"}, 400, "grantedOrgId", "project_grant.organization"),
        ({"grantedOrgId": None}, 400, "grantedOrgId", "field.wrong_type"),
        ({"roleKeys": ["buyer", "king"]}, 400, "roleKeys[1]", "role.not_found"),
        ({"roleKeys": ["buyer"] * 101}, 400, "roleKeys", "field.too_many"),
        ({"surprise": 1}, 400, "surprise", "field.unknown"),
    ],
)
async def test_what_cannot_be_granted_is_refused_and_nothing_is_written(
    server, shop, changes, status, field, error_code
):
    body = {"grantedOrgId": shop.other.id, "roleKeys": ["buyer"], **changes}
    before = await everything(server.store)

    page = await shop.owner.post(shop.grants, body)

    assert refused(page, status, 3)[field] == error_code
    assert await everything(server.store) == before


async def test_a_project_is_not_granted_to_its_owner_nor_twice(server, shop):
    await shop.grant("buyer")
    before = await everything(server.store)

    own = await shop.owner.post(shop.grants, {"grantedOrgId": shop.own.id})
    again = await shop.owner.post(shop.grants, {"grantedOrgId": shop.other.id})

    assert refused(own, 400, 3) == {"grantedOrgId": "project_grant.own"}
    assert refused(again, 409, 6) == {"grantedOrgId": "project_grant.exists"}
    assert await everything(server.store) == before


async def test_only_managers_of_the_project_grant_it(server, shop):
    one = await shop.grant("buyer")
    before = await everything(server.store)

    for caller in (shop.manager, shop.stranger):
        calls = [
            await caller.post(shop.grants, {"grantedOrgId": shop.third.id}),
            await caller.get(one),
            await caller.request("PUT", one, {"roleKeys": ["seller"]}),
            await caller.post(f"{one}/_deactivate", {}),
            await caller.request("DELETE", one, None),
            await caller.post(f"{shop.grants}/_search", {}),
        ]
        assert [page.status for page in calls] == [404] * 6
    assert await everything(server.store) == before


@pytest.mark.promise("application users: grants")
async def test_the_granted_organization_assigns_granted_roles_to_its_own_users(server, shop):
    user, foreign = await shop.user(), await shop.user(shop.stranger)
    assert refused(await shop.assign(user, "buyer"), 404, 5) == {"projectId": "project.not_found"}
    one = await shop.grant("buyer")
    id = one.rpartition("/")[2]

    more = await shop.assign(user, "seller")
    assert refused(more, 400, 3) == {"roleKeys[0]": "role.not_granted"}
    wrong = await shop.assign(user, "buyer", projectGrantId="other")
    assert refused(wrong, 404, 5) == {"projectGrantId": "project_grant.not_found"}
    assert (await shop.assign(foreign, "buyer")).status == 404
    assert (await shop.assign(foreign, "buyer", caller=shop.stranger)).status == 404
    assert (await shop.assign(user, "buyer", projectGrantId=id)).status == 200

    (shown,) = (await shop.manager.get(user)).json()["result"]
    assert (shown["projectGrantId"], shown["roleKeys"]) == (id, ["buyer"])
    assert shown["details"]["resourceOwner"] == shop.other.id
    wider = await shop.manager.request("PUT", f"{user}/{shown['id']}", {"roleKeys": ["seller"]})
    assert refused(wider, 400, 3) == {"roleKeys[0]": "role.not_granted"}
    await events_agree(server.store)


async def test_fewer_granted_roles_are_taken_from_who_has_them(server, shop):
    one, users = await shop.grant("buyer", "seller"), [await shop.user() for _ in range(3)]
    for user, keys in zip(users, [("buyer",), ("seller",), ("buyer", "seller")], strict=True):
        assert (await shop.assign(user, *keys)).status == 200

    changed = await shop.owner.request("PUT", one, {"roleKeys": ["seller"]})

    assert changed.status == 200
    left = [(await shop.assigned(user)).get(shop.project) for user in users]
    assert left == [None, ["seller"], ["seller"]]
    assert (await server.store.find(DEFERRED_WORK)).records == []
    await events_agree(server.store)


@pytest.mark.promise("application users: grants")
async def test_a_grant_that_is_removed_takes_its_assignments_along_and_no_others(server, shop):
    one, user = await shop.grant("buyer"), await shop.user()
    own = await shop.user(shop.owner)
    assert (await shop.assign(user, "buyer")).status == 200
    assert (await shop.assign(own, "buyer", caller=shop.owner)).status == 200

    gone = await shop.owner.request("DELETE", one, None)

    assert gone.status == 200
    assert await shop.assigned(user) == {}
    assert await shop.assigned(own, shop.owner) == {shop.project: ["buyer"]}
    assert (await shop.owner.get(one)).status == 404
    assert (await shop.owner.request("DELETE", one, None)).status == 404
    await events_agree(server.store)


@pytest.mark.promise("application users: grants")
async def test_what_a_removed_grant_leaves_is_removed_in_the_background_and_never_counts(
    server, shop, monkeypatch
):
    one, user = await shop.grant("buyer"), await shop.user()
    assert (await shop.assign(user, "buyer")).status == 200

    async def cut_off(*_):
        return False

    with monkeypatch.context() as patched:
        patched.setattr(granted_roles, "purge", cut_off)
        assert (await shop.owner.request("DELETE", one, None)).status == 200
    await shop.grant("buyer")
    again = await shop.user()
    assert (await shop.assign(again, "buyer")).status == 200
    (grant,) = (await server.store.find(PROJECT_GRANTS, {"project_id": shop.project})).records
    where = {"project_id": shop.project}
    both = (await server.store.find(ROLE_ASSIGNMENTS, where)).records
    assert sorted(grant_ids.is_in_force(each, grant) for each in both) == [False, True]

    await deferred_work.process_due(server.service)

    assert await shop.assigned(user) == {}
    assert await shop.assigned(again) == {shop.project: ["buyer"]}
    await events_agree(server.store)


async def test_a_role_that_a_project_forgets_is_granted_no_more(server, shop):
    one, user = await shop.grant("buyer", "seller"), await shop.user()
    assert (await shop.assign(user, "buyer")).status == 200

    gone = await shop.owner.request("DELETE", f"{PROJECTS}/{shop.project}/roles/buyer", None)

    assert gone.status == 200
    shown = (await shop.owner.get(one)).json()["projectGrant"]
    assert shown["grantedRoleKeys"] == ["seller"]
    assert await shop.assigned(user) == {}
    await events_agree(server.store)


async def test_a_grant_is_deactivated_and_reactivated(server, shop):
    one, user = await shop.grant("buyer"), await shop.user()

    assert (await shop.owner.post(f"{one}/_deactivate", {})).status == 200
    again = await shop.owner.post(f"{one}/_deactivate", {})
    assert refused(again, 400, 9) == {"": "project_grant.state"}
    shown = (await shop.owner.get(one)).json()["projectGrant"]
    assert shown["state"] == "PROJECT_GRANT_STATE_INACTIVE"
    assert (await shop.assign(user, "buyer")).status == 404

    assert (await shop.owner.post(f"{one}/_reactivate", {})).status == 200
    assert (await shop.assign(user, "buyer")).status == 200
    await events_agree(server.store)


async def test_grants_end_with_the_project_and_with_either_organization(server, shop):
    await shop.grant("buyer")
    to_third = await shop.owner.post(shop.grants, {"grantedOrgId": shop.third.id})
    assert to_third.status == 200

    gone = await shop.everywhere.request("DELETE", f"/admin/v1/orgs/{shop.third.id}", None)

    await organization_removal.purge_deleted(server.service)

    assert gone.status == 200
    left = (await server.store.find(PROJECT_GRANTS, {"project_id": shop.project})).records
    assert [each.granted_org_id for each in left] == [shop.other.id]
    assert (await shop.owner.request("DELETE", f"{PROJECTS}/{shop.project}", None)).status == 200
    assert (await server.store.find(PROJECT_GRANTS, {"project_id": shop.project})).records == []
    await events_agree(server.store)


@pytest.mark.promise("application users: upgrade")
async def test_the_first_stored_grant_shuts_the_store_to_programs_that_know_no_grants(
    server, shop
):
    before = await server.store.get(META, SCHEMA_ID)
    assert before.oldest_reader == 1

    await shop.grant("buyer")

    after = await server.store.get(META, SCHEMA_ID)
    assert (after.version, after.oldest_reader) == (before.version, 2)
    with pytest.raises(TooNew, match="schema version 2 or later; this one has 1"):
        opening(after, Schema(version=1))
