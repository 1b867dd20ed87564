"""Projects and OpenID Connect applications over HTTP: what is made, kept, shown and refused."""

from __future__ import annotations

import pytest

from idp.foundation import opaque_tokens
from idp.records import APPLICATIONS, PROJECTS
from tests.support.management.api_samples import FULL_APP
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.store.audit import events_agree, events_of
from tests.support.store.stored import everything

PATH = "/management/v1/projects"
URI = "https://shop.example/cb"
CODE = ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"]


@pytest.fixture
def project(io_loop, owner) -> str:
    """The id of a project."""

    async def make():
        return (await owner.post(PATH, {"name": "Shop"})).json()["id"]

    return io_loop.run_sync(make)


@pytest.fixture
def register(owner, project):
    async def register(**changes):
        body = {"name": "Web shop", "redirectUris": [URI]} | changes
        return await owner.post(f"{PATH}/{project}/apps/oidc", body)

    return register


async def test_a_project_is_stored_and_shown(server, owner):
    made = (await owner.post(PATH, {"name": "Shop"})).json()

    kept = await server.store.get(PROJECTS, made["id"])
    assert (kept.name, kept.org_id) == ("Shop", made["details"]["resourceOwner"])
    shown = (await owner.get(f"{PATH}/{made['id']}")).json()
    state = "PROJECT_STATE_ACTIVE"
    assert shown == {
        "details": made["details"],
        "project": made | {"name": "Shop", "state": state},
    }


@pytest.mark.parametrize(
    ("name", "error_code"),
    [
        ("", "field.empty"),
        ("  ", "field.empty"),
        ("x" * 201, "field.too_long"),
        ("a\nb", "field.characters"),
        ("a\x85b", "field.characters"),
        ("a\u2028b", "field.characters"),
    ],
)
async def test_a_name_is_held_to_its_rule(server, owner, project, name, error_code):
    before = await everything(server.store)
    projects = await owner.post(PATH, {"name": name})
    app = await owner.post(f"{PATH}/{project}/apps/oidc", {"name": name})

    assert refused(projects, 400, 3) == refused(app, 400, 3) == {"name": error_code}
    assert await everything(server.store) == before


async def test_an_application_of_nothing_but_a_name_has_the_defaults(server, register):
    answer = await register()

    assert answer.status == 200, answer.text
    body = answer.json()
    client = await server.store.get(APPLICATIONS, body["clientId"])
    assert set(body) == {"appId", "details", "clientId", "clientSecret"}
    assert client.auth_method == "client_secret_basic"
    assert client.response_types == ["code"]
    assert client.grant_types == ["authorization_code"]
    assert client.access_token_type == "opaque"
    assert client.app_type == "web"
    assert client.redirect_uris == [URI]


async def test_the_secret_is_shown_once_and_stored_as_a_hash(server, owner, project, register):
    body = (await register()).json()

    client = await server.store.get(APPLICATIONS, body["clientId"])
    assert opaque_tokens.matches(body["clientSecret"], client.secret_hash)
    assert len(body["clientSecret"]) >= 43
    shown = await owner.get(f"{PATH}/{project}/apps/{body['appId']}")
    assert "ecret" not in shown.text
    assert body["clientSecret"] not in str(await everything(server.store))


async def test_an_application_without_a_secret_has_none(server, register):
    body = (await register(authMethodType="OIDC_AUTH_METHOD_TYPE_NONE")).json()

    client = await server.store.get(APPLICATIONS, body["clientId"])
    assert "clientSecret" not in body
    assert (client.auth_method, client.secret_hash) == ("none", None)


async def test_everything_that_is_registered_is_shown_again(server, owner, project):
    made = (await owner.post(f"{PATH}/{project}/apps/oidc", FULL_APP)).json()

    shown = (await owner.get(f"{PATH}/{project}/apps/{made['appId']}")).json()["app"]
    left_out = ("name", "skipNativeAppSuccessPage", "loginVersion")
    honoured = {k: v for k, v in FULL_APP.items() if v and k not in left_out}
    honoured |= {k: made[k] for k in ("noneCompliant", "complianceProblems")}
    assert shown["name"] == FULL_APP["name"]
    assert shown["state"] == "APP_STATE_ACTIVE"
    assert shown["details"] == made["details"]
    assert shown["oidcConfig"] == honoured | {"clientId": made["clientId"]}


