"""Test sign-in: a real one, after which the application has got nothing."""

from __future__ import annotations

import html
import json
import re

import pytest

from idp.records import APPLICATIONS, AUTH_REQUESTS, AUTHORIZATIONS, CONSENTS
from storage import Update
from tests.support.management import console
from tests.support.management.callers import new_organization
from tests.support.store.stored import everything


async def all_of(server, collection):
    return [one async for one in server.store.scan(collection)]


@pytest.fixture
def address(io_loop, server, visitor):
    """The page of an application, of which the administrator has come to the console."""

    async def make():
        await console.admin(server, visitor)
        party = await server.register("Wiki", groups_claim="groups", id_token_role_assertion=True)
        app = await server.store.get(APPLICATIONS, party.client_id)
        return f"/ui/console/projects/{app.project_id}/applications/{app.id}/test"

    return io_loop.run_sync(make)


async def change(server, address, **values):
    await server.store.commit(Update(APPLICATIONS, address.split("/")[-2], set=values))


async def begin(visitor, address):
    return await visitor.submit(await visitor.get(address))


async def finish(visitor, page):
    return await visitor.submit(page, password=console.PASSWORD)


def claims(page):
    """What stands on the page, part by part."""
    found = re.findall(r'id="part-\d+">(.*?)<.*?<code>(.*?)</code>', page.text, re.DOTALL)
    return {title: json.loads(html.unescape(text)) for title, text in found}


async def test_it_is_a_sign_in_after_which_the_claims_are_shown(server, visitor, address):
    asked = await begin(visitor, address)
    page = await finish(visitor, asked)
    told = claims(page)

    assert asked.name == "password"
    assert "Wiki" in asked.text
    assert (page.status, page.name) == (200, "console/test-result")
    assert set(told) == {"In the ID token", "From userinfo"}
    assert told["In the ID token"]["aud"] == address.split("/")[-2]
    assert told["In the ID token"]["sub"] == told["From userinfo"]["sub"]
    assert told["In the ID token"]["nonce"] == "<generated>"
    assert told["From userinfo"]["name"] == "Administrator"
    assert "name" not in told["In the ID token"]


@pytest.mark.parametrize("refreshes", [True, False])
async def test_it_says_why_offline_access_is_left_out(server, visitor, address, refreshes):
    grants = ["authorization_code", "refresh_token"] if refreshes else ["authorization_code"]
    await change(server, address, grant_types=grants)
    page = await finish(visitor, await begin(visitor, address))

    left_out = "offline_access: the application is not registered for refresh tokens."
    assert (left_out in page.text) is not refreshes


async def test_it_shows_what_the_settings_put_into_the_tokens(server, visitor, address):
    await change(server, address, id_token_userinfo_assertion=True, access_token_type="jwt")
    told = claims(await finish(visitor, await begin(visitor, address)))

    assert told["In the ID token"]["name"] == "Administrator"
    assert told["In the access token"]["client_id"] == address.split("/")[-2]


async def test_nobody_gets_a_code_or_a_token(server, visitor, address):
    before = await all_of(server, AUTHORIZATIONS)
    page = await finish(visitor, await begin(visitor, address))

    assert await all_of(server, AUTHORIZATIONS) == before
    assert not re.search(r"ey[A-Za-z0-9_-]{10,}\.|code=|access_token=|id_token=", page.text)
    requests = await all_of(server, AUTH_REQUESTS)
    assert all(one.redirect_uri.startswith(f"{server.issuer}/ui/") for one in requests)


async def test_the_page_of_the_result_is_no_address_for_answers(server, visitor, address):
    """Whoever asks for a code at the console's address gets the page for unusable requests."""
    await begin(visitor, address)
    party = server.demo()
    party.client_id = address.split("/")[-2]
    for to in (f"{server.issuer}{address}/result", f"{server.issuer}/ui/console"):
        answer = await visitor.get(party.authorize_url(redirect_uri=to))
        assert (answer.status, answer.name) == (400, "explain")


async def test_nobody_else_signs_in_by_it(server, visitor, address):
    page = await begin(visitor, address)
    other = await server.copy_user("minnie")
    sent = {**page.hidden, "loginName": other[0], "password": other[1]}
    answer = await visitor.post(page.url, sent)

    assert answer.location is None or "/result" not in answer.location
    assert "Minnie" not in (await visitor.get("/ui/console")).text


async def test_who_is_asked_for_consent_is_asked_here_too(server, visitor, address):
    await change(server, address, is_third_party=True)
    page = await finish(visitor, await begin(visitor, address))
    assert page.name == "consent"
    page = await visitor.submit(page, decision="allow")

    assert page.name == "console/test-result"
    assert len(await all_of(server, CONSENTS)) == 1


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"redirect_uris": []}, "redirect_uri"),
        ({"state": "inactive"}, "No application has this client_id."),
    ],
)
async def test_an_application_that_could_not_ask_learns_so(server, visitor, address, values, why):
    await change(server, address, **values)
    before = await everything(server.store)
    page = await begin(visitor, address)

    assert (page.status, page.name) == (400, "console/test-sign-in")
    assert "sign users in yet:" in page.text
    assert why in page.text
    assert await everything(server.store) == before
    assert "sign users in yet" in (await visitor.get(f"{address}/result")).text


async def test_one_that_has_to_push_its_requests_is_tried_as_if_it_had(server, visitor, address):
    await change(server, address, requires_pushed_requests=True)

    assert (await finish(visitor, await begin(visitor, address))).name == "console/test-result"


async def test_an_api_signs_nobody_in(server, visitor, address):
    await change(server, address, app_type="api")

    assert (await visitor.get(address)).status == 404
    assert (await visitor.get(f"{address}/result")).status == 404


async def test_it_is_for_those_who_see_the_application(server, visitor, new_visitor, address):
    stranger, other = new_visitor(), await new_organization(server, "other.example")
    await console.manager(server, stranger, "ORG_OWNER", org_id=other.id)

    assert (await stranger.get(address)).status == 404
    assert (await stranger.get(f"{address}/result")).status == 404


async def test_a_form_of_another_page_begins_nothing(server, visitor, address):
    form = await visitor.get(address)
    before = await everything(server.store)
    for values in ({"x": "y"}, {**form.hidden, "token": "x"}):
        assert (await visitor.post(address, values)).status == 403

    assert await everything(server.store) == before
