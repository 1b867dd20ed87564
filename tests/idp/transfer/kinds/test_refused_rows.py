"""Rows of a package that can't be stored: each says why, and nothing of it is kept."""

from __future__ import annotations

import pytest

from tests.support.store.stored import everything
from tests.support.transfer.bringing import brought
from tests.support.transfer.bringing_people import (
    API,
    GRANT,
    MACHINE,
    PROJECT,
    ROLE,
    WHOLE,
    app_key,
    bring,
    machine_key,
    outcome,
    row,
    web,
)

REFUSED = [
    ("projects", PROJECT | {"projectId": ""}, "projectId", "field.empty"),
    ("projects", PROJECT | {"projectId": "é"}, "projectId", "id.characters"),
    ("projects", PROJECT | {"projectId": "_search"}, "projectId", "id.reserved"),
    ("projects", PROJECT | {"projectId": ".."}, "projectId", "id.reserved"),
    ("projects", PROJECT | {"projectId": "../x"}, "projectId", "id.reserved"),
    ("projects", PROJECT | {"projectId": "x\\..\\y"}, "projectId", "id.reserved"),
    ("projects", PROJECT | {"project": {"name": ""}}, "project.name", "field.empty"),
    ("projects", {"projectId": "p"}, "project", "field.required"),
    ("projectRoles", ROLE | {"projectId": "none"}, "projectId", "project.not_found"),
    ("projectRoles", ROLE | {"roleKey": "a b"}, "roleKey", "field.characters"),
    ("oidcApps", web(projectId="none"), "app.projectId", "project.not_found"),
    ("oidcApps", web(redirectUris=["http://shop.example/cb"]), "app.redirectUris[0]", None),
    ("oidcApps", web(grantTypes=["X"]), "app.grantTypes[0]", "field.unknown_name"),
    ("oidcApps", web(hashedSecret={"value": "x"}), "app.hashedSecret.value", "secret.digest"),
    ("oidcApps", web(id="x y "), "appId", "id.characters"),
    ("apiApps", {"appId": "a", "app": {"projectId": "p-1"}}, "app.name", "field.required"),
    ("apiApps", {"appId": "app-1", "app": API["app"]}, "appId", "id.elsewhere"),
    ("appKeys", app_key(appId="none"), "appId", "app.not_found"),
    ("appKeys", app_key(publicKey="bm9uZQ=="), "publicKey", "key.public_key"),
    (
        "appKeys",
        app_key(expirationDate="2000-01-01T00:00:00Z"),
        "expirationDate",
        "key.expiration_past",
    ),
    ("machineKeys", machine_key(userId="auth0|1"), "userId", "user.not_found"),
    ("machineKeys", machine_key(type="KEY_TYPE_X"), "type", "field.unknown_name"),
    ("userMetadata", {"id": "none", "key": "k", "value": "NDI="}, "id", "user.not_found"),
    ("userMetadata", {"id": "auth0|1", "key": "k", "value": "?"}, "value", "field.base64"),
    ("userMetadata", {"id": "auth0|1", "key": "", "value": "NDI="}, "key", "field.empty"),
    ("userGrants", GRANT | {"roleKeys": ["none"]}, "roleKeys[0]", "role.not_found"),
    ("userGrants", GRANT | {"roleKeys": []}, "roleKeys", "field.too_few"),
    ("userGrants", GRANT | {"userId": "none"}, "userId", "user.not_found"),
    ("userGrants", GRANT | {"projectGrantId": "g"}, "projectGrantId", "user_grant.project_grant"),
    ("orgMembers", {"userId": "none", "roles": ["ORG_OWNER"]}, "userId", "user.not_found"),
    ("orgMembers", {"userId": "auth0|1", "roles": ["KING"]}, "roles[0]", "field.unknown_name"),
    (
        "userLinks",
        {"userId": "none", "idpId": "g", "externalUserId": "1"},
        "userId",
        "user.not_found",
    ),
    ("userLinks", {"userId": "auth0|1", "idpId": "g"}, "externalUserId", "field.required"),
    (
        "machineUsers",
        {"userId": "m", "user": {"userName": "robot"}},
        "user.name",
        "field.required",
    ),
    (
        "machineUsers",
        {"userId": "m", "user": {"userName": "ROBOT", "name": "R"}},
        "user.userName",
        "user.login_name_taken",
    ),
    (
        "machineUsers",
        {"userId": "auth0|1", "user": {"userName": "m", "name": "R"}},
        "userId",
        "id.elsewhere",
    ),
]


@pytest.mark.parametrize(("list", "document", "field", "error_code"), REFUSED)
async def test_what_is_refused_is_reported_and_nothing_is_stored(
    server, list, document, field, error_code
):
    await bring(server, **{**WHOLE, "appKeys": [], "machineKeys": []})
    before = await everything(server.store)

    (refused,) = await bring(server, job="second", updates=True, **{list: [document]})

    action, said = outcome(refused)
    assert action == "fail"
    assert set(said) == {f"!{field}"}
    assert error_code in (None, said[f"!{field}"])
    assert all(each.message for each in refused.problems)
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    ("list", "document", "field"),
    [
        ("humanUsers", row(userName="b", email={"email": "b@b.example"}), "userId"),
        ("machineUsers", MACHINE, "userId"),
        ("projects", PROJECT, "projectId"),
        ("projectRoles", ROLE, "projectId"),
        ("oidcApps", web(), "app.projectId"),
        ("apiApps", API, "app.projectId"),
        ("appKeys", app_key(id="new"), "appId"),
        ("machineKeys", machine_key(keyId="new"), "userId"),
        ("userMetadata", {"id": "auth0|1", "key": "new", "value": "NDI="}, "id"),
        ("userLinks", {"userId": "auth0|1", "idpId": "g", "externalUserId": "1"}, "userId"),
        ("userGrants", GRANT, "projectId"),
    ],
)
async def test_nothing_of_another_organization_is_reached_by_its_id(server, list, document, field):
    await bring(server, **WHOLE)
    before = await everything(server.store)

    (refused,) = await bring(server, into="other", updates=True, job="x", **{list: [document]})

    assert refused.action == "fail"
    assert [each.field for each in refused.problems] == [field]
    assert await everything(server.store) == before


async def test_the_last_owner_stays(server):
    await bring(server, **WHOLE)
    before = await everything(server.store)

    (refused,) = await bring(
        server,
        updates=True,
        job="x",
        orgMembers=[{"userId": "auth0|1", "roles": ["ORG_OWNER_VIEWER"]}],
    )

    assert outcome(refused) == ("fail", {"!roles": "member.last_owner"})
    assert await everything(server.store) == before


@pytest.mark.parametrize("list", sorted(WHOLE))
async def test_rows_of_an_organization_that_is_not_there_are_refused(server, list):
    before = await everything(server.store)

    outcomes = await brought(server, {"orgId": "none", list: WHOLE[list]})

    assert {each.action for each in outcomes} == {"fail"}
    assert all(each.problems[0].fix for each in outcomes)
    assert await everything(server.store) == before
