"""Whoever is given an account without a password chooses one by the link of a mail."""

import pytest

from idp.records import USERS
from tests.handlers.people import create
from tests.handlers.registering import mails
from tests.handlers.resetting import NEW_PASSWORD, newest
from tests.handlers.steps import Seen, leads_on, shape, text_of
from tests.support.callers import instance_owner
from tests.support.samples.policies import address

MINI = "mini@mouse.example"


@pytest.fixture
def owner(io_loop, server, visitor):
    return io_loop.run_sync(lambda: instance_owner(server, visitor))


async def test_the_link_leads_to_a_first_password_and_proves_the_address(
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


async def test_the_code_of_the_mail_still_proves_the_address(server, owner, new_visitor):
    made = await create(owner, email={"email": MINI})
    mail = await newest(new_visitor(), MINI)
    body = {"verificationCode": mail["code"]}
    answer = await owner.post(f"/v2/users/{made['userId']}/email/verify", body)
    late = await new_visitor().get(mail["url"])

    assert answer.status == 200
    assert (late.status, late.name) == (410, "expired")


async def test_an_invitation_that_is_too_old_leads_to_another_mail(server, owner, new_visitor):
    await create(owner, email={"email": MINI})
    person = new_visitor()
    link = (await newest(person, MINI))["url"]
    server.clock.advance(24 * 3600 + 1)
    late = await person.get(link)
    (again,) = [a for a in Seen(late).links if a.startswith("/ui/reset")]
    page = await person.submit(await person.open(again), loginName=MINI)
    other = await person.open((await newest(person, MINI))["url"])

    assert (late.status, late.name) == (410, "expired")
    assert (page.name, other.name) == ("reset-code", "change-password")


async def test_who_has_a_password_is_only_asked_to_prove_the_address(owner, new_visitor):
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
    assert "You are signed in" in text_of(done)
