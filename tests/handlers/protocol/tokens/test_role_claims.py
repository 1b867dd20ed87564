"""Roles in projects: told to whom they concern, when a scope or an option asks for them."""

from __future__ import annotations

import pytest

from idp.records import APPLICATIONS, ORGANIZATIONS, ROLE_ASSIGNMENTS
from idp.records.groups import GROUP_MEMBERS
from storage import Delete, Update
from tests.support.attacks.forged import part
from tests.support.protocol.answers import assert_granted
from tests.support.protocol.claiming import (
    ALL_ROLES,
    IAM,
    ROLES,
    add_organization,
    add_project,
    assign,
    introspected,
    machine_of,
    of_project,
    organization_of,
    own_token,
    project_of,
    roles_of,
    tokens_of,
    user_of,
)


class World:
    """The demo user with roles in the application's project, in another one, and in a foreign one.

    `own`, `shop` and `foreign` are the projects' ids; `here` is how a role of the demo's
    organization is told.
    """

    def __init__(self, server, visitor) -> None:
        self.server, self.visitor = server, visitor

    async def make(self):
        server = self.server
        self.party = await server.register(access_token_type="jwt")
        self.user, home = await user_of(server), await organization_of(server)
        self.here = {home.id: home.primary_domain}
        self.stranger = await add_organization(server, "Stranger")
        self.own = await project_of(server, self.party)
        self.shop = await add_project(server)
        self.foreign = await add_project(server, "Foreign", self.stranger.id)
        self.assignment = await assign(server, self.user.id, self.own, "reader", "writer")
        await assign(server, self.user.id, self.shop, "buyer")
        await assign(server, self.user.id, self.foreign, "boss")
        return self

    async def options(self, **changes) -> None:
        await self.server.store.commit(Update(APPLICATIONS, self.party.client_id, set=changes))

    async def tokens(self, *scopes: str) -> dict:
        scope = " ".join(["openid", "offline_access", *scopes])
        return await tokens_of(self.server, self.visitor, self.party, scope)

    async def userinfo(self, *scopes: str) -> dict:
        token = (await self.tokens(*scopes))["access_token"]
        return (await self.party.userinfo(self.visitor, token)).json()


@pytest.fixture
def world(io_loop, server, visitor) -> World:
    return io_loop.run_sync(World(server, visitor).make)


def roles_in(claims: dict) -> dict:
    return {name: value for name, value in claims.items() if ":roles" in name}


async def test_a_client_that_does_not_request_roles_gets_none(world):
    tokens = await world.tokens("profile")
    told = (await world.party.userinfo(world.visitor, tokens["access_token"])).json()
    said = await introspected(world.visitor, world.party, tokens["access_token"])

    for claims in (told, said, part(tokens["id_token"], 1), part(tokens["access_token"], 1)):
        assert roles_in(claims) == {}


async def test_a_role_scope_asks_for_one_role_in_the_own_project(world):
    told = await world.userinfo(f"{IAM}org:project:role:reader")

    expected = {"reader": world.here}
    assert roles_in(told) == {ROLES: expected, roles_of(world.own): expected}


async def test_several_role_scopes_ask_for_several_roles(world):
    scopes = [f"{IAM}org:project:role:{key}" for key in ("reader", "writer", "boss", "buyer")]
    told = await world.userinfo(*scopes)

    assert told[ROLES] == {"reader": world.here, "writer": world.here}


async def test_a_role_that_the_user_does_not_have_there_is_left_out(world):
    assert roles_in(await world.userinfo(f"{IAM}org:project:role:boss")) == {}
    told = await world.userinfo(f"{IAM}org:project:role:buyer", of_project(world.shop))
    assert roles_in(told) == {}


async def test_all_roles_are_those_of_the_projects_in_the_audience(world):
    both = {"reader": world.here, "writer": world.here}
    shop = of_project(world.shop)

    own = {ROLES: both, roles_of(world.own): both}
    assert roles_in(await world.userinfo(ALL_ROLES)) == own
    told = await world.userinfo(ALL_ROLES, shop, of_project(world.foreign))
    assert roles_in(told) == own | {roles_of(world.shop): {"buyer": world.here}}


async def test_the_roles_of_one_organization_can_be_asked_for(world):
    home = next(iter(world.here))

    told = await world.userinfo(ALL_ROLES, f"{IAM}org:roles:id:{home}")
    assert set(told[ROLES]) == {"reader", "writer"}
    told = await world.userinfo(ALL_ROLES, f"{IAM}org:roles:id:{world.stranger.id}")
    assert roles_in(told) == {}


async def test_roles_are_those_of_now(world):
    token = (await world.tokens(ALL_ROLES))["access_token"]
    await world.server.store.commit(
        Update(ROLE_ASSIGNMENTS, world.assignment, set={"role_keys": ["writer"]})
    )
    told = (await world.party.userinfo(world.visitor, token)).json()
    assert told[ROLES] == {"writer": world.here}

    await world.server.store.commit(Delete(ROLE_ASSIGNMENTS, world.assignment))
    told = (await world.party.userinfo(world.visitor, token)).json()
    assert roles_in(told) == {}


async def test_roles_of_an_organization_that_is_not_active_are_not_returned(world):
    await world.options(project_id=world.foreign)
    told = await world.userinfo(ALL_ROLES)
    assert told[ROLES] == {"boss": {world.stranger.id: "stranger.example"}}

    await world.server.store.commit(
        Update(ORGANIZATIONS, world.stranger.id, set={"state": "inactive"})
    )
    assert roles_in(await world.userinfo(ALL_ROLES)) == {}


