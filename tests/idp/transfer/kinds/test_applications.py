"""Projects, applications, roles and keys of a package: they work as before, or are refused."""

from __future__ import annotations

import pytest

from idp.foundation import opaque_tokens
from idp.records import (
    APP_KEYS,
    APPLICATIONS,
    CLIENT_ORIGINS,
    PROJECTS,
    ROLE_ASSIGNMENTS,
    USER_KEYS,
)
from tests.support.protocol.relying_party import RelyingParty
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything
from tests.support.transfer.bringing import exported_org
from tests.support.transfer.bringing_people import (
    API,
    GRANT,
    MEMBER,
    PROJECT,
    ROLE,
    SECRET,
    WHOLE,
    app_key,
    bring,
    outcome,
    row,
    web,
)


async def test_an_application_works_as_before(server, visitor):
    encoded = await server.service.hasher.hash("a lamp in the attic")
    local = f"{server.issuer}/cb"
    await bring(
        server,
        humanUsers=[row(hashedPassword={"value": encoded})],
        projects=[PROJECT],
        oidcApps=[web(redirectUris=[local], devMode=True)],
    )
    moved = RelyingParty(server.issuer, "app-1", SECRET, local, "")

    tokens = await moved.tokens(visitor, "road.runner", "a lamp in the attic")

    assert tokens["access_token"]
    origins = await server.store.find(CLIENT_ORIGINS, {"origin": server.issuer})
    assert "app-1" in {each.client_id for each in origins.records}
    await events_agree(server.store)


async def test_everything_that_hangs_together_comes_in_one_package(server):
    made = await bring(server, **WHOLE)

    assert {each.action for each in made} == {"create"}
    store = server.store
    assert (await store.get(PROJECTS, "p-1")).org_id == "acme"
    assert (await store.get(APPLICATIONS, "api-1")).auth_method == "private_key_jwt"
    assert (await store.get(APP_KEYS, "k-1")).owner_id == "api-1"
    assert (await store.get(USER_KEYS, "k-2")).owner_id == "robot-1"
    assert [each.id for each in made] == [
        "auth0|1",
        "robot-1",
        "auth0|1_shoes",
        "k-2",
        "p-1",
        "api-1",
        "app-1",
        "k-1",
        "p-1_buyer",
        "p-1_auth0|1",
        "auth0|1",
    ]
    await events_agree(store)


async def test_what_was_imported_is_exported_again_but_keys(server):
    await bring(server, **WHOLE)

    told = await exported_org(server, "acme", with_passwords=True)

    assert set(told) == set(WHOLE) - {"appKeys", "machineKeys"} | {"orgId", "org", "domains"}
    assert told["userGrants"] == [GRANT]
    assert told["orgMembers"] == [MEMBER]
    assert told["projectRoles"] == [ROLE]
    assert told["userMetadata"] == WHOLE["userMetadata"]
    (again,) = told["oidcApps"]
    assert again["app"]["hashedSecret"]["value"] == opaque_tokens.digest(SECRET)


async def test_what_is_exported_and_imported_again_changes_nothing(server):
    await bring(server, **WHOLE)
    told = await exported_org(server, "acme", with_passwords=True, with_otp=True)
    before = await everything(server.store)

    for lists in (told, WHOLE):
        more = {name: found for name, found in lists.items() if name != "orgId"}
        again = await bring(server, updates=True, job="second", **more)

        assert {each.action for each in again} == {"skip"}
        assert await everything(server.store) == before


async def test_without_update_nothing_that_is_there_is_changed(server):
    await bring(server, **WHOLE)
    before = await everything(server.store)

    again = await bring(
        server,
        job="second",
        projects=[{"projectId": "p-1", "project": {"name": "Other"}}],
        oidcApps=[web(name="Other")],
        projectRoles=[ROLE | {"displayName": "Other"}],
    )

    assert {each.action for each in again} == {"skip"}
    assert await everything(server.store) == before


