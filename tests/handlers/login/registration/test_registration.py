"""Opening an account by oneself: from prompt=create to the ID token."""

import base64
import json

import pytest

from idp.management.policies import policies
from idp.records import (
    APPLICATIONS,
    EVENTS,
    ORGANIZATIONS,
    POLICIES,
    REGISTRATIONS,
    LoginRules,
)
from storage import Insert, Update
from tests.support.sign_in.registering import (
    ADDRESS,
    FIELDS,
    INPUTS,
    PASSWORD,
    at_code,
    at_register,
    code_for,
    found,
    mails,
    newest,
    registered,
    users,
)
from tests.support.sign_in.steps import Seen, shape, text_of
from tests.support.store.stored import count, everything

CANCEL = ("decision", "cancel")


def claims_of(id_token):
    part = id_token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


@pytest.mark.promise("authorization: prompt create")
async def test_prompt_create_shows_the_form_at_once(visitor, demo):
    page = await at_register(visitor, demo)

    assert shape(page) == ("register", INPUTS, [CANCEL])
    assert page.status == 200
    assert "to continue to Demo application" in text_of(page)


@pytest.mark.promise("authorization: prompt create")
async def test_a_script_opens_an_account_and_gets_its_id_token(visitor, demo, server):
    page = await at_register(visitor, demo)
    page = await visitor.submit(page, **FIELDS)
    assert shape(page) == ("verify-email", ["code"], [("decision", "resend"), CANCEL])
    answer = await visitor.submit(page, code=await code_for(visitor))
    tokens = (await demo.redeem(visitor, answer.answer["code"])).json()

    user = await found(server, ADDRESS)
    claims = claims_of(tokens["id_token"])
    assert (claims["sub"], claims["aud"]) == (user.id, demo.client_id)
    assert (claims["nonce"], claims["amr"]) == ("nonce-1", ["pwd"])
    about = (await demo.userinfo(visitor, tokens["access_token"])).json()
    assert (about["given_name"], about["family_name"]) == ("Nora", "Nguyễn")
    assert (about["name"], about["preferred_username"]) == ("Nora Nguyễn", ADDRESS)
    assert (about["email"], about["email_verified"]) == (ADDRESS, True)


async def test_the_account_belongs_to_the_organization_of_the_application(visitor, demo, server):
    await registered(visitor, demo)
    client = await server.store.get(APPLICATIONS, demo.client_id)

    user = await found(server, ADDRESS)
    assert (user.org_id, user.kind, user.state) == (client.org_id, "human", "active")
    assert (user.email_key, user.email.is_verified) == (ADDRESS, True)
    assert not user.password.must_change


async def test_the_account_its_verification_and_its_sign_in_are_events_of_its_owner(
    visitor, demo, server
):
    before = {event.id async for event in server.store.scan(EVENTS)}
    await registered(visitor, demo)
    user = await found(server, ADDRESS)
    new = [event async for event in server.store.scan(EVENTS) if event.id not in before]

    told = {(event.type, event.sequence, event.actor) for event in new}
    assert told == {
        ("user.created", 1, user.id),
        ("user.email_verified", 2, user.id),
        ("session.opened", 1, user.id),
    }
    assert user.sequence == 2
    assert PASSWORD not in repr(new)


async def test_nothing_of_the_account_waits_any_more_once_it_is_made(visitor, demo, server):
    await registered(visitor, demo)

    assert "registrations" not in await count(server.store)


async def test_before_the_code_there_is_no_account(visitor, demo, server):
    await at_code(visitor, demo)

    counted = await count(server.store)
    assert (counted["registrations"], counted["outbox"]) == (1, 1)
    assert "sessions" not in counted
    assert await users(server) == set()


async def test_what_waits_can_not_be_read_in_the_store(visitor, demo, server):
    await at_code(visitor, demo, userName="nora-n")
    code = await code_for(visitor)
    stored = repr(await everything(server.store))

    for secret in (code, ADDRESS, PASSWORD, "nora-n", "Nguyễn"):
        assert secret not in stored


