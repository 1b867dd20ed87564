"""Groups in claims: their names by the scope `groups`, and the roles that they give."""

from __future__ import annotations

import pytest

from idp.identity.users import groups as domain
from idp.records import APPLICATIONS
from idp.records.groups import GROUP_MEMBERS, GROUPS, member_id
from storage import Delete, Insert, Update
from tests.support.attacks.forged import part
from tests.support.management.api_samples import PROJECTS
from tests.support.management.grouping import Grouping
from tests.support.protocol.claiming import (
    ALL_ROLES,
    ROLES,
    add_project,
    assign,
    introspected,
    of_project,
    organization_of,
    project_of,
    roles_of,
    tokens_of,
    user_of,
)


class World:
    """The demo user, an application of theirs, and groups of their organization."""

    def __init__(self, server, visitor, owner) -> None:
        self.server, self.visitor, self.owner = server, visitor, owner

    async def make(self):
        self.party = await self.server.register(id_token_userinfo_assertion=True)
        self.user, self.home = await user_of(self.server), await organization_of(self.server)
        self.here = {self.home.id: self.home.primary_domain}
        self.grouping = Grouping(self.owner, self.home.id)
        self.own = await project_of(self.server, self.party)
        for key in ("reader", "writer"):
            body = {"roleKey": key, "displayName": key}
            await self.grouping.call("POST", f"{PROJECTS}/{self.own}/roles", body)
        return self

    async def joined(self, name: str, *keys: str) -> str:
        group = await self.grouping.group(name)
        await self.grouping.add(group, self.user.id)
        if keys:
            await self.grouping.grant(group, self.own, *keys)
        return group

    async def many(self, number: int) -> None:
        """Makes the user a member of so many groups."""
        units = []
        for n in range(number):
            group = domain.new(self.server.service, self.home.id, f"Group {n:03}", None)
            (member, *_), _ = domain.membership_change(
                self.server.service, group, self.user, None, ("manual", "a test")
            )
            units.append([Insert(GROUPS, group), member])
        assert not any(await self.server.store.commit_each(units))

    async def tokens(self, *scopes: str) -> dict:
        scope = " ".join(["openid", "offline_access", *scopes])
        return await tokens_of(self.server, self.visitor, self.party, scope)

    async def claims(self, *scopes: str) -> list[dict]:
        """What userinfo, introspection and the ID token tell."""
        tokens = await self.tokens(*scopes)
        userinfo = await self.party.userinfo(self.visitor, tokens["access_token"])
        said = await introspected(self.visitor, self.party, tokens["access_token"])
        return [userinfo.json(), said, part(tokens["id_token"], 1)]

    async def said(self, tokens) -> dict:
        return await introspected(self.visitor, self.party, tokens["access_token"])


@pytest.fixture
def world(io_loop, server, visitor, owner) -> World:
    return io_loop.run_sync(World(server, visitor, owner).make)


async def test_groups_are_told_to_whoever_asks_for_them(world):
    await world.joined("Sales")
    await world.joined("Marketing")
    await world.grouping.group("Nobody's")

    for claims in await world.claims("groups"):
        assert claims["groups"] == ["Marketing", "Sales"]
    for claims in await world.claims("profile"):
        assert "groups" not in claims


async def test_whoever_is_in_no_group_has_an_empty_list(world):
    for claims in await world.claims("groups"):
        assert claims["groups"] == []
        assert "groups_overage" not in claims


@pytest.mark.parametrize("number", [200, 201])
async def test_more_than_200_groups_are_left_out(world, number):
    await world.many(number)

    userinfo, said, _ = await world.claims("groups")
    for claims in (userinfo, said):
        if number == 200:
            assert claims["groups"] == [f"Group {n:03}" for n in range(200)]
            assert "groups_overage" not in claims
        else:
            assert claims["groups_overage"] is True
            assert "groups" not in claims


async def test_a_role_of_a_group_is_told_as_an_assigned_one(world):
    await world.joined("Sales", "reader")

    for claims in (await world.claims(ALL_ROLES))[:2]:
        assert claims[ROLES] == {"reader": world.here}
        assert claims[roles_of(world.own)] == {"reader": world.here}


