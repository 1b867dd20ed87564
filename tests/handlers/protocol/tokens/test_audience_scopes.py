"""Whom access tokens are for: by project, and by the scopes that name an audience."""

from __future__ import annotations

import pytest

from idp.records import APPLICATIONS, SIGNING_KEYS, USERS
from storage import Update
from tests.support.attacks.forged import part
from tests.support.protocol.answers import assert_granted, assert_refused
from tests.support.protocol.claiming import (
    SERVICE,
    add_organization,
    add_project,
    introspected,
    machine_of,
    of_project,
    own_token,
    project_of,
)


async def change(server, party, **changes) -> None:
    await server.store.commit(Update(APPLICATIONS, party.client_id, set=changes))


async def issued(server, visitor, party, *scopes: str) -> tuple[list[str], list[str]]:
    """Audience and scopes of a signed-in user's token."""
    body = await party.tokens(visitor, *server.user, scope=" ".join(["openid", *scopes]))
    return part(body["access_token"], 1)["aud"], body["scope"].split(" ")


async def test_a_token_is_for_the_client_its_project_and_that_project_s_apis(
    server, visitor, jwt_client
):
    project = await project_of(server, jwt_client)
    api = await server.register("API", app_type="api")
    await server.register("Idle API", app_type="api", state="inactive")
    foreign = await server.register("Foreign API", app_type="api")
    await change(server, foreign, project_id="another")

    audience, _ = await issued(server, visitor, jwt_client)

    assert audience == [jwt_client.client_id, project, api.client_id]


async def test_no_more_than_twenty_apis_are_named(server, visitor, jwt_client):
    for number in range(22):
        await server.register(f"API {number}", app_type="api")

    audience, _ = await issued(server, visitor, jwt_client)

    assert len(audience) == 22
    assert len(set(audience)) == 22


async def test_an_api_that_came_later_still_introspects_by_its_project(
    server, visitor, jwt_client
):
    body = await jwt_client.tokens(visitor, *server.user, scope="openid")
    api = await server.register("API", app_type="api")

    assert (await introspected(visitor, api, body["access_token"]))["active"]


async def test_a_scope_adds_a_project_of_the_client_s_organization(server, visitor, jwt_client):
    shop, own = await add_project(server), await project_of(server, jwt_client)
    reader = await server.register("Shop API", app_type="api")
    await change(server, reader, project_id=shop)
    scope = of_project(shop)
    body = await jwt_client.tokens(visitor, *server.user, scope=f"openid {scope}")

    assert part(body["access_token"], 1)["aud"] == [jwt_client.client_id, own, shop]
    assert body["scope"] == f"openid {scope}"
    assert (await introspected(visitor, reader, body["access_token"]))["active"]


async def test_the_client_s_own_project_may_be_named_and_counts_once(server, visitor, jwt_client):
    own = await project_of(server, jwt_client)
    audience, scopes = await issued(server, visitor, jwt_client, of_project(own))

    assert audience == [jwt_client.client_id, own]
    assert of_project(own) in scopes


async def test_what_the_client_can_not_reach_is_dropped(server, visitor, jwt_client):
    stranger = await add_organization(server, "Stranger")
    foreign = await add_project(server, "Foreign", stranger.id)
    wanted = [of_project(foreign), of_project("unknown"), of_project(stranger.id), SERVICE]
    audience, scopes = await issued(server, visitor, jwt_client, *wanted)

    assert audience == [jwt_client.client_id, await project_of(server, jwt_client)]
    assert scopes == ["openid"]


async def test_no_more_than_twenty_projects_can_be_named(server, visitor, jwt_client):
    shops = [await add_project(server, f"Shop {number}") for number in range(22)]
    audience, scopes = await issued(server, visitor, jwt_client, *map(of_project, shops))

    assert audience[2:] == shops[:20]
    assert scopes[1:] == [of_project(each) for each in shops[:20]]


async def test_an_application_with_management_access_gets_tokens_for_the_service(
    server, visitor, jwt_client
):
    await change(server, jwt_client, has_management_access=True)
    audience, scopes = await issued(server, visitor, jwt_client, SERVICE)

    assert server.issuer in audience
    assert SERVICE in scopes


async def test_without_the_scope_management_access_gives_nothing(server, visitor, jwt_client):
    await change(server, jwt_client, has_management_access=True)

    assert server.issuer not in (await issued(server, visitor, jwt_client))[0]


@pytest.fixture
def managing(io_loop, server, visitor):
    """Tokens of an application with management access, which may be refreshed."""

    async def make():
        party = await server.register(access_token_type="jwt", has_management_access=True)
        scope = f"openid profile offline_access {SERVICE}"
        return party, await party.tokens(visitor, *server.user, scope=scope)

    return io_loop.run_sync(make)


async def test_a_refresh_keeps_audience_and_scopes(server, visitor, managing):
    party, tokens = managing
    fresh = (await party.refresh(visitor, tokens["refresh_token"])).json()

    assert fresh["scope"] == tokens["scope"]
    was, now = part(tokens["access_token"], 1)["aud"], part(fresh["access_token"], 1)["aud"]
    assert was == now


async def test_a_refresh_keeps_the_apis_of_the_first_moment(server, visitor, managing):
    party, tokens = managing
    await server.register("Later API", app_type="api")
    fresh = (await party.refresh(visitor, tokens["refresh_token"])).json()

    assert part(fresh["access_token"], 1)["aud"] == part(tokens["access_token"], 1)["aud"]