async def test_the_id_token_has_roles_by_an_option(world):
    asked = await world.tokens(ALL_ROLES)
    await world.options(id_token_role_assertion=True)
    told = await world.tokens()
    narrow = await world.tokens(f"{IAM}org:project:role:writer")

    assert roles_in(part(asked["id_token"], 1)) == {}
    both = {"reader": world.here, "writer": world.here}
    assert roles_in(part(told["id_token"], 1)) == {ROLES: both, roles_of(world.own): both}
    assert part(narrow["id_token"], 1)[ROLES] == {"writer": world.here}
    assert "name" not in part(told["id_token"], 1)


async def test_an_id_token_with_claims_has_the_roles_that_are_requested(world):
    await world.options(id_token_userinfo_assertion=True)

    assert roles_in(part((await world.tokens("profile"))["id_token"], 1)) == {}
    assert ROLES in part((await world.tokens(ALL_ROLES))["id_token"], 1)


async def test_a_jwt_access_token_has_roles_by_an_option(world):
    await world.options(access_token_role_assertion=True)
    tokens = await world.tokens(ALL_ROLES, of_project(world.shop))
    fresh = (await world.party.refresh(world.visitor, tokens["refresh_token"])).json()

    for each in (tokens, fresh):
        said = part(each["access_token"], 1)
        assert said[ROLES] == {"reader": world.here, "writer": world.here}
        assert said[roles_of(world.shop)] == {"buyer": world.here}
        assert roles_in(part(each["id_token"], 1)) == {}


async def test_a_token_with_roles_still_counts(world):
    await world.options(access_token_role_assertion=True)
    token = (await world.tokens())["access_token"]

    assert (await world.party.userinfo(world.visitor, token)).status == 200


async def test_roles_that_no_token_can_carry_are_left_to_userinfo(world):
    many = [f"a-role-with-a-long-name-number-{number}" for number in range(100)]
    await world.server.store.commit(
        Update(ROLE_ASSIGNMENTS, world.assignment, set={"role_keys": many})
    )
    await world.options(access_token_role_assertion=True, id_token_role_assertion=True)
    tokens = await world.tokens(ALL_ROLES)
    told = (await world.party.userinfo(world.visitor, tokens["access_token"])).json()

    assert roles_in(part(tokens["access_token"], 1)) == {}
    assert roles_in(part(tokens["id_token"], 1)) == {}
    assert list(told[ROLES]) == many


async def test_the_flat_list_comes_under_the_configured_name_wherever_roles_do(world):
    await world.options(
        groups_claim="groups", id_token_role_assertion=True, access_token_role_assertion=True
    )
    tokens = await world.tokens(f"{IAM}org:project:role:writer")
    told = (await world.party.userinfo(world.visitor, tokens["access_token"])).json()
    said = await introspected(world.visitor, world.party, tokens["access_token"])

    for claims in (told, said, part(tokens["id_token"], 1), part(tokens["access_token"], 1)):
        assert claims["groups"] == ["writer"]
    plain = await world.userinfo("profile")
    assert "groups" not in plain


async def test_a_client_that_introspects_gets_the_roles_in_its_own_project(world):
    reader = await world.server.register("Shop API", app_type="api", groups_claim="groups")
    await world.server.store.commit(
        Update(APPLICATIONS, reader.client_id, set={"project_id": world.shop})
    )
    token = (await world.tokens(ALL_ROLES, of_project(world.shop)))["access_token"]
    said = await introspected(world.visitor, reader, token)

    assert said[ROLES] == said[roles_of(world.shop)] == {"buyer": world.here}
    assert said["groups"] == ["buyer"]
    assert set(said[roles_of(world.own)]) == {"reader", "writer"}


async def test_a_service_user_gets_its_roles_in_the_projects_that_it_names(world):
    machine = await machine_of(world.server, world.visitor, access_token_type="jwt")
    await assign(world.server, machine.client_id, world.own, "reader")
    await assign(world.server, machine.client_id, world.shop, "seller")
    scope = f"openid {ALL_ROLES} {of_project(world.shop)}"
    token = assert_granted(await own_token(world.visitor, machine, scope))["access_token"]
    told = (await machine.userinfo(world.visitor, token)).json()

    expected = {roles_of(world.shop): {"seller": world.here}}
    assert roles_in(told) == roles_in(part(token, 1)) == expected
    plain = assert_granted(await own_token(world.visitor, machine, of_project(world.shop)))
    assert roles_in(part(plain["access_token"], 1)) == {}


async def test_a_role_scope_of_a_service_user_is_for_the_projects_that_it_names(world):
    machine = await machine_of(world.server, world.visitor)
    await assign(world.server, machine.client_id, world.shop, "seller", "buyer")
    scope = f"openid {IAM}org:project:role:buyer {of_project(world.shop)}"
    token = assert_granted(await own_token(world.visitor, machine, scope))["access_token"]

    told = (await machine.userinfo(world.visitor, token)).json()
    assert roles_in(told) == {roles_of(world.shop): {"buyer": world.here}}


async def test_roles_cost_two_reads_and_only_those_who_ask_for_them(world):
    asking = (await world.tokens(ALL_ROLES))["access_token"]
    plain = (await world.tokens("profile"))["access_token"]
    finds = []
    find = world.server.store.find

    async def counted(collection, *args, **options):
        finds.append(collection)
        return await find(collection, *args, **options)

    world.server.store.find = counted
    await world.party.userinfo(world.visitor, plain)
    assert finds == []
    await world.party.userinfo(world.visitor, asking)
    # At the same time: they are one round trip.
    assert finds == [ROLE_ASSIGNMENTS, GROUP_MEMBERS]
