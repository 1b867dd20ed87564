"""Consent: an application of others is let in by the person, once; one's own applications need
not ask (OpenID Connect Core 3.1.2.4)."""

from __future__ import annotations

import asyncio
import json

import pytest
from msgspec import structs

from handlers.login.consent import scope_descriptions
from idp.config.settings import Config
from idp.oauth import reserved_scopes
from idp.oauth.endpoints import sealed_requests
from idp.oauth.reserved_scopes import Reserved
from idp.oauth.scopes import SUPPORTED
from idp.oauth.sign_in import pending as sign_in_pending
from idp.records import APPLICATIONS, AUTHORIZATIONS, CONSENTS, EVENTS, USERS
from storage import Update
from tests.support.attacks.forged import part
from tests.support.protocol.noting import at, read_note
from tests.support.sign_in.steps import Seen, shape, text_of
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401
from tests.support.store.stored import count, everything, only

DECISIONS = [("decision", "allow"), ("decision", "deny")]


@pytest.fixture
def wiki(io_loop, server):
    """An application of others."""
    return io_loop.run_sync(lambda: server.register("Wiki", is_third_party=True))


async def asked(visitor, client, **changes):
    page = await visitor.open(client.authorize_url(**changes))
    assert page.name == "consent", page.text
    return page


async def test_who_signs_in_at_an_application_of_others_is_asked(server, visitor, wiki):
    page = await visitor.sign_in(wiki.authorize_url(), *server.user)
    form = next(each for each in Seen(page).all("form") if each.get("id") == "step")

    assert page.status == 200
    assert shape(page) == ("consent", [], DECISIONS)
    assert page.url.startswith(f"{server.issuer}/ui/login/consent?")
    assert "action" not in form
    for words in (
        *["Allow access?", "Wiki wants to:", "Recognize you", "See your email address"],
        *["See your name and profile", "Demo"],
    ):
        assert words in text_of(page)
    assert "your phone number" not in text_of(page)


@pytest.mark.parametrize(("tag", "words"), [("de", "Ihre E-Mail-Adresse"), ("ar", "السماح")])
async def test_the_page_speaks_the_person_s_language(server, visitor, wiki, tag, words):
    url = wiki.authorize_url(ui_locales=tag)
    page = await visitor.sign_in(url, *server.user)

    assert page.headers["Content-Language"] == tag
    assert words in text_of(page)


async def test_allowing_leads_to_the_application_and_is_remembered(server, signed_in, wiki):
    answer = await signed_in.submit(await asked(signed_in, wiki), decision="allow")
    again = await signed_in.get(wiki.authorize_url())
    silent = await wiki.silently(signed_in)
    consent = await only(server.store, CONSENTS)

    assert set(answer.answer) == {"code", "state", "iss"}
    assert "code" in again.answer
    assert "code" in silent
    assert consent.scopes == ["email", "offline_access", "openid", "profile"]


async def test_consent_is_in_the_audit_log(server, signed_in, wiki):
    await signed_in.submit(await asked(signed_in, wiki, scope="openid"), decision="allow")
    await signed_in.submit(await asked(signed_in, wiki), decision="allow")
    consent = await only(server.store, CONSENTS)
    events = [each async for each in server.store.scan(EVENTS)]
    told = [each for each in events if each.record_id == consent.id]

    assert sorted((each.type, each.sequence) for each in told) == [
        ("consent.given", 1),
        ("consent.given", 2),
    ]
    user = await server.store.get(USERS, consent.user_id)
    assert {(each.actor, each.org_id) for each in told} == {(user.id, user.org_id)}


async def test_denying_informs_the_application_and_leaves_nothing(server, signed_in, wiki):
    page = await asked(signed_in, wiki)
    before = await count(server.store)
    answer = await signed_in.submit(page, decision="deny")
    again = await signed_in.open(wiki.authorize_url())

    assert answer.answer["error"] == "access_denied"
    assert answer.answer["state"] == "state-1"
    assert await count(server.store) == before | {"auth_requests": 1}
    assert again.name == "consent"