async def test_management_access_that_was_withdrawn_is_gone_with_the_next_refresh(
    server, visitor, managing
):
    party, tokens = managing
    await change(server, party, has_management_access=False)
    fresh = (await party.refresh(visitor, tokens["refresh_token"])).json()

    assert fresh["scope"] == "openid profile offline_access"
    assert server.issuer not in part(fresh["access_token"], 1)["aud"]


async def test_management_access_that_was_withdrawn_in_between_is_not_in_the_code(
    server, visitor, demo
):
    party = await server.register(access_token_type="jwt", has_management_access=True)
    url = party.authorize_url(scope=f"openid {SERVICE}")
    page = await visitor.sign_in(url, *server.user)
    await change(server, party, has_management_access=False)
    body = assert_granted(await party.redeem(visitor, page.answer["code"]))

    assert body["scope"] == "openid"
    assert server.issuer not in part(body["access_token"], 1)["aud"]


async def test_a_refresh_for_fewer_scopes_is_for_fewer_readers(server, visitor, managing):
    party, tokens = managing
    page = await party.refresh(visitor, tokens["refresh_token"], scope="openid")
    claims = part(page.json()["access_token"], 1)

    assert claims["aud"] == [party.client_id, await project_of(server, party)]


async def test_the_own_project_stays_whatever_a_refresh_leaves_out(server, visitor, jwt_client):
    own = await project_of(server, jwt_client)
    scope = f"openid offline_access {of_project(own)}"
    tokens = await jwt_client.tokens(visitor, *server.user, scope=scope)
    page = await jwt_client.refresh(visitor, tokens["refresh_token"], scope="openid")

    assert part(page.json()["access_token"], 1)["aud"] == [jwt_client.client_id, own]


async def test_a_service_user_names_the_service_and_projects_of_its_organization(server, visitor):
    machine = await machine_of(server, visitor, access_token_type="jwt")
    shop = await add_project(server)
    stranger = await add_organization(server, "Stranger")
    foreign = await add_project(server, "Foreign", stranger.id)
    scope = " ".join(["openid", *map(of_project, (shop, foreign, "unknown")), SERVICE])
    body = assert_granted(await own_token(visitor, machine, scope))

    assert body["scope"] == f"openid {of_project(shop)} {SERVICE}"
    said = part(body["access_token"], 1)
    assert said["aud"] == [machine.client_id, shop, server.issuer]


async def test_a_service_user_that_names_a_project_gets_nothing_for_the_service(server, visitor):
    machine = await machine_of(server, visitor)
    calls = f"/v2/users/{machine.client_id}"
    for scope, status in (
        (of_project(await add_project(server)), 401),
        (of_project("unknown"), 401),
        (SERVICE, 200),
        ("openid", 200),
    ):
        body = assert_granted(await own_token(visitor, machine, scope))
        headers = {"Authorization": f"Bearer {body['access_token']}"}
        assert (await visitor.get(calls, headers=headers)).status == status, scope


async def test_an_application_s_own_token_is_for_itself_its_project_and_what_it_names(
    server, visitor
):
    party = await server.register(access_token_type="jwt", grant_types=["client_credentials"])
    shop = await add_project(server)
    scope = f"{of_project(shop)} {SERVICE} {of_project('unknown')}"
    body = assert_granted(await own_token(visitor, party, scope))

    assert body["scope"] == of_project(shop)
    said = part(body["access_token"], 1)
    assert said["aud"] == [party.client_id, await project_of(server, party), shop]


async def test_without_an_audience_scope_an_own_token_costs_no_more_reads(server, visitor):
    party = await server.register(grant_types=["client_credentials"])
    machine = await machine_of(server, visitor)
    reads = []
    find, get_many = server.store.find, server.store.get_many

    async def counted_find(collection, *args, **options):
        if collection is not SIGNING_KEYS:  # which are read every few seconds
            reads.append("find")
        return await find(collection, *args, **options)

    async def counted_get_many(keys):
        reads.append("get_many")
        return await get_many(keys)

    server.store.find, server.store.get_many = counted_find, counted_get_many
    for caller in (party, machine):
        reads.clear()
        assert_granted(await own_token(visitor, caller, "openid profile"))
        assert reads == ["get_many"] * 2


@pytest.mark.parametrize("what", ["org:id:another", "org:domain:primary:another.example"])
async def test_own_tokens_are_not_given_for_another_organization(server, visitor, what):
    party = await server.register(grant_types=["client_credentials"])
    machine = await machine_of(server, visitor)

    for caller in (party, machine):
        page = await own_token(visitor, caller, f"openid urn:idp:iam:{what}")
        assert_refused(page, 400, "invalid_scope")


async def test_own_tokens_may_name_their_organization(server, visitor):
    machine = await machine_of(server, visitor)
    org_id = (await server.store.get(USERS, machine.client_id)).org_id
    scope = f"openid urn:idp:iam:org:id:{org_id}"

    assert assert_granted(await own_token(visitor, machine, scope))["scope"] == scope


async def test_a_scope_for_providers_that_are_not_there_is_unknown(server, visitor, jwt_client):
    scope = "urn:idp:iam:org:idp:id:1"
    machine = await machine_of(server, visitor)

    assert (await issued(server, visitor, jwt_client, scope))[1] == ["openid"]
    assert_refused(await own_token(visitor, machine, scope), 400, "invalid_scope")