async def test_with_update_what_differs_changes_in_one_step(server):
    await bring(server, **WHOLE)
    await bring(server, job="first", orgMembers=[{"userId": "robot-1", "roles": ["ORG_OWNER"]}])

    changed = await bring(
        server,
        updates=True,
        job="second",
        userMetadata=[{"id": "auth0|1", "key": "shoes", "value": "NDM="}],
        projects=[{"projectId": "p-1", "project": {"name": "Other"}}],
        oidcApps=[web(redirectUris=["https://other.example/cb"])],
        projectRoles=[ROLE, ROLE | {"roleKey": "seller"}],
        userGrants=[GRANT | {"roleKeys": ["buyer", "seller"]}],
        orgMembers=[MEMBER | {"roles": ["ORG_OWNER_VIEWER"]}],
    )

    assert [each.action for each in changed] == [
        *("update", "update", "update", "skip", "create", "update", "update"),
    ]
    client = await server.store.get(APPLICATIONS, "app-1")
    assert (client.redirect_uris, client.sequence) == (["https://other.example/cb"], 2)
    assert client.secret_hash == opaque_tokens.digest(SECRET)
    origins = await server.store.find(CLIENT_ORIGINS, {"origin": "https://shop.example"})
    assert origins.records == []
    page = await server.store.find(ROLE_ASSIGNMENTS, {"user_id": "auth0|1"})
    assert page.records[0].role_keys == ["buyer", "seller"]
    await events_agree(server.store)


async def test_the_client_id_is_the_packages_own_where_it_has_one(server):
    await bring(
        server,
        projects=[PROJECT],
        apiApps=[{"appId": "a", "app": API["app"] | {"clientId": "1234@shop"}}],
        appKeys=[app_key(appId="a", clientId="1234@shop")],
    )

    assert (await server.store.get(APPLICATIONS, "1234@shop")).name == "Api"
    assert (await server.store.get(APP_KEYS, "k-1")).owner_id == "1234@shop"


async def test_an_algorithm_that_nothing_was_signed_by_gets_its_keys(server, visitor):
    await bring(server, projects=[PROJECT], oidcApps=[web(idTokenSignedResponseAlg="ES256")])

    page = await visitor.get("/oauth/v2/keys")

    assert "ES256" in {key["alg"] for key in page.json()["keys"]}


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        (
            {
                "projects": [
                    {
                        "projectId": "p",
                        "project": {
                            "name": "P",
                            "projectRoleAssertion": True,
                        },
                    }
                ]
            },
            {
                "project.projectRoleAssertion": "project.role_assertion.unsupported",
            },
        ),
        (
            {"oidcApps": [web(hashedSecret=None)]},
            {"app.hashedSecret": "app.secret_missing"},
        ),
        (
            {"oidcApps": [web(loginVersion={"loginV2": {"baseUri": "https://x.example"}})]},
            {"app.loginVersion.loginV2.baseUri": "app.login_version.base_uri"},
        ),
        ({"oidcApps": [web(redirectUris=[])]}, {"app": "app.redirect_uris.missing"}),
        (
            {"orgMembers": [{"userId": "auth0|1", "roles": ["ORG_OWNER", "ORG_KING"]}]},
            {"roles[1]": "field.unknown_name"},
        ),
        (
            {
                "humanUsers": [
                    row(
                        "2",
                        userName="b",
                        email={"email": "b@b.example"},
                        requestPasswordlessRegistration=True,
                    )
                ]
            },
            {"user.requestPasswordlessRegistration": "factor.unsupported"},
        ),
        ({"projectMembers": [{"userId": "a"}]}, {"": "import.unsupported"}),
    ],
)
async def test_what_is_not_held_is_warned_of(server, lists, said):
    await bring(server, humanUsers=[row()], projects=[PROJECT], job="first")

    (made,) = await bring(server, job="second", **lists)

    action = "skip" if "projectMembers" in lists else "create"
    assert outcome(made) == (action, said)