async def test_more_scopes_are_asked_for_again_and_fewer_are_not(signed_in, wiki):
    page = await asked(signed_in, wiki, scope="openid email")
    await signed_in.submit(page, decision="allow")
    fewer = await signed_in.get(wiki.authorize_url(scope="openid"))
    page = await asked(signed_in, wiki, scope="openid phone")
    await signed_in.submit(page, decision="allow")
    both = await signed_in.get(wiki.authorize_url(scope="openid email phone"))

    assert "code" in fewer.answer
    assert "code" in both.answer


@pytest.mark.promise("consent: prompt consent")
async def test_prompt_consent_asks_again_and_once(signed_in, wiki):
    await signed_in.submit(await asked(signed_in, wiki), decision="allow")
    page = await asked(signed_in, wiki, prompt="consent")
    answer = await signed_in.submit(page, decision="allow")

    assert "code" in answer.answer


async def test_prompt_none_needs_interaction_until_it_was_given(server, signed_in, wiki):
    before = await everything(server.store)
    refused = await wiki.silently(signed_in)
    after = await everything(server.store)
    await signed_in.submit(await asked(signed_in, wiki), decision="allow")

    assert refused["error"] == "interaction_required"
    assert after == before
    assert "code" in await wiki.silently(signed_in)


@pytest.mark.promise("consent: prompt consent")
@pytest.mark.parametrize("prompt", [None, "consent"])
async def test_one_s_own_applications_do_not_ask(server, signed_in, demo, prompt):
    page = await signed_in.get(demo.authorize_url(prompt=prompt))
    stored = await everything(server.store)

    assert "code" in page.answer
    assert stored[CONSENTS.name] == {}


async def test_consent_is_one_person_s_and_for_one_application(server, signed_in, wiki):
    await signed_in.submit(await asked(signed_in, wiki), decision="allow")
    second = await server.register("Second", is_third_party=True)
    other = await server.copy_user("otto")
    page = await signed_in.sign_in(wiki.authorize_url(prompt="select_account"), *other)

    assert page.name == "consent"
    assert "otto" in text_of(page)
    assert (await signed_in.open(second.authorize_url(login_hint="demo"))).name == "consent"


@pytest.mark.parametrize("decision", [None, "", "ALLOW", "yes"])
async def test_only_the_two_decisions_count(server, signed_in, wiki, decision):
    page = await asked(signed_in, wiki)
    before = await everything(server.store)
    again = await signed_in.submit(page, **({"decision": decision} if decision else {}))

    assert (again.status, again.name) == (400, "consent")
    assert await everything(server.store) == before


# Whose form it is


async def test_the_form_of_another_browser_is_refused(server, signed_in, new_visitor, wiki):
    page = await asked(signed_in, wiki)
    thief = new_visitor()
    await thief.sign_in(wiki.authorize_url(), *await server.copy_user("eve"))
    before = await everything(server.store)
    stolen = await thief.send(page, decision="allow")
    strange = await new_visitor().send(page, decision="allow")

    assert (stolen.status, strange.status) == (403, 403)
    assert await everything(server.store) == before


@pytest.mark.parametrize("changes", [{"token": ""}, {"token": "x"}, {"token": "a" * 43}])
async def test_a_form_without_its_token_is_refused(server, signed_in, wiki, changes):
    page = await asked(signed_in, wiki)
    before = await everything(server.store)
    answer = await signed_in.send(page, decision="allow", **changes)

    assert answer.status == 403
    assert await everything(server.store) == before


async def test_a_token_of_another_flow_is_refused(server, signed_in, wiki):
    first, second = await asked(signed_in, wiki), await asked(signed_in, wiki)
    before = await everything(server.store)
    answer = await signed_in.send(first, decision="allow", token=second.hidden["token"])

    assert answer.status == 403
    assert await everything(server.store) == before


