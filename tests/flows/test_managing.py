"""Organizations and applications made over HTTP, over every store and two processes."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from idp.limits.admission import MANAGEMENT
from idp.records import MEMBERSHIPS, ORGANIZATIONS, USERS
from tests.flows.conftest import PLACES
from tests.support.management.api_samples import SET_UP, organization
from tests.support.management.callers import new_caller, refused
from tests.support.protocol.relying_party import RelyingParty
from tests.support.sign_in.people import PATH, person

AT_ONCE = 32
ROUNDS = [pytest.param(2, id="2"), pytest.param(20, id="20", marks=pytest.mark.load)]
NO_REUSE = httpx.Limits(max_keepalive_connections=0)
REDIRECT_URI = "https://shop.example/cb"


# All that a second one like it has in common with the first; of two at the same moment, the slower
# is told what it met.
TWIN = {
    "org.name": "organization.name_taken",
    "human.userName": "user.login_name_taken",
    "human.email.email": "user.login_name_taken",
}


async def owner(place, browser):
    """A service user who may do everything."""
    page = await place.store.find(ORGANIZATIONS, {"primary_domain": "localhost"})
    return await new_caller(place, browser, page.records[0], "IAM_OWNER", everywhere=True)


def acme(place):
    """The least that sets up an organization of a new name, and the name."""
    name = f"Acme {place.service.random.id()}"
    body = organization(place.service.random.id())
    body["org"]["name"] = name
    return body, name


@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_the_administrator_of_a_new_organization_signs_in_to_its_application(
    place, open_browser
):
    browser = open_browser(place, limits=NO_REUSE)
    script, (body, _) = await owner(place, browser), acme(place)
    made = (await script.post(SET_UP, body)).json()
    here = {"x-idp-orgid": made["orgId"]}
    project = (await script.post("/management/v1/projects", {"name": "Shop"}, **here)).json()
    app = await script.post(
        f"/management/v1/projects/{project['id']}/apps/oidc",
        {
            "name": "Web shop",
            "redirectUris": [REDIRECT_URI],
            "grantTypes": [
                "OIDC_GRANT_TYPE_AUTHORIZATION_CODE",
                "OIDC_GRANT_TYPE_REFRESH_TOKEN",
            ],
            "accessTokenType": "OIDC_TOKEN_TYPE_JWT",
        },
        **here,
    )

    client = app.json()
    party = RelyingParty(place.issuer, client["clientId"], client["clientSecret"], REDIRECT_URI)
    human = body["human"]
    tokens = await party.tokens(browser, human["userName"], human["password"])
    claims = (await party.userinfo(browser, tokens["access_token"])).json()
    assert claims["sub"] == made["userId"]
    assert tokens["access_token"].count(".") == 2
    assert "refresh_token" in tokens


@pytest.mark.gen_test(timeout=600)
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("place", ["sqlite", "mongodb"], indirect=True)
async def test_of_many_twin_set_ups_one_is_made(place, open_browser, rounds):
    script = await owner(place, open_browser(place, limits=NO_REUSE))
    for _ in range(rounds):
        body, name = acme(place)
        pages = await asyncio.gather(*[script.post(SET_UP, body) for _ in range(AT_ONCE)])

        (won,) = [page.json() for page in pages if page.status == 200]
        lost = [refused(page, 409, 6) for page in pages if page.status != 200]
        assert len(lost) == AT_ONCE - 1
        assert all(each and each.items() <= TWIN.items() for each in lost)
        made = [one async for one in place.store.scan(ORGANIZATIONS) if one.name == name]
        assert [one.id for one in made] == [won["orgId"]]
        users = await place.store.find(USERS, {"login_key": body["human"]["userName"].casefold()})
        assert [one.org_id for one in users.records] == [won["orgId"]]
        held = await place.store.find(MEMBERSHIPS, {"org_id": won["orgId"]})
        assert [one.user_id for one in held.records] == [won["userId"]]


@pytest.mark.gen_test(timeout=600)
@pytest.mark.parametrize("place", ["sqlite", "mongodb"], indirect=True)
async def test_of_many_people_at_once_with_one_address_all_are_made(place, open_browser):
    script = await owner(place, open_browser(place, limits=NO_REUSE))
    mark = place.service.random.id().casefold()
    email = {"email": f"{mark}@a.test", "isVerified": True}
    # As many as have a place at once: each needs a hash, and a busy machine refuses who waits.
    bodies = [person(username=f"{mark}-{n}", email=email) for n in range(MANAGEMENT.max_running)]

    pages = await asyncio.gather(*[script.post(PATH, body) for body in bodies])

    assert [page.status for page in pages] == [200] * len(bodies)
    assert await place.store.count(USERS, {"email_key": email["email"]}) == len(bodies)