async def test_the_new_account_signs_in_by_name_and_by_address(new_visitor, demo, server):
    await registered(new_visitor(), demo, userName=" Nora.N ")
    assert await users(server) == {"Nora.N"}

    for name in ("nora.n", "NORA.N@localhost", ADDRESS):
        page = await new_visitor().sign_in(demo.authorize_url(), name, PASSWORD)
        assert "code" in page.answer, name


async def test_the_browser_is_signed_in_afterwards_with_a_new_cookie(visitor, demo):
    page = await at_code(visitor, demo)
    before = dict(visitor.cookies)
    await visitor.submit(page, code=await code_for(visitor))

    assert dict(visitor.cookies) != before
    assert "code" in await demo.silently(visitor)


async def test_a_user_who_is_signed_in_may_open_another_account(visitor, demo, server):
    await demo.tokens(visitor, *server.user)
    server.clock.advance(1)
    answer = await registered(visitor, demo)

    assert "code" in answer.answer
    both = await visitor.open(demo.authorize_url())
    assert both.name == "accounts"


async def test_the_form_and_the_sign_in_lead_to_each_other_within_the_flow(visitor, demo, server):
    page = await at_register(visitor, demo)
    (there,) = [link for link in Seen(page).links if "/ui/login/name" in link]
    page = await visitor.open(there)
    assert page.name == "login-name"
    (back,) = [link for link in Seen(page).links if "/ui/login/register" in link]
    assert (await visitor.open(back)).name == "register"
    page = await visitor.submit(page, loginName=server.user[0])
    answer = await visitor.submit(page, password=server.user[1])

    assert answer.answer["state"] == "state-1"
    assert "code" in answer.answer


async def test_the_sign_in_page_leads_to_the_form_without_prompt_create(visitor, demo):
    page = await visitor.open(demo.authorize_url())
    (link,) = [link for link in Seen(page).links if "/ui/login/register" in link]
    page = await visitor.submit(await visitor.open(link), **FIELDS)
    answer = await visitor.submit(page, code=await code_for(visitor))

    assert "code" in answer.answer


async def test_an_address_that_was_hinted_or_typed_need_not_be_typed_again(visitor, demo):
    hinted = await at_register(visitor, demo, login_hint=ADDRESS)
    named = await at_register(visitor, demo, login_hint="nora")
    page = await visitor.open(demo.authorize_url())
    (link,) = [link for link in Seen(page).links if "/ui/login/register" in link]
    await visitor.submit(page, loginName=ADDRESS)
    typed = await visitor.open(link)

    assert [page.inputs["email"] for page in (hinted, named, typed)] == [ADDRESS, "", ADDRESS]


async def test_cancelling_informs_the_application(visitor, demo, server):
    page = await at_register(visitor, demo)
    answer = await visitor.submit(page, decision="cancel")
    page = await at_code(visitor, demo)
    later = await visitor.submit(page, decision="cancel")

    assert answer.answer["error"] == later.answer["error"] == "access_denied"
    assert await users(server) == set()


async def test_fields_that_nobody_asked_for_change_nothing(visitor, demo, server):
    extra = {"roles": "IAM_OWNER", "orgId": "other", "isVerified": "true", "state": "locked"}
    page = await visitor.submit(await at_register(visitor, demo), **(FIELDS | extra))
    await visitor.submit(page, code=await code_for(visitor))

    user = await found(server, ADDRESS)
    assert user.state == "active"
    assert (await count(server.store))["memberships"] == 2  # those of the start


async def test_a_form_without_its_token_does_nothing(visitor, new_visitor, demo, server):
    page = await at_register(visitor, demo)
    before = await everything(server.store)
    without = await visitor.post(page.url, FIELDS)
    foreign = await new_visitor().post(page.url, {**page.hidden, **FIELDS})
    cross = await visitor.post(
        page.url, {**page.hidden, **FIELDS}, headers={"Sec-Fetch-Site": "cross-site"}
    )

    assert [answer.status for answer in (without, foreign, cross)] == [403] * 3
    assert await everything(server.store) == before


