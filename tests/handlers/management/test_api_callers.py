"""Every caller at every route of the management API."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.identity.users import permissions
from idp.identity.users.permissions import INSTANCE_ROLES, ORGANIZATION_ROLES
from idp.records import AUTHORIZATIONS, MEMBERSHIPS, ORGANIZATIONS, USERS
from idp.records import PATS as STORED_PATS
from storage import Delete, Update
from tests.support.management.api_samples import CALLS, address
from tests.support.management.api_world import World
from tests.support.management.callers import (
    Caller,
    instance_owner,
    is_admitted,
    new_caller,
    refused,
)
from tests.support.samples import policies
from tests.support.slices import one_in
from tests.support.store.stored import everything, only

# Whoever asks has it: the same for everybody, or of their own organization.
OF_NOBODY = {"GET /management/v1/presets/{name}", *policies.OF_WHOEVER_ASKS}
# What `test_api_principals.py` tells of every call in short is told of some at length.
SOME_CALLS = one_in(12, CALLS)
OF_ORGANIZATIONS = {permission for held in ORGANIZATION_ROLES.values() for permission in held}


@pytest.fixture
def world(io_loop, server, visitor, owner):
    return io_loop.run_sync(lambda: World(server, visitor, owner).make())


@pytest.mark.promise(
    "client authentication: missing permission",
    "client authentication: creation of organizations and users",
)
def test_every_route_of_the_api_says_which_permission_it_needs():
    undeclared = [name for name, one in CALLS.items() if one.permission not in permissions.ALL]

    assert CALLS
    assert undeclared == []


@pytest.mark.full
@pytest.mark.parametrize("call", SOME_CALLS)
async def test_who_is_not_known_gets_401(server, visitor, new_visitor, demo, world, call):
    await without_a_valid_token_a_call_is_401(server, visitor, new_visitor, demo, world, call)
    await other_schemes_are_401(server, visitor, demo, world, call)
    await a_token_in_the_address_or_a_cookie_opens_nothing(visitor, world, call)


@pytest.mark.promise("organization setup: 403", "user creation: 403", "user import: permission")
@pytest.mark.parametrize("call", SOME_CALLS)
async def test_who_may_not_gets_403(server, visitor, world, call):
    await a_role_opens_what_its_table_says(server, visitor, world, call)
    await without_a_role_that_counts_a_call_is_403(server, visitor, world, call)
    await an_organization_s_role_counts_nowhere_else(server, visitor, world, call)


@pytest.mark.promise("organization setup: 404")
@pytest.mark.parametrize("call", SOME_CALLS)
async def test_what_is_gone_or_never_was_opens_nothing(server, visitor, world, call):
    if CALLS[call].parameters:
        await what_is_not_there_is_404_alike_for_all_who_may_look(server, visitor, world, call)
    await the_instance_s_owner_is_told_that_an_organization_does_not_exist(server, world, call)
    await a_dead_token_is_401(server, visitor, world, call)


async def without_a_valid_token_a_call_is_401(server, visitor, new_visitor, demo, world, call):
    browser = new_visitor()
    tokens = await demo.tokens(browser, *server.user)
    tokens_jwt = await (await server.register(access_token_type="jwt")).tokens(
        new_visitor(), *server.user
    )
    app = await server.register(grant_types=["client_credentials"])
    own = await app.token(new_visitor(), {"grant_type": "client_credentials"})
    others = [
        None,
        "nonsense",
        own.json()["access_token"],
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
    target = await world.target(CALLS[call])
    before = await everything(server.store)
    for token in others:
        page = await target.by(Caller(visitor, token))
        error_code = refused(page, 401, 16)[""]
        assert error_code == ("token.missing" if token is None else error_code)
        assert page.headers["WWW-Authenticate"].startswith('Bearer realm="idp"'), token
        assert page.headers["Cache-Control"] == "no-store"
    assert await everything(server.store) == before


async def other_schemes_are_401(server, visitor, demo, world, call):
    headers = [
        demo.basic()["Authorization"],
        "Bearer",
        f"Token {world.owner.token}",
        world.owner.token,
        f"Bearer {world.owner.token}, Bearer {world.owner.token}",
    ]
    target = await world.target(CALLS[call])
    for value in headers:
        page = await target.by(Caller(visitor, None), Authorization=value)
        refused(page, 401, 16)


async def a_token_in_the_address_or_a_cookie_opens_nothing(visitor, world, call):
    target = await world.target(CALLS[call])
    url = f"{target.address}?access_token={world.owner.token}"
    page = await visitor.request(
        target.method, url, headers={"Cookie": f"token={world.owner.token}"}
    )

    refused(page, 401, 16)


async def a_role_opens_what_its_table_says(server, visitor, world, call):
    needed = CALLS[call].permission
    for everywhere, table in ((True, INSTANCE_ROLES), (False, ORGANIZATION_ROLES)):
        for role, held in table.items():
            home = world.other if everywhere else world.own
            caller = await new_caller(server, visitor, home, role, everywhere=everywhere)
            target = await world.target(CALLS[call])
            before = await everything(server.store)
            page = await target.by(caller, **world.here)

            if needed in held:
                assert is_admitted(page), (role, page.text)
            else:
                assert refused(page, 403, 7) == {"": "permission_denied"}, role
                assert await everything(server.store) == before


async def without_a_role_that_counts_a_call_is_403(server, visitor, world, call):
    for role in (None, "IAM_OWNER", "ORG_NOTHING", ""):
        caller = await new_caller(server, visitor, world.own, *([role] if role else []))
        target = await world.target(CALLS[call])
        before = await everything(server.store)
        page = await target.by(caller)

        assert refused(page, 403, 7) == {"": "permission_denied"}, role
        assert await everything(server.store) == before


async def an_organization_s_role_counts_nowhere_else(server, visitor, world, call):
    stranger = await new_caller(server, visitor, world.other, "ORG_OWNER")
    target = await world.target(CALLS[call])
    before = await everything(server.store)
    named = await target.by(stranger, x_idp_orgid=world.own.id)
    nobody = await target.by(stranger, x_idp_orgid="nobody")

    assert refused(named, 403, 7) == refused(nobody, 403, 7) == {"": "permission_denied"}
    is_somebody_s = CALLS[call].parameters and call not in OF_NOBODY
    if is_somebody_s and CALLS[call].permission in OF_ORGANIZATIONS:
        unnamed = await target.by(stranger)
        own = await target.by(stranger, x_idp_orgid=world.other.id)
        assert set(refused(unnamed, 404, 5)) == set(refused(own, 404, 5)) == {""}
    assert await everything(server.store) == before
    for page in (named, nobody):
        assert world.own.name not in page.text


async def what_is_not_there_is_404_alike_for_all_who_may_look(server, visitor, world, call):
    manager = await new_caller(server, visitor, world.own, "ORG_OWNER")
    is_theirs = CALLS[call].permission in OF_ORGANIZATIONS
    for id in ("nobody", "x" * 200, "x" * 300, "%00", "%ff", "%2e%2e", "ä", "a b"):
        for caller in (world.owner, manager) if is_theirs else (world.owner,):
            url = address(CALLS[call], **dict.fromkeys(CALLS[call].parameters, id))
            page = await caller.request(CALLS[call].method, url, world.body(CALLS[call]))

            assert set(refused(page, 404, 5)) == {""}, id


async def the_instance_s_owner_is_told_that_an_organization_does_not_exist(server, world, call):
    target = await world.target(CALLS[call])
    before = await everything(server.store)
    page = await target.by(world.owner, x_idp_orgid="nobody")

    assert refused(page, 404, 5) == {"x-idp-orgid": "organization.not_found"}
    assert await everything(server.store) == before


async def a_dead_token_is_401(server, visitor, world, call):
    for death in (revoke, lock, renew_stamp, delete, expire, deactivate_organization):
        server.clock.advance(60)  # some calls are limited to a few a minute
        world.owner = await instance_owner(server, visitor)
        caller = await new_caller(server, visitor, world.other, "IAM_OWNER", everywhere=True)
        assert is_admitted(await (await world.target(CALLS[call])).by(caller, **world.here))
        target = await world.target(CALLS[call])
        await death(server, caller)
        before = await everything(server.store)

        refused(await target.by(caller), 401, 16)
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
    target = await world.target(CALLS["POST /management/v1/projects"])
    assert (await target.by(caller)).status == 200
    held = await server.store.find(MEMBERSHIPS, {"user_id": caller.user_id})
    await server.store.commit(Delete(MEMBERSHIPS, held.records[0].id))

    refused(await target.by(caller), 403, 7)


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

    target = await world.target(CALLS["POST /management/v1/projects"])
    refused(await target.by(Caller(browser, token)), 403, 7)
