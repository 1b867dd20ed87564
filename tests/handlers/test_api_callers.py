"""Every caller at every route of the management API (U7, U8, M1, M11)."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from handlers.api import ApiHandler
from handlers.app import ROUTES
from idp.identity import permissions
from idp.identity.permissions import INSTANCE_ROLES, ORGANIZATION_ROLES
from idp.records import AUTHORIZATIONS, MEMBERSHIPS, ORGANIZATIONS, USERS
from idp.records import PATS as STORED_PATS
from storage import Delete, Update
from tests.support.api_samples import MACHINES, PATS, SAMPLES, filled
from tests.support.callers import Caller, instance_owner, new_caller, new_organization, refused
from tests.support.stored import everything, only

API = [(route, handler) for route, handler in ROUTES if issubclass(handler, ApiHandler)]
CALLS = [
    (route, method.upper())
    for route, handler in API
    for method in ("get", "post", "put", "patch", "delete")
    if method in vars(handler)
]
PERMISSIONS = {
    (route, method): handler.permission_of(method)
    for route, handler in API
    for named, method in CALLS
    if named == route
}


@pytest.fixture
def owner(io_loop, server, visitor):
    return io_loop.run_sync(lambda: instance_owner(server, visitor))


class World:
    """Two organizations; the first has a project, an application, a person, a service user, and
    enough users to make members of."""

    def __init__(self, server, visitor, owner):
        self.server, self.visitor, self.owner = server, visitor, owner
        self.n, self.members = 0, ["nobody"]

    async def make(self):
        self.own = await new_organization(self.server, "own.example")
        self.other = await new_organization(self.server, "other.example")
        here = {"x-idp-orgid": self.own.id}
        made = await self.owner.post("/management/v1/projects", {"name": "P"}, **here)
        self.project = made.json()["id"]
        app = await self.owner.post(
            f"/management/v1/projects/{self.project}/apps/oidc", {"name": "A"}, **here
        )
        self.app = app.json()["appId"]
        person = self.body("/v2/users/human")
        machine = filled(SAMPLES[MACHINES].bodies[0], n="w")
        self.machine = (await self.owner.post(MACHINES, machine, **here)).json()["userId"]
        members = [await new_caller(self.server, self.visitor, self.own) for _ in range(16)]
        self.members = [each.user_id for each in members]
        self.user = (await self.owner.post("/v2/users/human", person, **here)).json()["userId"]
        return self

    def address(self, route):
        route = re.sub(r"\(email\|phone\)", "email", route)
        user = self.machine if route == PATS else self.user
        ids = [user if "/users/" in route else self.project, self.app]
        for id in ids:
            route = route.replace("([^/]+)", id, 1)
        return route

    def body(self, route):
        self.n += 1
        if route not in SAMPLES:
            return None
        member = self.members[self.n % len(self.members)]
        return filled(SAMPLES[route].bodies[0], n=f"w{self.n}", member=member)

    async def call(self, caller, route, method, **headers):
        body = self.body(route) if method != "GET" else None
        return await caller.request(method, self.address(route), body, **headers)


@pytest.fixture
def world(io_loop, server, visitor, owner):
    return io_loop.run_sync(lambda: World(server, visitor, owner).make())


def is_admitted(page):
    """200, or what is wrong with a code that the sample made up."""
    if page.status == 400:
        return "verificationCode" in refused(page, 400, 3)
    return page.status == 200


def test_every_route_of_the_api_says_which_permission_it_needs():
    undeclared = [
        route for route, method in CALLS if PERMISSIONS[route, method] not in permissions.ALL
    ]

    assert CALLS
    assert undeclared == []


@pytest.mark.parametrize(("route", "method"), CALLS)
async def test_without_a_valid_token_a_call_is_401(
    server, visitor, new_visitor, demo, world, route, method
):
    browser = new_visitor()
    tokens = await demo.tokens(browser, *server.user)
    tokens_jwt = await (await server.register(access_token_type="jwt")).tokens(
        new_visitor(), *server.user
    )
    others = [
        None,
        "nonsense",
        "v1.a.b",
        "a.b.c",
        "idp_pat_",
        "idp_pat_" + "A" * 65,
        world.owner.token[:-1],
        world.owner.token + "A",
        world.owner.token[:-1] + ("A" if world.owner.token[-1] != "A" else "B"),
        tokens["id_token"],
        tokens["access_token"],
        tokens["refresh_token"],
        tokens_jwt["access_token"],
        demo.client_secret,
        next(iter(browser.cookies.jar)).value,
        world.user,
        "t" * 10_000,
    ]
    before = await everything(server.store)
    for token in others:
        page = await world.call(Caller(visitor, token), route, method)
        slug = refused(page, 401, 16)[""]
        assert slug == ("token.missing" if token is None else slug)
        assert page.headers["WWW-Authenticate"].startswith('Bearer realm="idp"'), token
        assert page.headers["Cache-Control"] == "no-store"
    assert await everything(server.store) == before


@pytest.mark.parametrize(("route", "method"), CALLS)
async def test_other_schemes_are_401(server, visitor, demo, world, route, method):
    headers = [
        demo.basic()["Authorization"],
        "Bearer",
        f"Token {world.owner.token}",
        world.owner.token,
        f"Bearer {world.owner.token}, Bearer {world.owner.token}",
    ]
    for value in headers:
        page = await world.call(Caller(visitor, None), route, method, Authorization=value)
        refused(page, 401, 16)


@pytest.mark.parametrize(("route", "method"), CALLS)
async def test_a_token_in_the_address_or_a_cookie_opens_nothing(visitor, world, route, method):
    url = f"{world.address(route)}?access_token={world.owner.token}"
    page = await visitor.request(method, url, headers={"Cookie": f"token={world.owner.token}"})

    refused(page, 401, 16)


@pytest.mark.parametrize(("route", "method"), CALLS)
async def test_a_role_opens_what_its_table_says(server, visitor, world, route, method):
    needed = PERMISSIONS[route, method]
    for everywhere, table in ((True, INSTANCE_ROLES), (False, ORGANIZATION_ROLES)):
        for role, held in table.items():
            caller = await new_caller(server, visitor, world.own, role, everywhere=everywhere)
            before = await everything(server.store)
            page = await world.call(caller, route, method)

            if needed in held:
                assert is_admitted(page), (role, page.text)
            else:
                assert refused(page, 403, 7) == {"": "permission_denied"}, role
                assert await everything(server.store) == before


@pytest.mark.parametrize(("route", "method"), CALLS)
async def test_without_a_role_that_counts_a_call_is_403(server, visitor, world, route, method):
    for role in (None, "IAM_OWNER", "ORG_NOTHING", ""):
        caller = await new_caller(server, visitor, world.own, *([role] if role else []))
        before = await everything(server.store)
        page = await world.call(caller, route, method)

        assert refused(page, 403, 7) == {"": "permission_denied"}, role
        assert await everything(server.store) == before


@pytest.mark.parametrize(("route", "method"), CALLS)
async def test_an_organization_s_role_counts_nowhere_else(server, visitor, world, route, method):
    stranger = await new_caller(server, visitor, world.other, "ORG_OWNER")
    before = await everything(server.store)
    named = await world.call(stranger, route, method, x_idp_orgid=world.own.id)
    nobody = await world.call(stranger, route, method, x_idp_orgid="nobody")

    assert refused(named, 403, 7) == refused(nobody, 403, 7) == {"": "permission_denied"}
    if "([^/]+)" in route:
        unnamed = await world.call(stranger, route, method)
        own = await world.call(stranger, route, method, x_idp_orgid=world.other.id)
        assert set(refused(unnamed, 404, 5)) == set(refused(own, 404, 5)) == {""}
    assert await everything(server.store) == before
    for page in (named, nobody):
        assert world.own.name not in page.text


@pytest.mark.parametrize(("route", "method"), [call for call in CALLS if "(" in call[0]])
async def test_what_is_not_there_is_404_alike_for_all_who_may_look(
    server, visitor, world, route, method
):
    manager = await new_caller(server, visitor, world.own, "ORG_OWNER")
    pattern = re.sub(r"\(email\|phone\)", "email", route)
    for id in ("nobody", "x" * 200, "x" * 300, "%00", "%ff", "%2e%2e", "ä", "a b"):
        for caller in (world.owner, manager):
            address = pattern.replace("([^/]+)", id)
            page = await caller.request(method, address, world.body(route))

            assert set(refused(page, 404, 5)) == {""}, id


@pytest.mark.parametrize(("route", "method"), CALLS)
async def test_the_instance_s_owner_is_told_that_an_organization_does_not_exist(
    server, world, route, method
):
    before = await everything(server.store)
    page = await world.call(world.owner, route, method, x_idp_orgid="nobody")

    assert refused(page, 404, 5) == {"": "organization.not_found"}
    assert await everything(server.store) == before


@pytest.mark.parametrize(("route", "method"), CALLS)
async def test_a_dead_token_is_401(server, visitor, world, route, method):
    for death in (revoke, lock, renew_stamp, delete, expire, deactivate_organization):
        caller = await new_caller(server, visitor, world.own, "IAM_OWNER", everywhere=True)
        assert is_admitted(await world.call(caller, route, method))
        await death(server, caller)
        before = await everything(server.store)

        refused(await world.call(caller, route, method), 401, 16)
        assert await everything(server.store) == before


async def revoke(server, caller):
    held = await server.store.find(STORED_PATS, {"user_id": caller.user_id})
    await server.store.commit(Delete(STORED_PATS, held.records[0].id))


async def lock(server, caller):
    await server.store.commit(Update(USERS, caller.user_id, set={"state": "locked"}))


async def renew_stamp(server, caller):
    await server.store.commit(Update(USERS, caller.user_id, set={"stamp": "new"}))


async def delete(server, caller):
    await server.store.commit(Delete(USERS, caller.user_id))


async def expire(server, caller):
    server.clock.advance(timedelta(days=1))


async def deactivate_organization(server, caller):
    user = await server.store.get(USERS, caller.user_id)
    await server.store.commit(Update(ORGANIZATIONS, user.org_id, set={"state": "inactive"}))


async def test_a_role_that_is_taken_away_counts_no_more_at_once(server, visitor, world):
    caller = await new_caller(server, visitor, world.own, "ORG_OWNER")
    assert (await world.call(caller, "/management/v1/projects", "POST")).status == 200
    held = await server.store.find(MEMBERSHIPS, {"user_id": caller.user_id})
    await server.store.commit(Delete(MEMBERSHIPS, held.records[0].id))

    refused(await world.call(caller, "/management/v1/projects", "POST"), 403, 7)


async def test_an_access_token_for_the_service_itself_is_taken(server, new_visitor, demo, world):
    """None is issued today; one that names the issuer as its audience is as good as a PAT."""
    party = await server.register()
    browser = new_visitor()
    page = await browser.sign_in(party.authorize_url(), *server.user)
    authorization = await only(server.store, AUTHORIZATIONS)
    await server.store.commit(
        Update(AUTHORIZATIONS, authorization.id, set={"audience": [server.issuer]})
    )
    token = (await party.redeem(browser, page.answer["code"])).json()["access_token"]

    refused(await world.call(Caller(browser, token), "/management/v1/projects", "POST"), 403, 7)