async def test_another_site_can_not_send_the_form(server, signed_in, wiki):
    page = await asked(signed_in, wiki)
    before = await everything(server.store)
    form = page.hidden | {"decision": "allow"}
    answer = await signed_in.post(page.url, form, headers={"Sec-Fetch-Site": "cross-site"})

    assert answer.status == 403
    assert await everything(server.store) == before


async def test_who_signed_in_meanwhile_is_asked_anew(server, signed_in, wiki):
    page = await asked(signed_in, wiki)
    other = await server.copy_user("otto")
    name = await signed_in.open(page.url.replace("consent", "name"))
    name = await signed_in.submit(name, loginName=other[0])
    second = await signed_in.submit(name, password=other[1])
    stale = page.hidden | {"token": second.hidden["token"], "decision": "allow"}
    answer = await signed_in.follow(await signed_in.post(page.url, stale))
    stored = await everything(server.store)

    assert second.name == "consent"
    assert answer.name == "consent"
    assert "otto" in text_of(answer)
    assert stored[CONSENTS.name] == {}


async def test_nobody_is_asked_for_somebody_who_is_not_signed_in(server, visitor, wiki):
    page = await visitor.open(wiki.authorize_url())
    address = page.url.replace("/ui/login", "/ui/login/consent")
    opened = await visitor.open(address)
    sent = await visitor.follow(
        await visitor.post(address, page.hidden | {"decision": "allow", "account": "x"})
    )
    stored = await everything(server.store)

    assert (opened.name, sent.name) == ("login-name", "login-name")
    assert stored[CONSENTS.name] == {}


async def test_a_flow_that_was_answered_can_not_be_consented_to(server, signed_in, wiki):
    page = await asked(signed_in, wiki)
    await signed_in.submit(page, decision="deny")
    before = await everything(server.store)
    answer = await signed_in.submit(page, decision="allow")

    assert answer.answer["error"] == "access_denied"
    assert await everything(server.store) == before


async def test_two_tabs_may_allow_at_once(server, signed_in, wiki):
    tabs = [await asked(signed_in, wiki, scope=f"openid {each}") for each in ("email", "phone")]
    pages = await asyncio.gather(*[signed_in.submit(tab, decision="allow") for tab in tabs])
    for page in pages:
        while page.name == "consent":  # the other tab came first: asked once more
            page = await signed_in.submit(page, decision="allow")
        assert "code" in page.answer
    consent = await only(server.store, CONSENTS)

    assert consent.scopes == ["email", "openid", "phone"]


@pytest.mark.parametrize("collection", [USERS, APPLICATIONS])
async def test_a_namesake_made_later_does_not_inherit_consent(server, signed_in, wiki, collection):
    await signed_in.submit(await asked(signed_in, wiki), decision="allow")
    consent = await only(server.store, CONSENTS)
    id = consent.user_id if collection is USERS else consent.client_id
    server.clock.advance(60)
    now = server.clock.now()
    await server.store.commit(Update(collection, id, set={"created_at": now}))
    page = await asked(signed_in, wiki, scope="openid")
    await signed_in.submit(page, decision="allow")

    assert (await only(server.store, CONSENTS)).scopes == ["openid"]


PREFIX = "urn:idp:iam:"


def test_every_scope_has_words():
    config = Config()
    reserved = [reserved_scopes.scope(config, kind, "x") for kind in Reserved]
    for scope in (*SUPPORTED, *reserved, reserved_scopes.service_audience(config)):
        assert not isinstance(scope_descriptions(config, [scope])[0], str), scope


async def test_reserved_scopes_are_put_into_words_each_once(server, signed_in, wiki):
    kinds = ["org:projects:roles", "org:project:role:x", "user:metadata", "user:resourceowner"]
    scope = " ".join(["openid", *(f"{PREFIX}{kind}" for kind in kinds)])
    text = text_of(await asked(signed_in, wiki, scope=scope))

    assert text.count("See your roles") == 1
    assert "See other information stored about you here" in text
    assert "See which organization you belong to" in text
    assert PREFIX not in text


