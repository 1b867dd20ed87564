"""A person signs in at another identity provider."""

from __future__ import annotations

import base64
from urllib.parse import unquote

import pytest

from idp.records import OUTBOX, SESSIONS, USERS
from idp.records.connections import CONNECTIONS
from idp.records.identity_links import IDENTITY_LINKS
from tests.support.protocol.claiming import user_of
from tests.support.sign_in.federating import AT_ONCE, NAMES, claims_of
from tests.support.sign_in.hostile_provider import CLIENT_ID, CLIENT_SECRET
from tests.support.store.audit import events_agree
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401
from tests.support.store.stored import everything


async def test_the_head_of_a_redirect_to_the_provider_fits_into_a_proxys_buffer(federation):
    """nginx reads 4,096 octets of it by default; 200 are left for a longer address."""
    page = await federation.begin()
    heads = [(await federation.leave(page)).headers.multi_items() for _ in range(4)]

    assert max(sum(len(name) + len(value) + 4 for name, value in head) for head in heads) < 3_900


@on_both_stores
@pytest.mark.promise("connections: sign-in")
async def test_the_first_sign_in_makes_an_account_and_the_next_ones_lead_to_it(
    server, federation, provider, new_visitor
):
    provider.claims = NAMES
    page = await federation.sign_in()
    assert page.name == "idp-account", page.text
    assert page.inputs["userName"] == "ada"
    page = await federation.visitor.submit(page, **page.inputs)
    assert "code" in page.answer, page.text

    again = await federation.sign_in(new_visitor())

    assert "code" in again.answer, again.text
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    user = await server.store.get(USERS, link.user_id)
    assert (user.user_name, user.password, link.external_id) == ("ada", None, "person-1")
    assert (await server.store.get(CONNECTIONS, federation.connection)).is_linked
    sessions = (await server.store.find(SESSIONS)).records
    assert {(one.user_id, one.connection_id) for one in sessions} == {
        (user.id, federation.connection)
    }
    await events_agree(server.store)


@pytest.mark.promise("connections: sign-in")
async def test_an_account_is_made_at_once_where_the_connection_says_so(
    server, federation, provider
):
    await federation.change(AT_ONCE)
    provider.claims = NAMES

    page = await federation.sign_in()

    assert "code" in page.answer, page.text
    tokens = (await federation.party.redeem(federation.visitor, page.answer["code"])).json()
    claims = (await federation.party.userinfo(federation.visitor, tokens["access_token"])).json()
    assert claims["preferred_username"].startswith("ada")
    assert claims_of(tokens["id_token"])["amr"] == ["fed"]
    await events_agree(server.store)


async def test_the_request_to_the_provider_is_that_of_the_standard(federation, provider):
    page = await federation.begin(login_hint="ada@corp.example", ui_locales="de")

    left = await federation.leave(page)

    sent = left.answer
    assert sent["response_type"] == "code"
    assert sent["client_id"] == CLIENT_ID
    assert sent["scope"] == "openid profile email"
    assert sent["code_challenge_method"] == "S256"
    assert sent["login_hint"] == "ada@corp.example"
    assert sent["redirect_uri"] == (
        f"{federation.server.issuer}/idps/{federation.connection}/callback"
    )
    values = [sent[name] for name in ("state", "nonce", "code_challenge")]
    assert len(set(values)) == 3
    assert all(len(value) == 43 for value in values)


async def test_the_code_is_redeemed_by_the_client_with_its_verifier(federation, provider):
    provider.claims = NAMES
    await federation.sign_in()

    (call,) = [call for call in provider.calls if call[0] == "/token"]
    _, form, headers = call
    assert form["code"] == "a code"
    assert len(form["code_verifier"]) == 43
    pair = base64.b64decode(headers["Authorization"].removeprefix("Basic ")).decode()
    assert [unquote(each) for each in pair.split(":")] == [CLIENT_ID, CLIENT_SECRET]