async def test_what_is_made_has_its_event_by_the_caller(server, register):
    made = (await register()).json()

    (event,) = await events_of(server.store, made["appId"])
    assert event.type == "application.created"
    assert made["clientSecret"] not in str(event)
    await events_agree(server.store)


PROBLEMS = {
    "app.redirect_uris.missing": {"redirectUris": []},
    "app.redirect_uris.http": {"devMode": True, "redirectUris": ["http://shop.example/cb"]},
    "app.auth_method.secret": {"appType": "OIDC_APP_TYPE_USER_AGENT"},
    "app.grant_types.code": {"grantTypes": ["OIDC_GRANT_TYPE_REFRESH_TOKEN"]},
    "app.response_types.code": {
        "grantTypes": ["OIDC_GRANT_TYPE_DEVICE_CODE"],
        "responseTypes": ["OIDC_RESPONSE_TYPE_CODE"],
    },
    "app.response_types.implicit": {"grantTypes": [*CODE, "OIDC_GRANT_TYPE_IMPLICIT"]},
    "app.response_types.token": {
        "grantTypes": ["OIDC_GRANT_TYPE_IMPLICIT"],
        "responseTypes": ["OIDC_RESPONSE_TYPE_ID_TOKEN_TOKEN"],
    },
    "app.front_channel_logout_uri.place": {"frontChannelLogoutUri": "https://b.example/out"},
}


@pytest.mark.parametrize("key", PROBLEMS)
async def test_what_is_allowed_but_not_as_the_standards_want_it_is_reported(
    owner, project, register, key
):
    made = (await register(**PROBLEMS[key])).json()

    assert made["noneCompliant"] is True
    assert [one["key"] for one in made["complianceProblems"]] == [key]
    assert made["complianceProblems"][0]["localizedMessage"]
    shown = (await owner.get(f"{PATH}/{project}/apps/{made['appId']}")).json()
    assert shown["app"]["oidcConfig"]["noneCompliant"] is True


async def test_fifty_redirect_uris_are_taken_and_one_more_is_not(server, register):
    uris = [f"https://shop.example/{n}" for n in range(51)]

    assert (await register(redirectUris=uris[:50])).status == 200
    before = await everything(server.store)
    assert refused(await register(redirectUris=uris), 400, 3) == {"redirectUris": "field.too_many"}
    assert await everything(server.store) == before


async def test_an_application_is_found_in_its_own_project_alone(owner, project, register):
    app = (await register()).json()["appId"]
    other = (await owner.post(PATH, {"name": "Other"})).json()["id"]

    page = await owner.get(f"{PATH}/{other}/apps/{app}")
    assert refused(page, 404, 5) == {"": "app.not_found"}


async def test_a_project_of_another_organization_is_as_one_that_is_not_there(
    server, visitor, owner, project
):
    other = await new_organization(server, "other.example")
    stranger = await new_caller(server, visitor, other, "ORG_OWNER")
    before = await everything(server.store)
    foreign = await stranger.post(f"{PATH}/{project}/apps/oidc", {"name": "A"})
    missing = await stranger.post(f"{PATH}/nobody/apps/oidc", {"name": "A"})

    assert refused(foreign, 404, 5) == refused(missing, 404, 5) == {"": "project.not_found"}
    assert foreign.json()["message"] == missing.json()["message"]
    assert await everything(server.store) == before


async def test_an_instance_owner_reaches_every_project_but_not_under_another_s_header(
    server, owner
):
    other = await new_organization(server, "other.example")
    third = await new_organization(server, "third.example")
    made = await owner.post(PATH, {"name": "Shop"}, x_idp_orgid=other.id)
    path = f"{PATH}/{made.json()['id']}"

    assert (await owner.get(path)).status == 200
    assert (await owner.get(path, x_idp_orgid=other.id)).status == 200
    elsewhere = await owner.get(path, x_idp_orgid=third.id)
    assert refused(elsewhere, 404, 5) == {"": "project.not_found"}
