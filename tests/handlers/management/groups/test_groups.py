"""Groups over HTTP: what is made, stored, shown and refused."""

from __future__ import annotations

import pytest

from idp.background import deferred_work
from idp.identity.users import groups as domain
from idp.records.groups import GROUP_GRANTS, GROUP_MEMBERS, GROUPS
from storage import Update
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.management.grouping import GROUPS as PATH
from tests.support.management.grouping import Grouping
from tests.support.protocol.claiming import organization_of
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything


@pytest.fixture
def grouping(io_loop, server, owner):
    """In the first administrator's organization."""
    home = io_loop.run_sync(lambda: organization_of(server))
    return Grouping(owner, home.id)


async def test_a_group_is_made_shown_changed_and_deleted(server, grouping):
    group = await grouping.group("Sales", externalId="s-1")
    shown = await grouping.shown(group)
    assert (shown["name"], shown["externalId"]) == ("Sales", "s-1")
    assert "memberCount" not in shown

    changed = await grouping.call("PUT", f"{PATH}/{group}", {"name": "Selling"})
    assert changed["details"]["sequence"] == "2"
    shown = await grouping.shown(group)
    assert shown["name"] == "Selling"
    assert "externalId" not in shown

    await grouping.call("DELETE", f"{PATH}/{group}")
    page = await grouping.send("GET", f"{PATH}/{group}")
    assert refused(page, 404, 5) == {"": "group.not_found"}
    await events_agree(server.store)


@pytest.mark.parametrize("name", ["Sales", "sALES", "\uff33ales"])
async def test_a_name_exists_once_in_an_organization(server, owner, grouping, name):
    await grouping.group("Sales")
    other = await grouping.group("Marketing")
    elsewhere = await new_organization(server, "other.example")
    before = await everything(server.store)

    made = await grouping.send("POST", PATH, {"name": name})
    changed = await grouping.send("PUT", f"{PATH}/{other}", {"name": name})

    assert refused(made, 409, 6) == {"name": "group.name_taken"}
    assert refused(changed, 409, 6) == {"name": "group.name_taken"}
    assert await everything(server.store) == before
    assert await Grouping(owner, elsewhere.id).group(name)


async def test_a_name_is_free_once_its_group_is_deleted(grouping):
    await grouping.call("DELETE", f"{PATH}/{await grouping.group('Sales')}")

    assert await grouping.group("sales")


@pytest.mark.parametrize(
    ("body", "error_code"),
    [
        ({}, {"name": "field.required"}),
        ({"name": ""}, {"name": "field.empty"}),
        ({"name": "x" * 201}, {"name": "field.too_long"}),
        ({"name": "a\nb"}, {"name": "field.characters"}),
        ({"name": "a", "externalId": "x" * 201}, {"externalId": "field.too_long"}),
        ({"name": "a", "members": []}, {"members": "field.unknown"}),
    ],
)
async def test_a_group_with_bad_fields_is_refused(server, grouping, body, error_code):
    before = await everything(server.store)

    assert refused(await grouping.send("POST", PATH, body), 400, 3) == error_code
    assert await everything(server.store) == before


async def test_groups_are_found_by_name_external_id_and_member(grouping):
    sales, user = await grouping.group("Sales", externalId="s-1"), await grouping.user()
    safety = await grouping.group("Safety")
    await grouping.add(safety, user)

    async def found(**query):
        answer = await grouping.call("POST", f"{PATH}/_search", {"queries": [query]})
        return [one["id"] for one in answer.get("result", [])]

    starts = {"name": "SA", "method": "TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE"}
    assert await found(nameQuery=starts) == [safety, sales]
    assert await found(nameQuery={"name": "Sales"}) == [sales]
    assert await found(externalIdQuery={"externalId": "s-1"}) == [sales]
    assert await found(userIdQuery={"userId": user}) == [safety]
    assert await found(userIdQuery={"userId": "nobody"}) == []