async def test_a_text_without_translation_is_used_itself_and_is_never_markup(
    server, signed_in, wiki
):
    markup = '<svg/onload="x">'
    await server.store.commit(Update(APPLICATIONS, wiki.client_id, set={"name": markup}))
    page = await asked(signed_in, wiki)
    request = structs.replace(await read_note(server, page), scopes=["openid", markup, "api:read"])
    flow = sealed_requests.seal(server.service, request, sign_in_pending.PURPOSE)
    page = await signed_in.open(at(flow))

    assert "api:read" in text_of(page)
    assert "<svg/" not in page.text


def named(*names):
    """The parameter `claims` that asks for these at both places."""
    return json.dumps({"userinfo": dict.fromkeys(names), "id_token": dict.fromkeys(names)})


async def claims_given(browser, client, answer):
    """What the ID token and userinfo say to the application."""
    tokens = (await client.redeem(browser, answer.answer["code"])).json()
    userinfo = (await client.userinfo(browser, tokens["access_token"])).json()
    return part(tokens["id_token"], 1), userinfo


@pytest.mark.promise("consent: claims")
@on_both_stores
async def test_claims_beyond_the_scopes_are_asked_for_and_given(server, signed_in, wiki):
    page = await asked(signed_in, wiki, scope="openid", claims=named("email", "name"))
    answer = await signed_in.submit(page, decision="allow")
    in_token, at_userinfo = await claims_given(signed_in, wiki, answer)
    consent = await only(server.store, CONSENTS)

    assert "See your email address" in text_of(page)
    assert "See your name and profile" in text_of(page)
    assert "your phone number" not in text_of(page)
    assert (in_token["email"], at_userinfo["email"]) == ("dana@example.com",) * 2
    assert "given_name" not in at_userinfo, "one claim of a scope is not the scope"
    assert (consent.scopes, consent.claims) == (["openid"], ["email", "name"])


@pytest.mark.promise("consent: claims")
@on_both_stores
async def test_claims_that_were_agreed_to_are_not_asked_for_again_and_others_are(signed_in, wiki):
    first = await asked(signed_in, wiki, scope="openid", claims=named("email"))
    await signed_in.submit(first, decision="allow")

    again = await signed_in.get(wiki.authorize_url(scope="openid", claims=named("email")))
    silent = await wiki.silently(signed_in, scope="openid", claims=named("phone_number"))
    more = await asked(signed_in, wiki, scope="openid", claims=named("email", "phone_number"))

    assert "code" in again.answer
    assert silent["error"] == "interaction_required"
    assert "your phone number" in text_of(more)


async def test_claims_of_scopes_that_were_agreed_to_are_not_asked_for(signed_in, wiki):
    first = await asked(signed_in, wiki, scope="openid email")
    await signed_in.submit(first, decision="allow")

    page = await signed_in.get(wiki.authorize_url(scope="openid", claims=named("email")))
    _, at_userinfo = await claims_given(signed_in, wiki, page)

    assert at_userinfo["email"] == "dana@example.com"


@pytest.mark.parametrize("claims", ['{"userinfo": {"sub": null, "salary": null}}', "{}", "[]"])
async def test_claims_that_nobody_has_are_not_asked_for(signed_in, wiki, claims):
    first = await asked(signed_in, wiki, scope="openid")
    await signed_in.submit(first, decision="allow")

    page = await signed_in.get(wiki.authorize_url(scope="openid", claims=claims))

    assert "code" in page.answer


@pytest.mark.promise("consent: claims")
async def test_an_authorization_of_before_gets_nothing_beyond_its_scopes(server, signed_in, wiki):
    page = await asked(signed_in, wiki, scope="openid", claims=named("email"))
    answer = await signed_in.submit(page, decision="allow")
    record = answer.answer["code"][:22]
    await server.store.commit(Update(AUTHORIZATIONS, record, set={"consented_claims": []}))

    in_token, at_userinfo = await claims_given(signed_in, wiki, answer)

    assert "email" not in in_token
    assert "email" not in at_userinfo
