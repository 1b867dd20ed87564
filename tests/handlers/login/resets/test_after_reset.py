"""What comes of a reset: who is signed out, what is asked for still, and who is told."""

from __future__ import annotations

from tests.support.sign_in.factors import code as code_of_app
from tests.support.sign_in.factors import give_app
from tests.support.sign_in.registering import FIELDS, mails
from tests.support.sign_in.resetting import (
    ADDRESS,
    NEW_PASSWORD,
    at_reset_code,
    chosen,
    give_address,
    link_to,
    newest,
)
from tests.support.sign_in.steps import at_password, text_of


async def test_the_new_password_counts_the_old_one_and_its_sessions_do_not(
    visitor, new_visitor, server, demo
):
    await give_address(server)
    elsewhere = new_visitor()
    await demo.tokens(elsewhere, *server.user)
    await chosen(visitor, await at_reset_code(visitor, demo))
    old = await at_password(new_visitor(), demo, "demo")
    old = await visitor.post(old.url, {**old.hidden, "password": server.user[1]})
    again = await elsewhere.open(demo.authorize_url())

    assert old.status == 403
    assert again.name == "login-name"
    assert "code" in (await elsewhere.sign_in(demo.authorize_url(), "demo", NEW_PASSWORD)).answer


async def test_a_second_factor_is_asked_for_after_a_reset_all_the_same(visitor, server, demo):
    await give_address(server)
    await give_app(server)
    page = await at_reset_code(visitor, demo)
    page = await visitor.submit(page, code=(await newest(visitor))["code"])
    refused = await visitor.submit(page, code="1")
    silent = await visitor.get(demo.authorize_url(prompt="none"))
    choice = await visitor.submit(refused, code=code_of_app(server.clock))
    done = await visitor.submit(choice, newPassword=NEW_PASSWORD)

    assert (page.name, refused.status, refused.name) == ("totp", 400, "totp")
    assert silent.answer["error"] == "login_required"
    assert choice.name == "change-password"
    assert "code" in done.answer


async def test_only_the_owner_is_notified_of_the_new_password(visitor, server, demo):
    await give_address(server)
    await chosen(visitor, await at_reset_code(visitor, demo))
    sent = await mails(visitor)

    assert {mail["kind"] for mail in sent} == {"reset_password", "password_changed"}
    assert [mail["to"] for mail in sent] == [ADDRESS] * 2


async def test_what_was_typed_for_an_account_is_known_at_the_sign_in_and_at_the_reset(
    visitor, server, demo
):
    page = await visitor.open(demo.authorize_url(prompt="create", ui_locales="de"))
    page = await visitor.submit(page, **(FIELDS | {"email": ADDRESS}))
    name = await visitor.open(link_to(page, "/ui/login/name"))
    password = await visitor.submit(name, loginName=name.inputs["loginName"])
    reset = await visitor.open(link_to(password, "/ui/login/reset"))
    again = await visitor.open(reset.url.replace("/reset", "/register"))

    assert name.inputs["loginName"] == reset.inputs["loginName"] == ADDRESS
    assert again.inputs["givenName"] == FIELDS["givenName"]
    for one in (page, name, password, reset, again):
        assert one.headers["Content-Language"] == "de"
        assert "Demo application" in text_of(one)
