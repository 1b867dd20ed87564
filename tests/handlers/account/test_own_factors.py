"""Somebody's own second factor: set up from their account, taken away, and new recovery codes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.records import EVENTS, OUTBOX, RECOVERY_CODES, SESSIONS, USERS, Email
from storage import Update
from tests.support.sign_in.factors import (
    code,
    codes_of,
    give_app,
    give_codes,
    secret_of,
    set_rules,
    user_of,
    wrong,
)
from tests.support.sign_in.steps import ADMIN_PASSWORD, text_of
from tests.support.store.stored import everything

APP = "/ui/account/authenticator"
CODES = "/ui/account/recovery-codes"
NEW_PASSWORD = "seven green kettles hum"


async def signed_in(visitor, server, demo):
    page = await visitor.sign_in(demo.authorize_url(), *server.user)
    if page.name == "totp":
        page = await visitor.submit(page, code=code(server.clock))
    assert "code" in page.answer
    server.clock.advance(30)


async def live_sessions(server):
    return [one async for one in server.store.scan(SESSIONS) if one.ended_at is None]


async def types(server):
    return [event.type async for event in server.store.scan(EVENTS)]


@pytest.mark.full
async def test_an_app_is_set_up_from_the_account_and_the_person_stays_signed_in(
    visitor, new_visitor, demo, server
):
    other = new_visitor()
    for one in (visitor, other):
        await signed_in(one, server, demo)
    page = await visitor.open(APP)
    assert "Set up an authenticator app" in text_of(page)
    page = await visitor.open(f"{APP}/new")
    assert page.name == "totp-enrol"
    page = await visitor.submit(page, code=code(server.clock, secret_of(page)))
    assert page.name == "recovery-codes"
    page = await visitor.submit(page)

    assert (page.status, page.name) == (200, "account/show")
    assert "Remove the authenticator app" in text_of(page)
    assert "code" in await demo.silently(visitor)
    assert (await demo.silently(other))["error"] == "login_required"


async def test_setting_up_asks_who_it_is_after_a_while_and_for_the_present_app(
    visitor, demo, server
):
    await give_app(server)
    await signed_in(visitor, server, demo)
    server.clock.advance(timedelta(minutes=11))
    page = await visitor.open(f"{APP}/new")
    assert page.name == "password"
    page = await visitor.submit(page, password=server.user[1])
    assert page.name == "totp"
    page = await visitor.submit(page, code=code(server.clock))
    assert page.name == "totp-enrol"
    page = await visitor.submit(page, code=code(server.clock, secret_of(page)))

    assert (await user_of(server)).totp.last_step > 0
    assert (await types(server)).count("user.totp_added") == 1


async def test_cancelling_leads_back_to_the_account(visitor, demo, server):
    await signed_in(visitor, server, demo)
    page = await visitor.open(f"{APP}/new")
    before = await user_of(server)
    page = await visitor.submit(page, decision="cancel")

    assert page.name == "account/show"
    assert await user_of(server) == before


async def test_an_app_is_removed_and_its_owner_is_notified(visitor, new_visitor, demo, server):
    user = await user_of(server)
    email = Email(address="nora@example.com", is_verified=True)
    await server.store.commit(Update(USERS, user.id, set={"email": email}))
    await give_app(server)
    await give_codes(server)
    other = new_visitor()
    for one in (visitor, other):
        await signed_in(one, server, demo)
    page = await visitor.submit(await visitor.open(f"{APP}/remove"))
    assert "Removed." in page.text

    assert (await user_of(server)).totp is None
    assert [one async for one in server.store.scan(RECOVERY_CODES)] == []
    assert (await types(server)).count("user.totp_removed") == 1
    assert [mail.kind async for mail in server.store.scan(OUTBOX)] == ["factor_removed"]
    assert "code" in await demo.silently(visitor)
    assert (await demo.silently(other))["error"] == "login_required"
    again = await new_visitor().sign_in(demo.authorize_url(), *server.user)
    assert "code" in again.answer


async def test_the_last_factor_stays_where_one_is_demanded(visitor, demo, server):
    await give_app(server)
    await set_rules(server, force_mfa=True)
    await signed_in(visitor, server, demo)
    page = await visitor.open(f"{APP}/remove")
    before = await everything(server.store)
    page = await visitor.submit(page)

    assert (page.status, page.name) == (400, "account/form")
    assert "Your organization requires a second factor" in text_of(page)
    assert await everything(server.store) == before


async def test_removing_twice_leads_back(visitor, demo, server):
    await give_app(server)
    await signed_in(visitor, server, demo)
    page = await visitor.open(f"{APP}/remove")
    await visitor.submit(page)
    page = await visitor.submit(page)

    assert page.name in ("account/show", "account/form")
    assert (await types(server)).count("user.totp_removed") == 1


async def test_new_recovery_codes_take_the_place_of_the_old(visitor, new_visitor, demo, server):
    await give_app(server)
    old = await give_codes(server)
    await signed_in(visitor, server, demo)
    page = await visitor.open(CODES)
    assert "10 codes left" in text_of(page)
    page = await visitor.submit(page)
    assert page.name == "account/recovery-codes"
    new = codes_of(page)
    assert len(new) == 10
    assert not set(new) & set(old)
    assert "user.recovery_codes_made" in await types(server)

    other = new_visitor()
    asked = await other.sign_in(demo.authorize_url(), *server.user)
    asked = await other.open(asked.url.replace("/ui/login/totp", "/ui/login/recovery-code"))
    refused = await other.submit(asked, code=old[0])
    assert refused.status == 400
    assert "code" in (await other.submit(refused, code=new[0])).answer
    assert "9 codes left" in text_of(await visitor.open(CODES))


async def test_without_a_factor_there_are_no_recovery_codes(visitor, demo, server):
    await signed_in(visitor, server, demo)
    page = await visitor.open(CODES)
    before = await everything(server.store)
    page = await visitor.submit(page)

    assert (page.status, page.name) == (400, "account/form")
    assert "Set up a second factor first" in text_of(page)
    assert await everything(server.store) == before


@pytest.mark.parametrize("path", [f"{APP}/remove", CODES])
async def test_the_form_of_another_browser_does_nothing(visitor, new_visitor, demo, server, path):
    await give_app(server)
    await signed_in(visitor, server, demo)
    page, other = await visitor.open(path), new_visitor()
    await signed_in(other, server, demo)
    before = await everything(server.store)
    sent = await other.post(path, page.hidden)

    assert sent.status == 403
    assert await everything(server.store) == before


async def test_a_changed_password_keeps_the_second_factor_of_the_session(visitor, demo, server):
    await give_app(server)
    await signed_in(visitor, server, demo)
    page = await visitor.open("/.well-known/change-password")
    page = await visitor.submit(
        page, currentPassword=server.user[1], newPassword="seven green kettles hum"
    )
    assert page.status == 200

    (session,) = await live_sessions(server)
    assert (session.acr, session.amr) == ("urn:idp:acr:two-factors", ["pwd", "otp", "mfa"])


async def test_the_set_up_link_does_not_do_without_the_second_factor(visitor, server):
    admin = server.start.admin
    await give_app(server, admin.login_name)
    page = await visitor.open("/ui/setup")
    typed = {"loginName": admin.login_name, "password": admin.password}
    page = await visitor.submit(page, **typed, newPassword=ADMIN_PASSWORD)
    assert page.name == "login-name"
    assert await live_sessions(server) == []
    page = await visitor.submit(page, loginName=admin.login_name)
    page = await visitor.submit(page, password=ADMIN_PASSWORD)

    assert page.name == "totp"
    refused = await visitor.submit(page, code=wrong(server.clock))
    assert refused.status == 400
