"""What managers note about people is told to applications, over every store and two processes."""

from __future__ import annotations

import httpx
import pytest

from idp.records import APPLICATIONS, ORGANIZATIONS, USERS
from tests.flows.conftest import PLACES
from tests.flows.flows import person
from tests.support.management.callers import new_caller
from tests.support.protocol.claiming import (
    ALL_ROLES,
    IAM,
    ROLES,
    introspected,
    of_project,
    roles_of,
)

NO_REUSE = httpx.Limits(max_keepalive_connections=0)
METADATA = f"{IAM}user:metadata"


async def made(script, method: str, path: str, **body) -> dict:
    page = await script.request(method, f"/management/v1/{path}", body)
    assert page.status == 200, page.text
    return page.json()


@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_roles_and_metadata_are_returned_on_request(place, open_browser):
    browser, party = open_browser(place, limits=NO_REUSE), await place.register()
    login = await person(place)
    user = (await place.store.find(USERS, {"login_key": login[0]})).records[0]
    home = await place.store.get(ORGANIZATIONS, user.org_id)
    script = await new_caller(place, browser, home, "IAM_OWNER", everywhere=True)
    own = (await place.store.get(APPLICATIONS, party.client_id)).project_id
    shop = (await made(script, "POST", "projects", name=f"Shop {user.id}"))["id"]
    for project in (own, shop):
        key = f"role-{user.id}"
        await made(script, "POST", f"projects/{project}/roles", roleKey=key, displayName="R")
        grant = {"projectId": project, "roleKeys": [key]}
        await made(script, "POST", f"users/{user.id}/grants", **grant)
    await made(script, "POST", f"users/{user.id}/metadata/colour", value="cmVkPz8/")

    scope = f"openid {ALL_ROLES} {of_project(shop)} {METADATA} {IAM}org:id:{home.id}"
    tokens = await party.tokens(browser, *login, scope=scope)
    told = (await party.userinfo(browser, tokens["access_token"])).json()
    said = await introspected(browser, party, tokens["access_token"])

    roles = {key: {home.id: home.primary_domain}}
    assert tokens["scope"] == scope
    for claims in (told, said):
        assert claims[ROLES] == claims[roles_of(own)] == claims[roles_of(shop)] == roles
        assert claims[METADATA] == {"colour": "cmVkPz8_"}
        assert claims[f"{IAM}user:resourceowner:id"] == home.id