async def test_roles_of_a_user_and_of_groups_are_told_together(world):
    await assign(world.server, world.user.id, world.own, "reader")
    await world.joined("Sales", "writer")
    await world.joined("Marketing", "reader", "writer")

    for claims in (await world.claims(ALL_ROLES))[:2]:
        assert claims[ROLES] == {"reader": world.here, "writer": world.here}


async def test_a_groups_role_in_another_project_is_told_if_that_is_asked_for(world):
    shop = await add_project(world.server)
    roles = f"{PROJECTS}/{shop}/roles"
    await world.grouping.call("POST", roles, {"roleKey": "buyer", "displayName": "Buyer"})
    group = await world.joined("Sales")
    await world.grouping.grant(group, shop, "buyer")

    userinfo, *_ = await world.claims(ALL_ROLES, of_project(shop))
    assert userinfo[roles_of(shop)] == {"buyer": world.here}
    assert ROLES not in userinfo
    userinfo, *_ = await world.claims(ALL_ROLES)
    assert roles_of(shop) not in userinfo


async def test_a_flat_list_of_roles_has_the_groups_roles_once(world):
    await world.server.store.commit(
        Update(APPLICATIONS, world.party.client_id, set={"groups_claim": "groups"})
    )
    await assign(world.server, world.user.id, world.own, "reader")
    await world.joined("Sales", "reader", "writer")

    userinfo, *_ = await world.claims(ALL_ROLES, "groups")
    assert userinfo["groups"] == ["reader", "writer"]


@pytest.mark.promise("groups: removed members")
async def test_a_removed_members_role_is_gone_at_once(world):
    group = await world.joined("Sales", "reader")
    tokens = await world.tokens(ALL_ROLES, "groups")
    assert (await world.said(tokens))[ROLES] == {"reader": world.here}

    assert (await world.grouping.remove(group, world.user.id)).status == 200

    assert ROLES not in await world.said(tokens)
    refreshed = await world.party.refresh(world.visitor, tokens["refresh_token"])
    claims = await world.said(refreshed.json())
    assert ROLES not in claims
    assert claims["groups"] == []


@pytest.mark.promise("groups: removed members")
@pytest.mark.parametrize("end", ["removed", "revoked", "deleted"])
async def test_whoever_may_use_an_application_by_a_group_loses_it_with_the_group(world, end):
    group = await world.joined("Sales", "reader")
    checks = {"name": "Demo", "projectRoleCheck": True}
    await world.grouping.call("PUT", f"{PROJECTS}/{world.own}", checks)
    tokens = await world.tokens()
    assert (await world.said(tokens))["active"]

    if end == "removed":
        await world.grouping.remove(group, world.user.id)
    elif end == "revoked":
        await world.grouping.call("DELETE", f"/v2/groups/{group}/grants/{world.own}")
    else:
        await world.grouping.call("DELETE", f"/v2/groups/{group}")

    assert await world.said(tokens) == {"active": False}
    refreshed = await world.party.refresh(world.visitor, tokens["refresh_token"])
    assert refreshed.json()["error"] == "invalid_grant"


async def test_what_ended_with_a_group_does_not_revive_with_another_one(world):
    group = await world.joined("Sales", "reader")
    checks = {"name": "Demo", "projectRoleCheck": True}
    await world.grouping.call("PUT", f"{PROJECTS}/{world.own}", checks)
    tokens = await world.tokens()
    await world.grouping.remove(group, world.user.id)

    await world.grouping.add(group, world.user.id)

    assert await world.said(tokens) == {"active": False}
    assert (await world.said(await world.tokens()))["active"]


async def test_a_group_that_another_one_replaces_gives_its_members_nothing(world):
    group = await world.joined("Sales", "reader")
    old = await world.server.store.get(GROUPS, group)
    again = domain.new(world.server.service, world.home.id, "Sales", None, group)
    await world.server.store.commit(Delete(GROUPS, group))
    await world.server.store.commit(Insert(GROUPS, again))
    assert old.generation != again.generation

    userinfo, *_ = await world.claims(ALL_ROLES, "groups")
    assert userinfo["groups"] == []
    assert ROLES not in userinfo
    await world.grouping.add(group, world.user.id)
    userinfo, *_ = await world.claims(ALL_ROLES, "groups")
    assert userinfo["groups"] == ["Sales"]
    assert ROLES not in userinfo
    member = await world.server.store.get(GROUP_MEMBERS, member_id(group, world.user.id))
    assert member.generation == again.generation