async def test_pages_and_mail_speak_the_language_that_the_application_asked_for(
    visitor, demo, server
):
    page = await at_register(visitor, demo, ui_locales="de")
    await visitor.submit(page, **FIELDS)
    mail = await newest(visitor)

    assert "Vorname" in page.text
    assert mail["subject"] == "Bestätigen Sie Ihre E-Mail-Adresse"
    assert '<html lang="de" dir="ltr">' in mail["html"]
    page = await visitor.get(mail["url"])
    await visitor.submit(page, code=mail["code"])
    assert (await found(server, ADDRESS)).profile.preferred_language == "de"


async def test_the_mail_holds_nothing_that_a_stranger_chose(visitor, demo):
    fields = {"givenName": "WIN-MONEY", "familyName": "EVIL.EXAMPLE", "userName": "click-here"}
    await at_code(visitor, demo, **fields)
    (mail,) = await mails(visitor)

    assert not [value for value in fields.values() if value in json.dumps(mail)]
    assert mail["text"].count("http") == 1


class TestSwitchedOff:
    @pytest.fixture
    def settings(self):
        return {"self_registration": False}

    async def test_an_application_that_asks_for_an_account_gets_the_login_page(
        self, visitor, demo, server
    ):
        page = await visitor.open(demo.authorize_url(prompt="create"))
        answer = await visitor.submit(page, loginName=server.user[0])
        answer = await visitor.submit(answer, password=server.user[1])

        assert (page.status, page.name) == (200, "login-name")
        assert 'role="alert"' not in page.text
        assert not [link for link in Seen(page).links if "register" in link]
        assert "code" in answer.answer

    async def test_an_organization_that_opened_registration_keeps_it(self, visitor, demo, server):
        client = await server.store.get(APPLICATIONS, demo.client_id)
        record = policies.new(client.org_id, LoginRules(), server.clock.now(), "login")
        await server.store.commit(Insert(POLICIES, record))
        page = await visitor.open(demo.authorize_url(prompt="create"))
        login = await visitor.open(demo.authorize_url())

        assert (page.status, page.name) == (200, "register")
        assert "newPassword" in page.inputs
        assert [link for link in Seen(login).links if "/ui/login/register" in link]

    async def test_the_page_says_who_makes_accounts(self, visitor, demo, server):
        login = await visitor.open(demo.authorize_url(prompt="create"))
        page = await visitor.open(login.url.replace("/ui/login?", "/ui/login/register?"))
        before = await everything(server.store)
        sent = await visitor.post(page.url, FIELDS)
        (link,) = [link for link in Seen(page).links if "/ui/login/name" in link]
        name = await visitor.open(link)
        posted = await visitor.post(page.url, {**name.hidden, **FIELDS})

        assert (page.status, page.name, page.inputs) == (200, "register", {})
        assert "Only administrators can create accounts here" in text_of(page)
        assert sent.status == 403
        assert (posted.status, posted.name) == (400, "register")
        assert await everything(server.store) == before

    async def test_the_sign_in_page_does_not_lead_there(self, visitor, demo):
        page = await visitor.open(demo.authorize_url())

        assert not [link for link in Seen(page).links if "register" in link]


async def test_an_organization_that_is_not_active_takes_nobody_in(visitor, demo, server):
    page = await at_register(visitor, demo)
    client = await server.store.get(APPLICATIONS, demo.client_id)
    await server.store.commit(Update(ORGANIZATIONS, client.org_id, set={"state": "inactive"}))
    refused = await visitor.submit(page, **FIELDS)

    assert (refused.status, refused.inputs) == (400, {})
    assert [each async for each in server.store.scan(REGISTRATIONS)] == []
