"""Whoever is given an account without a password chooses one by the link of a mail."""

from dataclasses import replace

import pytest
from msgspec import structs

from idp.management.users import mail_url_templates
from idp.records import USERS
from tests.support.management.callers import refused
from tests.support.samples.policies import address
from tests.support.sign_in.people import create
from tests.support.sign_in.registering import mails
from tests.support.sign_in.resetting import NEW_PASSWORD, newest
from tests.support.sign_in.steps import Seen, leads_on, shape, text_of
from tests.support.store.stored import everything

MINI = "mini@mouse.example"


async def test_the_link_leads_to_a_first_password_and_verifies_the_address(
    server, owner, new_visitor, demo
):
    made = await create(owner, email={"email": MINI})
    mail, person = await newest(new_visitor(), MINI), new_visitor()
    page = await person.open(mail["url"])
    before = await server.store.get(USERS, made["userId"])
    done = await person.submit(page, newPassword=NEW_PASSWORD)
    user = await server.store.get(USERS, made["userId"])

    assert mail["kind"] == "invite"
    assert shape(page) == ("change-password", ["loginName", "newPassword"], [])
    assert (before.password, before.email.is_verified) == (None, False)
    assert (user.email.is_verified, user.email_key) == (True, MINI)
    assert (done.status, done.name) == (200, "signed-in")
    assert "code" in (await person.open(demo.authorize_url())).answer
    assert "code" in (await new_visitor().sign_in(demo.authorize_url(), MINI, NEW_PASSWORD)).answer


async def test_it_leads_on_to_where_the_organization_wants(server, owner, new_visitor):
    page = {"defaultRedirectUri": "https://shop.example/welcome"}
    await owner.request("PUT", address("login", "admin"), page)
    await create(owner, email={"email": MINI})
    person = new_visitor()
    link = (await newest(person, MINI))["url"]
    done = await person.submit(await person.open(link), newPassword=NEW_PASSWORD)

    assert "https://shop.example/welcome" in Seen(done).links


async def test_the_code_of_the_mail_still_verifies_the_address(server, owner, new_visitor):
    made = await create(owner, email={"email": MINI})
    mail = await newest(new_visitor(), MINI)
    body = {"verificationCode": mail["code"]}
    answer = await owner.post(f"/v2/users/{made['userId']}/email/verify", body)
    late = await new_visitor().open(mail["url"])

    assert answer.status == 200
    assert (late.status, late.name) == (410, "expired")


async def test_an_invitation_that_is_too_old_leads_to_another_mail(server, owner, new_visitor):
    await create(owner, email={"email": MINI})
    person = new_visitor()
    link = (await newest(person, MINI))["url"]
    server.clock.advance(24 * 3600 + 1)
    late = await person.open(link)
    (again,) = [a for a in Seen(late).links if a.startswith("/ui/reset")]
    page = await person.submit(await person.open(again), loginName=MINI)
    other = await person.open((await newest(person, MINI))["url"])

    assert (late.status, late.name) == (410, "expired")
    assert (page.name, other.name) == ("reset-code", "change-password")


async def test_a_user_with_a_password_is_only_asked_to_verify_the_address(owner, new_visitor):
    await create(owner, email={"email": MINI}, password={"password": NEW_PASSWORD})

    assert [mail["kind"] for mail in await mails(new_visitor(), MINI)] == ["verify_email"]


async def test_a_page_of_the_senders_own_gets_the_code_as_before(owner, new_visitor):
    template = "https://app.example/verify?code={{.Code}}"
    await create(owner, email={"email": MINI, "sendCode": {"urlTemplate": template}})
    (mail,) = await mails(new_visitor(), MINI)

    assert mail["kind"] == "verify_email"
    assert mail["url"] == f"https://app.example/verify?code={mail['code']}"


async def test_a_reset_by_the_management_api_leads_to_the_page_too(owner, new_visitor, server):
    made = await create(owner, email={"email": MINI, "isVerified": True})
    await owner.post(f"/v2/users/{made['userId']}/password_reset", {"sendLink": {}})
    person = new_visitor()
    page = await person.open((await newest(person, MINI))["url"])
    refused = await person.submit(page, newPassword="short")
    done = await person.submit(page, newPassword=NEW_PASSWORD)

    assert (refused.status, refused.name) == (400, "change-password")
    assert leads_on(done)
    assert "You're signed in" in text_of(done)