@pytest.mark.promise("connections: nothing stored")
async def test_leaving_stores_nothing(server, federation):
    page = await federation.begin()
    before = await everything(server.store)

    for _ in range(5):
        await federation.leave(page)

    assert await everything(server.store) == before


@on_both_stores
@pytest.mark.promise("connections: sign-in")
async def test_a_person_links_the_account_that_they_sign_in_to(
    server, federation, provider, new_visitor
):
    page = await federation.sign_in()
    assert page.name == "idp-account"
    page = await federation.to_account(page)
    assert page.name == "idp-link", page.text
    assert await server.store.count(IDENTITY_LINKS) == 0

    page = await federation.visitor.submit(page, choice="link")

    assert "code" in page.answer, page.text
    again = await federation.sign_in(new_visitor())
    assert "code" in again.answer
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    assert link.user_id == (await user_of(server)).id
    assert await server.store.count(OUTBOX) == 1
    await events_agree(server.store)


async def test_a_person_goes_on_without_linking(server, federation):
    page = await federation.to_account(await federation.sign_in())

    page = await federation.visitor.submit(page, choice="no")

    assert "code" in page.answer, page.text
    assert await server.store.count(IDENTITY_LINKS) == 0


async def test_a_session_of_before_is_no_proof_of_an_account(server, federation, provider):
    """Whoever is at a browser in which somebody is signed in links nothing to that account."""
    await federation.party.tokens(federation.visitor, *server.user)

    page = await federation.begin(prompt="select_account")
    page = await federation.visitor.submit(page, account="other")
    left = await federation.leave(page)
    page = await federation.come_back(left)

    assert page.name == "idp-account"
    assert await server.store.count(IDENTITY_LINKS) == 0


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        ({}, ["Contact support to link your account"]),
        ({"isLinkingAllowed": True}, ["Sign in to your account and link it"]),
        ({"isCreationAllowed": True}, ["Create an account"]),
    ],
    ids=["nothing", "linking", "creation"],
)
async def test_the_page_offers_what_the_connection_allows(federation, options, texts):
    every = [
        "Contact support to link your account",
        "Sign in to your account and link it",
        "Create an account",
    ]
    await federation.change(options)

    page = await federation.sign_in()

    assert [text for text in every if text in page.text] == texts
    page = await federation.visitor.submit(page, choice="other")
    assert page.name == "login-name"


async def test_a_form_that_the_connection_does_not_allow_makes_nobody(server, federation):
    await federation.change({})
    page = await federation.sign_in()
    users = await server.store.count(USERS)

    page = await federation.visitor.submit(
        page, userName="ada", givenName="Ada", familyName="Lovelace"
    )

    assert page.name == "idp-account"
    assert await server.store.count(USERS) == users


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ({"userName": ""}, "Choose a username."),
        ({"givenName": ""}, "Enter your given name."),
        ({"familyName": " "}, "Enter your family name."),
        ({"userName": "x" * 300}, "at most 200 characters"),
        ({"userName": "a\x01b"}, "can&#39;t be used"),
        ({"userName": "ada@corp.example"}, "Enter a username without @"),
    ],
)
async def test_names_that_can_not_be_are_refused(server, federation, typed, text):
    page = await federation.sign_in()
    users = await server.store.count(USERS)

    form = {"userName": "ada", "givenName": "Ada", "familyName": "Lovelace"} | typed
    page = await federation.visitor.submit(page, **form)

    assert (page.name, page.status) == ("idp-account", 400)
    assert text in page.text, page.text
    assert await server.store.count(USERS) == users


async def test_a_taken_user_name_is_chosen_anew(server, federation, provider):
    await federation.change(AT_ONCE)
    provider.claims = {**NAMES, "preferred_username": (await user_of(server)).user_name}
    page = await federation.sign_in()
    assert page.name == "idp-account"

    page = await federation.visitor.submit(page, **page.inputs)
    assert "This username is taken" in page.text
    page = await federation.visitor.submit(page, **page.inputs | {"userName": "ada"})

    assert "code" in page.answer
