"""Who may use a new application, as the installation proposes it: `new_application_users`."""

from __future__ import annotations

import pytest

from idp.records import APPLICATIONS
from tests.handlers.console.test_console_applications import register
from tests.support.management import console
from tests.support.management.callers import instance_owner

PROPOSED = {
    "everybody": "OIDC_ALLOWED_USERS_EVERYBODY",
    "own_organization": "OIDC_ALLOWED_USERS_OWN_ORGANIZATION",
    "granted": "OIDC_ALLOWED_USERS_GRANTED",
}
PROJECTS = "/management/v1/projects"


@pytest.fixture(params=PROPOSED)
def proposed(request):
    return request.param


@pytest.fixture
def settings(proposed):
    return {"new_application_users": proposed}


@pytest.mark.promise("application users: proposed")
async def test_the_api_takes_an_omitted_answer_for_everybody_and_says_what_is_proposed(
    server, visitor, proposed
):
    owner = await instance_owner(server, visitor)
    project = (await owner.post(PROJECTS, {"name": "P"})).json()["id"]
    body = {"name": "A", "redirectUris": ["https://a.example/cb"]}

    checked = (await owner.post(f"{PROJECTS}/{project}/apps/oidc/_check", body)).json()
    made = (await owner.post(f"{PROJECTS}/{project}/apps/oidc", body)).json()

    assert checked["proposedAllowedUsers"] == PROPOSED[proposed]
    assert (await server.store.get(APPLICATIONS, made["appId"])).allowed_users == "everybody"


@pytest.mark.promise("application users: proposed")
@pytest.mark.parametrize(
    ("query", "values"),
    [
        ("kind=web", {"redirectUris": "https://a.example/cb"}),
        ("preset=grafana", {"host": "metrics.example"}),
    ],
)
async def test_the_console_proposes_it_and_sends_the_value_of_the_form(
    server, visitor, proposed, query, values
):
    await console.admin(server, visitor)

    await register(visitor, query, name="As proposed", **values)
    chosen = {"allowedUsers": PROPOSED["granted"]}
    await register(visitor, query, name="As chosen", **values, **chosen)

    made = {one.name: one.allowed_users async for one in server.store.scan(APPLICATIONS)}
    assert made["As proposed"] == proposed
    assert made["As chosen"] == "granted"


async def test_an_application_is_listed_with_its_preset(server, visitor, proposed):
    owner = await instance_owner(server, visitor)

    told = (await owner.get("/management/v1/presets/grafana")).json()["settings"]

    expected = None if proposed == "everybody" else PROPOSED[proposed]
    assert told.get("allowedUsers") == expected
