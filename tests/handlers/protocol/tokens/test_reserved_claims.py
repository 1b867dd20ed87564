"""Metadata, the organization of a user, service users, and personal access tokens."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest

from idp.identity.users import creation as user_creation
from idp.identity.users import lookup as user_lookup
from idp.identity.users import personal_access_tokens as user_personal_access_tokens
from idp.records import (
    USER_METADATA,
    USERS,
    Email,
    Profile,
)
from storage import Insert, Update
from tests.support.attacks.forged import part
from tests.support.protocol.answers import assert_granted
from tests.support.protocol.claiming import (
    ALL_ROLES,
    IAM,
    add_organization,
    add_project,
    assign,
    introspected,
    machine_of,
    organization_of,
    own_token,
    project_of,
    roles_of,
    tokens_of,
    user_of,
)

METADATA = f"{IAM}user:metadata"
OWNER = f"{IAM}user:resourceowner"
OCTETS = {
    "plain": b"value",
    "empty-ish": b"\0",
    "letters": b"\xfb\xff\xfe?>",
    "text": "ä".encode(),
}


def url_safe(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


async def keep(server, user_id: str, **entries: bytes) -> None:
    user = await server.store.get(USERS, user_id)
    for key, octets in entries.items():
        value = base64.b64encode(octets).decode()
        entry = user_creation.metadata_entry(user, key, value, server.clock.now())
        await server.store.commit(Insert(USER_METADATA, entry))


async def userinfo_claims(server, visitor, party, scope: str) -> dict:
    """What userinfo says to a token of these scopes."""
    tokens = await tokens_of(server, visitor, party, f"openid {scope}")
    return (await party.userinfo(visitor, tokens["access_token"])).json()


async def test_metadata_comes_by_its_scope_as_base64url(server, visitor, demo):
    await keep(server, (await user_of(server)).id, **OCTETS)
    claims = await userinfo_claims(server, visitor, demo, METADATA)

    assert claims[METADATA] == {key: url_safe(octets) for key, octets in OCTETS.items()}
    assert METADATA not in await userinfo_claims(server, visitor, demo, "profile")


async def test_metadata_of_others_and_none_at_all_are_left_out(server, visitor, demo):
    other, _ = await server.copy_user("otto")
    await keep(server, (await user_of(server, other)).id, key=b"value")

    assert METADATA not in await userinfo_claims(server, visitor, demo, METADATA)


async def test_metadata_is_returned_at_introspection_and_in_an_id_token_with_claims(
    server, visitor
):
    await keep(server, (await user_of(server)).id, key=b"value")
    party = await server.register(id_token_userinfo_assertion=True)
    tokens = await party.tokens(visitor, *server.user, scope=f"openid {METADATA}")
    said = await introspected(visitor, party, tokens["access_token"])

    assert said[METADATA] == part(tokens["id_token"], 1)[METADATA] == {"key": url_safe(b"value")}


async def test_metadata_that_no_token_can_carry_is_left_to_userinfo(server, visitor):
    await keep(server, (await user_of(server)).id, large=b"v" * 10_000)
    party = await server.register(id_token_userinfo_assertion=True)
    tokens = await party.tokens(visitor, *server.user, scope=f"openid profile {METADATA}")
    claims = (await party.userinfo(visitor, tokens["access_token"])).json()

    assert METADATA not in part(tokens["id_token"], 1)
    assert part(tokens["id_token"], 1)["name"] == claims["name"]
    assert claims[METADATA] == {"large": url_safe(b"v" * 10_000)}


async def test_metadata_is_bounded(server, visitor, demo):
    user = await user_of(server)
    await keep(server, user.id, **{f"{number:03}": b"value" for number in range(120)})
    claims = await userinfo_claims(server, visitor, demo, METADATA)

    assert list(claims[METADATA]) == [f"{number:03}" for number in range(100)]


async def test_metadata_of_a_million_characters_is_the_most(server, visitor, demo):
    user, large = await user_of(server), b"v" * 374_000
    await keep(server, user.id, a=large, b=large, c=large)
    claims = await userinfo_claims(server, visitor, demo, METADATA)

    assert list(claims[METADATA]) == ["a", "b"]


@pytest.mark.parametrize("scope", [OWNER, f"{IAM}org:id:{{id}}", f"{IAM}org:domain:primary:{{d}}"])
async def test_the_organization_of_the_user_is_returned(server, visitor, demo, scope):
    home = await organization_of(server)
    scope = scope.format(id=home.id, d=home.primary_domain)
    claims = await userinfo_claims(server, visitor, demo, scope)

    assert {name: value for name, value in claims.items() if name.startswith(OWNER)} == {
        f"{OWNER}:id": home.id,
        f"{OWNER}:name": home.name,
        f"{OWNER}:primary_domain": home.primary_domain,
    }


async def test_it_is_not_returned_unrequested(server, visitor, demo):
    claims = await userinfo_claims(server, visitor, demo, "profile email")

    assert not any(name.startswith("urn:") for name in claims)


FULL = Profile(
    display_name="Robot",
    given_name="R.",
    family_name="Obot",
    nick_name="Robbie",
    gender="diverse",
    preferred_language="de",
)


@pytest.mark.promise("userinfo: claims of each scope")
async def test_of_a_service_user_the_profile_is_its_name(server, visitor):
    machine = await machine_of(server, visitor, profile=FULL)
    user = await server.store.get(USERS, machine.client_id)
    scope = "openid profile email phone address"
    token = assert_granted(await own_token(visitor, machine, scope))["access_token"]

    assert (await machine.userinfo(visitor, token)).json() == {
        "sub": user.id,
        "name": "Robot",
        "preferred_username": user.user_name,
        "updated_at": int(user.changed_at.timestamp()),
    }


async def new_pat(server, user_id: str) -> str:
    subject = await user_lookup.find_subject(server.service, user_id)
    now, random = server.clock.now(), server.service.random
    record, token = user_personal_access_tokens.new(
        random, "idp", subject, now, now + timedelta(days=1)
    )
    await server.store.commit(Insert(user_personal_access_tokens.PATS, record))
    return token


async def test_a_personal_access_token_gives_all_claims_of_its_user(server, visitor, demo):
    machine = await machine_of(server, visitor, profile=FULL)
    home = await organization_of(server)
    own, shop = await project_of(server, demo), await add_project(server)
    stranger = await add_organization(server, "Stranger")
    foreign = await add_project(server, "Foreign", stranger.id)
    for project in (own, shop, foreign):
        await assign(server, machine.client_id, project, "reader")
    await keep(server, machine.client_id, key=b"value")
    token = await new_pat(server, machine.client_id)
    claims = (await machine.userinfo(visitor, token)).json()
    said = await introspected(visitor, demo, token)

    here = {"reader": {home.id: home.primary_domain}}
    assert claims["name"] == said["name"] == "Robot"
    assert claims[METADATA] == said[METADATA] == {"key": url_safe(b"value")}
    assert claims[f"{OWNER}:id"] == said[f"{OWNER}:id"] == home.id
    assert claims[roles_of(own)] == claims[roles_of(shop)] == said[roles_of(own)] == here
    assert roles_of(foreign) not in claims
    assert roles_of(shop) not in said
    assert said["aud"] == [server.issuer, own]
    assert said["scope"].split(" ") == ["openid", "profile", "email", ALL_ROLES, METADATA, OWNER]


@pytest.mark.promise("userinfo: unknown values")
async def test_an_empty_value_is_never_returned(server, visitor, demo):
    changes = {"email": Email(address="", is_verified=False), "profile.nick_name": ""}
    await server.store.commit(Update(USERS, (await user_of(server)).id, set=changes))
    scope = f"profile email phone address {METADATA} {ALL_ROLES}"
    claims = await userinfo_claims(server, visitor, demo, scope)

    assert not {"", None} & {value for value in claims.values() if not isinstance(value, dict)}
    assert {} not in claims.values()