async def test_members_are_added_once_and_taken_out(server, grouping):
    group, user = await grouping.group(), await grouping.user()
    await grouping.add(group, user, user)
    await grouping.add(group, user)

    assert await grouping.members(group) == {user: ["manual"]}
    assert (await grouping.shown(group))["memberCount"] == 1
    assert (await grouping.remove(group, user)).status == 200
    assert await grouping.members(group) == {}
    assert "memberCount" not in await grouping.shown(group)
    again = await grouping.remove(group, user)
    assert refused(again, 404, 5) == {"userId": "group.member_not_found"}
    await events_agree(server.store)


async def test_of_several_users_all_are_added_or_none(server, owner, grouping):
    group, user = await grouping.group(), await grouping.user()
    elsewhere = await new_organization(server, "other.example")
    foreign = await Grouping(owner, elsewhere.id).user()
    before = await everything(server.store)

    body = {"userIds": [user, "nobody", foreign]}
    page = await grouping.send("POST", f"{PATH}/{group}/users", body)

    expected = {"userIds[1]": "user.not_found", "userIds[2]": "user.not_found"}
    assert refused(page, 400, 3) == expected
    assert await everything(server.store) == before


async def test_a_membership_ends_with_its_last_source(server, grouping):
    group, user = await grouping.group(), await grouping.user()

    async def found():
        members = await domain.members_of(
            server.service, await server.store.get(GROUPS, group), [user]
        )
        return await server.store.get(GROUPS, group), list(members.values())

    async def end(source):
        writes = domain.removals(server.service, *await found(), source, "a test")
        if writes:
            await server.store.commit(*writes)

    await grouping.add(group, user)
    member = (await found())[1][0]
    await server.store.commit(
        Update(GROUP_MEMBERS, member.id, set={"sources": ["manual", "scim:7"]})
    )

    assert (await grouping.remove(group, user)).status == 200
    assert await grouping.members(group) == {user: ["scim:7"]}
    again = await grouping.remove(group, user)
    assert refused(again, 400, 9) == {"userId": "group.member_managed"}
    await end("idp:other")
    assert await grouping.members(group) == {user: ["scim:7"]}
    await end("scim:7")
    assert await grouping.members(group) == {}
    assert (await server.store.get(GROUPS, group)).member_count == 0


async def test_roles_of_a_group_are_given_replaced_and_taken_back(server, grouping):
    group, project = await grouping.group(), await grouping.project("buyer", "seller")
    path = f"{PATH}/{group}/grants/{project}"

    await grouping.grant(group, project, "buyer", "buyer")
    before = await everything(server.store)
    await grouping.grant(group, project, "buyer")
    assert await everything(server.store) == before
    await grouping.grant(group, project, "seller")
    assert (await grouping.shown(group))["grants"] == [
        {"projectId": project, "roleKeys": ["seller"]}
    ]
    unknown = await grouping.send("PUT", path, {"roleKeys": ["seller", "boss"]})
    assert refused(unknown, 400, 3) == {"roleKeys[1]": "role.not_found"}
    await grouping.call("DELETE", path)
    assert "grants" not in await grouping.shown(group)
    assert refused(await grouping.send("DELETE", path), 404, 5) == {"": "group.grant_not_found"}
    await events_agree(server.store)


async def test_a_foreign_project_is_usable_only_by_a_grant_of_it(server, owner, grouping):
    home = await new_organization(server, "home.example")
    at_home = Grouping(owner, home.id)
    project, group = await grouping.project("buyer", "seller"), await at_home.group()
    path = f"{PATH}/{group}/grants/{project}"
    page = await at_home.send("PUT", path, {"roleKeys": ["buyer"]})
    assert refused(page, 404, 5) == {"": "project.not_found"}

    body = {"grantedOrgId": home.id, "roleKeys": ["buyer"]}
    of_project = f"/management/v1/projects/{project}/grants"
    grant = (await grouping.call("POST", of_project, body))["grantId"]
    page = await at_home.send("PUT", path, {"roleKeys": ["seller"]})
    assert refused(page, 400, 3) == {"roleKeys[0]": "role.not_granted"}
    await at_home.grant(group, project, "buyer")
    await grouping.call("DELETE", f"{of_project}/{grant}")

    assert "grants" not in await at_home.shown(group)
    await events_agree(server.store)