async def invited(owner, user_id, body, path="invite_code"):
    return (await owner.post(f"/v2/users/{user_id}/{path}", body)).json()


@pytest.mark.parametrize("path", ["invite_code", "invite_code/resend"])
async def test_a_person_without_a_password_is_invited_again(server, owner, new_visitor, path):
    made = await create(owner, email={"email": MINI})
    before = await newest(new_visitor(), MINI)
    server.clock.advance(1)
    answer = await invited(owner, made["userId"], {}, path)
    mail = await newest(new_visitor(), MINI)
    page = await new_visitor().open(mail["url"])

    assert (answer["mail"], mail["kind"]) == ("held", "invite")
    assert mail["url"] != before["url"]
    assert page.name == "change-password"


async def test_the_code_of_an_invitation_sets_the_first_password(server, owner):
    made = await create(owner, email={"email": MINI, "returnCode": {}})
    code = (await invited(owner, made["userId"], {"returnCode": {}}))["inviteCode"]
    body = {"newPassword": {"password": NEW_PASSWORD}, "verificationCode": code}
    answer = await owner.post(f"/v2/users/{made['userId']}/password", body)

    assert answer.status == 200
    assert (await server.store.get(USERS, made["userId"])).password is not None


async def test_an_invitation_leads_where_the_caller_wants_and_says_for_whom(owner, new_visitor):
    made = await create(owner, email={"email": MINI, "returnCode": {}})
    template = "https://app.example/join?c={{.Code}}&n={{.LoginName}}&u={{.UserID}}"
    await invited(owner, made["userId"], {"sendCode": {"urlTemplate": template}})
    mail = await newest(new_visitor(), MINI)

    assert f"https://app.example/join?c={mail['code']}&n=" in mail["url"]
    assert mail["url"].endswith(f"&u={made['userId']}")


async def test_a_user_who_has_a_password_is_not_invited(server, owner):
    made = await create(owner, email={"email": MINI}, password={"password": NEW_PASSWORD})
    before = await everything(server.store)
    page = await owner.post(f"/v2/users/{made['userId']}/invite_code", {})

    assert refused(page, 400, 9) == {"": "user.has_password"}
    assert await everything(server.store) == before


class TestPublicIssuer:
    """Where others could be led astray, a mail leads to this service and known applications."""

    @pytest.fixture
    def service(self, server):
        config = structs.replace(
            server.service.config,
            issuer="https://login.example.com",
            mail_link_origins=("https://shop.example:8443",),
        )
        return replace(server.service, config=config)

    @pytest.mark.parametrize(
        ("template", "error_code"),
        [
            ("https://login.example.com/x?c={{.Code}}", None),
            ("https://app.example.com/x?c={{.Code}}", None),
            ("https://shop.example:8443/{{.Code}}", None),
            ("https://shop.example/{{.Code}}", "url_template.origin"),
            ("https://app.example.com.evil.example/", "url_template.origin"),
            ("https://app.example.com:444/", "url_template.origin"),
            ("https://evil.example/?https://app.example.com", "url_template.origin"),
            ("https://app.example.com@evil.example/", "url_template.invalid"),
            ("http://app.example.com/", "url_template.invalid"),
            ("javascript:alert(1)", "url_template.invalid"),
            ("https://{{.Code}}.example.com/", "url_template.invalid"),
            ("https://app.example.com/{{.Password}}", "url_template.invalid"),
        ],
    )
    async def test_only_known_origins_are_led_to(self, server, service, template, error_code):
        await server.register(redirect_uris=["https://app.example.com/cb"])
        (user,) = (await server.store.find(USERS, {"login_key": "demo"})).records
        found = await mail_url_templates.problems(service, user.org_id, template, "urlTemplate")
        elsewhere = await mail_url_templates.problems(service, "another", template, "urlTemplate")

        assert [each.error_code for each in found] == ([error_code] if error_code else [])
        if "app.example.com/x" in template:
            assert [each.error_code for each in elsewhere] == ["url_template.origin"]
