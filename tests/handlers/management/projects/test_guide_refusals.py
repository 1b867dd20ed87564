"""What the integration guides call this service's refusals is what it answers."""

from __future__ import annotations

from html import unescape

from idp.clients import presets
from tests.support.guides import refusals
from tests.support.management.tenants import Tenants
from tests.support.protocol.relying_party import RelyingParty

PROJECTS = "/management/v1/projects"
HOST = "app.example"


async def flask(server, owner):
    """The application of a preset, registered as by the commands of its guide."""
    body = presets.expand("flask", HOST) | {"name": "Flask"}
    project = (await owner.post(PROJECTS, {"name": "Of the guides"})).json()["id"]
    made = (await owner.post(f"{PROJECTS}/{project}/apps/oidc", body)).json()
    [uri] = body["redirectUris"]
    return RelyingParty(server.issuer, made["clientId"], made["clientSecret"], uri)


async def test_a_redirect_uri_that_is_not_registered(server, owner, new_visitor):
    party = await flask(server, owner)
    sent = party.redirect_uri.replace("https:", "http:")
    page = await new_visitor().get(party.authorize_url(redirect_uri=sent))

    assert page.status == 400
    assert refusals.REDIRECT_URI.message in unescape(page.text)


async def test_a_client_secret_that_is_wrong(server, owner, new_visitor):
    party = await flask(server, owner)
    party.client_secret = "another"
    answer = (await party.redeem(new_visitor(), "a-code")).json()

    told = f"{answer['error']}: {answer['error_description']}"
    assert told == refusals.AUTHENTICATION.message


async def test_a_request_without_pkce(server, owner, new_visitor):
    party = await flask(server, owner)
    url = party.authorize_url(code_challenge=None, code_challenge_method=None)
    page = await new_visitor().get(url)

    assert page.answer["error_description"] == refusals.PKCE.message


async def test_a_user_whom_the_application_is_not_for(server, owner, new_visitor):
    tenants = await Tenants(server, owner).make()
    await tenants.allow("OWN_ORGANIZATION")
    page = await new_visitor().sign_in(tenants.party.authorize_url(), *tenants.people["foreign"])

    assert refusals.NOT_ALLOWED.message in unescape(page.text)


async def test_a_token_that_is_not_for_an_api(server, owner, new_visitor):
    project = (await owner.post(PROJECTS, {"name": "Of an API"})).json()["id"]
    made = (await owner.post(f"{PROJECTS}/{project}/apps/api", {"name": "API"})).json()
    api = RelyingParty(server.issuer, made["clientId"], made["clientSecret"], "")
    form = {"token": "of-no-use"}
    page = await new_visitor().post("/oauth/v2/introspect", form, headers=api.basic())

    assert page.text == refusals.INACTIVE.message