async def test_a_role_that_is_deleted_is_gone_from_groups(server, grouping):
    group, project = await grouping.group(), await grouping.project("buyer", "seller")
    await grouping.grant(group, project, "buyer", "seller")
    roles = f"/management/v1/projects/{project}/roles"

    await grouping.call("DELETE", f"{roles}/buyer")
    assert (await grouping.shown(group))["grants"][0]["roleKeys"] == ["seller"]
    await grouping.call("DELETE", f"{roles}/seller")
    assert "grants" not in await grouping.shown(group)
    await events_agree(server.store)


async def test_a_deleted_group_leaves_nothing(server, grouping):
    group, project = await grouping.group(), await grouping.project("buyer")
    await grouping.add(group, *[await grouping.user() for _ in range(3)])
    await grouping.grant(group, project, "buyer")

    await grouping.call("DELETE", f"{PATH}/{group}")
    await deferred_work.process_due(server.service)

    assert await server.store.count(GROUP_MEMBERS, {}) == 0
    assert await server.store.count(GROUP_GRANTS, {}) == 0
    await events_agree(server.store)


async def test_a_deleted_user_is_in_no_group(server, grouping):
    group, user = await grouping.group(), await grouping.user()
    await grouping.add(group, user, await grouping.user())

    await grouping.call("DELETE", f"/v2/users/{user}")

    assert user not in await grouping.members(group)
    assert (await grouping.shown(group))["memberCount"] == 1
    await events_agree(server.store)


async def test_an_organization_takes_its_groups_along(server, owner):
    home = await new_organization(server, "home.example")
    grouping = Grouping(owner, home.id)
    group, project = await grouping.group(), await grouping.project("buyer")
    await grouping.add(group, await grouping.user())
    await grouping.grant(group, project, "buyer")

    await grouping.call("DELETE", f"/admin/v1/orgs/{home.id}")
    await deferred_work.process_due(server.service)

    for collection in (GROUPS, GROUP_MEMBERS, GROUP_GRANTS):
        assert await server.store.count(collection, {}) == 0
    await events_agree(server.store)


@pytest.mark.parametrize(
    ("limit", "error_code"),
    [
        ("MAX_GROUPS", "group.too_many"),
        ("MAX_MEMBERS", "group.too_many_members"),
        ("MAX_GROUPS_OF_USER", "group.too_many_of_user"),
    ],
)
async def test_limits_hold(server, grouping, monkeypatch, limit, error_code):
    full, other = await grouping.group(), await grouping.group()
    user, second = await grouping.user(), await grouping.user()
    await grouping.add(full, user)
    monkeypatch.setattr(domain, limit, 1)
    before = await everything(server.store)

    if limit == "MAX_GROUPS":
        page = await grouping.send("POST", PATH, {"name": "One more"})
    elif limit == "MAX_MEMBERS":
        page = await grouping.send("POST", f"{PATH}/{full}/users", {"userIds": [second]})
    else:
        page = await grouping.send("POST", f"{PATH}/{other}/users", {"userIds": [user]})

    assert error_code in refused(page, 400, 9).values()
    assert await everything(server.store) == before


async def test_another_organizations_groups_are_nobodys_business(server, visitor, grouping):
    group, user = await grouping.group(), await grouping.user()
    elsewhere = await new_organization(server, "other.example")
    stranger = Grouping(await new_caller(server, visitor, elsewhere, "ORG_OWNER"))
    project = await grouping.project("buyer")
    await grouping.add(group, user)
    before = await everything(server.store)

    for method, path, body in [
        ("GET", "", None),
        ("PUT", "", {"name": "Mine"}),
        ("DELETE", "", None),
        ("POST", "/users", {"userIds": [user]}),
        ("POST", "/users/_search", {}),
        ("DELETE", f"/users?userId={user}", None),
        ("PUT", f"/grants/{project}", {"roleKeys": ["buyer"]}),
        ("DELETE", f"/grants/{project}", None),
    ]:
        page = await stranger.send(method, f"{PATH}/{group}{path}", body)
        assert page.status == 404, (method, path, page.text)
    found = await stranger.call("POST", f"{PATH}/_search", {})
    by_user = {"queries": [{"userIdQuery": {"userId": user}}]}
    assert "result" not in found
    assert "result" not in await stranger.call("POST", f"{PATH}/_search", by_user)
    assert await everything(server.store) == before
