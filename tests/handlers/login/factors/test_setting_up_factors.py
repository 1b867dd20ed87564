"""Setting up a second factor within a sign-in: because it must be, or because it is offered."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from urllib.parse import unquote

import pytest

from idp.records import AUTH_REQUESTS, EVENTS, OUTBOX, RECOVERY_CODES, SESSIONS, USERS, Email
from storage import Update
from tests.support.sign_in.factors import (
    code,
    codes_of,
    give_app,
    secret_of,
    set_rules,
    user_of,
    wrong,
)
from tests.support.sign_in.registering import at_code, code_for
from tests.support.sign_in.resetting import NEW_PASSWORD, at_reset_code, give_address, newest
from tests.support.sign_in.steps import ADMIN_PASSWORD, Seen, at_change, shape, text_of
from tests.support.store.stored import everything, only

CANCEL = ("decision", "cancel")
DAY = timedelta(days=1)
WRONG = "Check the code and your phone's clock."
TWO = json.dumps({"id_token": {"acr": {"essential": True, "value": "urn:idp:acr:two-factors"}}})


@pytest.fixture
def forced(io_loop, server):
    io_loop.run_sync(lambda: set_rules(server, force_mfa=True))


@pytest.fixture
def offered(io_loop, server):
    io_loop.run_sync(lambda: set_rules(server, offer_factor_seconds=30 * 86400))


async def at_offer(visitor, demo, server, **asked):
    page = await visitor.sign_in(demo.authorize_url(**asked), *server.user)
    assert page.name == "factor-offer", page.text
    return page


async def at_app(visitor, demo, server, **asked):
    page = await visitor.submit(await at_offer(visitor, demo, server, **asked), factor="totp")
    assert page.name == "totp-enrol", page.text
    return page


async def at_codes(visitor, demo, server, **typed):
    page = await at_app(visitor, demo, server)
    now = code(server.clock, secret_of(page))
    page = await visitor.submit(page, code=now, **typed)
    assert page.name == "recovery-codes", page.text
    return page


@pytest.mark.full
async def test_who_must_have_a_factor_sets_it_up_and_is_signed_in(visitor, demo, server, forced):
    page = await at_offer(visitor, demo, server)
    assert shape(page) == (
        "factor-offer",
        ["loginName"],
        [("factor", "totp"), ("factor", "passkey"), CANCEL],
    )
    page = await visitor.submit(page, factor="totp")
    assert shape(page) == (
        "totp-enrol",
        ["loginName", "code", "deviceName"],
        [("decision", "other"), CANCEL],
    )
    secret = secret_of(page)
    page = await visitor.submit(page, code=code(server.clock, secret), deviceName="Pixel 9")
    assert shape(page) == ("recovery-codes", [], [])
    assert len(codes_of(page)) == len(set(codes_of(page))) == 10
    assert [one async for one in server.store.scan(SESSIONS)] == []

    page = await visitor.submit(page)
    assert "code" in page.answer
    session, user = await only(server.store, SESSIONS), await user_of(server)
    assert session.amr == ["pwd", "otp", "mfa"]
    assert user.totp.name == "Pixel 9"
    types = [event.type async for event in server.store.scan(EVENTS)]
    assert types.count("user.totp_added") == 1
    assert "code" in (await visitor.open(demo.authorize_url())).answer


async def test_the_page_names_the_service_and_the_account_and_draws_it(
    visitor, demo, server, forced
):
    page = await at_app(visitor, demo, server)
    (uri,) = [unquote(a["href"]) for a in Seen(page).all("a") if a["href"].startswith("otpauth:")]

    host = server.issuer.split("//")[1]
    assert uri.startswith(f"otpauth://totp/{host}:{server.user[0]}?secret={secret_of(page)}")
    assert f"issuer={host}" in uri
    assert 'role="img" aria-label="A QR code that contains the key below"' in page.text
    assert "<svg" in page.text
    assert len(secret_of(page)) == 32


async def test_a_reload_shows_the_same_secret_and_stores_none_in_the_clear(
    visitor, demo, server, forced
):
    page = await at_app(visitor, demo, server)
    again = await visitor.open(page.url)

    assert secret_of(again) == secret_of(page)
    stored = [one async for one in server.store.scan(AUTH_REQUESTS)]
    assert secret_of(page) not in repr(stored)


async def test_the_codes_are_shown_until_they_are_confirmed_and_never_again(
    visitor, demo, server, forced
):
    page = await at_codes(visitor, demo, server)
    again = await visitor.open(page.url)
    assert codes_of(again) == codes_of(page)
    (link,) = [a["href"] for a in Seen(page).all("a") if "download" in a]
    assert unquote(link).split(",")[1].split() == codes_of(page)
    await visitor.submit(page)
    late = await visitor.open(page.url)

    assert late.name == "expired"
    stored = repr([one async for one in server.store.scan(RECOVERY_CODES)])
    assert not any(each in stored for each in codes_of(page))


async def test_a_recovery_code_that_was_shown_gets_its_owner_in(
    visitor, new_visitor, demo, server, forced
):
    page = await at_codes(visitor, demo, server)
    kept = codes_of(page)[3]
    other = new_visitor()
    asked = await other.sign_in(demo.authorize_url(), *server.user)
    asked = await other.open(asked.url.replace("/ui/login/totp", "/ui/login/recovery-code"))

    assert "code" in (await other.submit(asked, code=kept)).answer


@pytest.mark.full
@pytest.mark.parametrize("typed", ["", "12345", "abcdef", "\x00", "wrong", "of another secret"])
async def test_a_wrong_first_code_sets_nothing_up(visitor, demo, server, forced, typed):
    page = await at_app(visitor, demo, server)
    forms = {
        "wrong": wrong(server.clock, secret_of(page)),
        "of another secret": code(server.clock),
    }
    before = await everything(server.store)
    again = await visitor.submit(page, code=forms.get(typed, typed), deviceName="Pixel")

    assert (again.status, again.name) == (400, "totp-enrol")
    assert WRONG in text_of(again)
    assert again.inputs["deviceName"] == "Pixel"
    assert secret_of(again) == secret_of(page)
    assert await everything(server.store) == before


@pytest.mark.full
@pytest.mark.parametrize("name", ["x" * 101, "a\x00b", "a\nb"])
async def test_a_name_that_can_not_be_is_refused(visitor, demo, server, forced, name):
    page = await at_app(visitor, demo, server)
    before = await everything(server.store)
    page = await visitor.submit(page, code=code(server.clock, secret_of(page)), deviceName=name)

    assert (page.status, page.name) == (400, "totp-enrol")
    assert "Enter a name of at most 100 characters" in text_of(page)
    assert await everything(server.store) == before


@pytest.mark.full
async def test_many_wrong_first_codes_are_slowed_down(visitor, demo, server, forced):
    page = await at_app(visitor, demo, server)
    for _ in range(server.service.config.sign_in_failures_before_delay + 1):
        page = await visitor.submit(page, code=wrong(server.clock, secret_of(page)))
    page = await visitor.submit(page, code=code(server.clock, secret_of(page)))

    assert (page.status, page.name) == (429, "totp-enrol")
    assert page.headers["Retry-After"]


@pytest.mark.full
async def test_the_first_code_does_not_sign_in_again(visitor, new_visitor, demo, server, forced):
    page = await at_app(visitor, demo, server)
    secret = secret_of(page)
    now = code(server.clock, secret)
    await visitor.submit(page, code=now)
    other = new_visitor()
    page = await other.sign_in(demo.authorize_url(), *server.user)
    page = await other.submit(page, code=now)

    assert (page.status, page.name) == (400, "totp")


@pytest.mark.full
async def test_something_else_may_be_chosen(visitor, demo, server, forced):
    page = await at_app(visitor, demo, server)
    page = await visitor.submit(page, decision="other")

    assert page.name == "factor-offer"
    again = await visitor.submit(page, factor="totp")
    assert again.name == "totp-enrol"


@pytest.mark.parametrize("sent", [{"decision": "skip"}, {"factor": "magic"}, {}])
async def test_what_is_forced_can_not_be_put_off(visitor, demo, server, forced, sent):
    page = await at_offer(visitor, demo, server)
    page = await visitor.submit(page, **sent)

    assert page.name == "factor-offer"
    assert [one async for one in server.store.scan(SESSIONS)] == []


async def test_a_user_who_was_signed_in_before_it_was_forced_sets_one_up(visitor, demo, server):
    assert "code" in (await visitor.sign_in(demo.authorize_url(), *server.user)).answer
    await set_rules(server, force_mfa=True)
    assert (await demo.silently(visitor))["error"] == "interaction_required"
    first = await only(server.store, SESSIONS)
    page = await visitor.open(demo.authorize_url())
    assert page.name == "factor-offer"
    page = await visitor.submit(page, factor="totp")
    page = await visitor.submit(page, code=code(server.clock, secret_of(page)))
    page = await visitor.submit(page)

    assert "code" in page.answer
    live = [one async for one in server.store.scan(SESSIONS) if one.id != first.id]
    assert [one.amr for one in live] == [["pwd", "otp", "mfa"]]
    assert live[0].auth_time == first.auth_time


@pytest.mark.full
async def test_the_progress_of_a_session_ends_with_it(visitor, demo, server):
    assert "code" in (await visitor.sign_in(demo.authorize_url(), *server.user)).answer
    page = await visitor.open(demo.authorize_url(claims=TWO))
    page = await visitor.submit(page, factor="totp")
    page = await visitor.submit(page, code=code(server.clock, secret_of(page)))
    assert page.name == "recovery-codes"
    session = await only(server.store, SESSIONS)
    ended = {"ended_at": server.clock.now()}
    await server.store.commit(Update(SESSIONS, session.id, set=ended))
    page = await visitor.submit(page)

    assert page.name == "login-name"


@pytest.mark.full
async def test_of_several_forms_at_once_one_sets_the_app_up(visitor, demo, server, forced):
    page = await at_app(visitor, demo, server)
    now = code(server.clock, secret_of(page))
    answers = await asyncio.gather(*[visitor.send(page, code=now) for _ in range(4)])
    assert {answer.status for answer in answers} == {303}
    pages = [await visitor.follow(answer) for answer in answers]

    assert {page.name for page in pages} == {"recovery-codes"}
    types = [event.type async for event in server.store.scan(EVENTS)]
    assert types.count("user.totp_added") == 1
    assert len([one async for one in server.store.scan(RECOVERY_CODES)]) == 10


@pytest.mark.full
async def test_an_application_that_demands_two_factors_has_one_set_up(visitor, demo, server):
    page = await at_app(visitor, demo, server, claims=TWO)
    page = await visitor.submit(page, code=code(server.clock, secret_of(page)))

    assert "code" in (await visitor.submit(page)).answer


async def test_where_no_factor_counts_the_application_is_informed(visitor, demo, server):
    await set_rules(server, second_factors=(), multi_factors=())
    page = await visitor.sign_in(demo.authorize_url(claims=TWO), *server.user)

    assert page.answer["error"] == "login_required"


async def test_a_user_who_opens_an_account_sets_one_up(visitor, demo, server, forced):
    page = await at_code(visitor, demo)
    page = await visitor.submit(page, code=await code_for(visitor))

    assert page.name == "factor-offer"


async def test_a_password_is_replaced_before_a_factor_is_set_up(visitor, demo, server, forced):
    page = await at_change(visitor, demo, server.start.admin)
    page = await visitor.submit(page, newPassword=ADMIN_PASSWORD)

    assert page.name == "factor-offer"
    assert [one async for one in server.store.scan(SESSIONS)] == []


async def test_a_new_password_does_not_do_without_the_second_factor(visitor, demo, server):
    admin = server.start.admin
    await give_app(server, admin.login_name)
    page = await visitor.sign_in(demo.authorize_url(), admin.login_name, admin.password)
    assert page.name == "totp"
    other = await visitor.open(page.url.replace("/ui/login/totp", "/ui/login/change-password"))
    assert other.name == "totp"
    page = await visitor.submit(page, code=code(server.clock))
    assert page.name == "change-password"
    page = await visitor.submit(page, newPassword=ADMIN_PASSWORD)

    assert "code" in page.answer
    assert (await only(server.store, SESSIONS)).amr == ["pwd", "otp", "mfa"]


async def test_the_code_of_a_mail_does_not_do_without_the_second_factor(visitor, demo, server):
    await give_address(server)
    await give_app(server)
    page = await at_reset_code(visitor, demo)
    page = await visitor.submit(page, code=(await newest(visitor))["code"])
    assert page.name == "totp"
    refused = await visitor.submit(page, code=wrong(server.clock))
    assert refused.status == 400
    page = await visitor.submit(refused, code=code(server.clock))
    assert page.name == "change-password"
    page = await visitor.submit(page, newPassword=NEW_PASSWORD)

    assert "code" in page.answer
    assert (await only(server.store, SESSIONS)).amr == ["otp", "pwd", "mfa"]


# Offered


async def test_an_offer_can_be_put_off_until_it_is_made_again(visitor, demo, server, offered):
    page = await at_offer(visitor, demo, server)
    assert page.buttons == [
        ("factor", "totp"),
        ("factor", "passkey"),
        ("decision", "skip"),
        CANCEL,
    ]
    page = await visitor.submit(page, decision="skip")
    assert "code" in page.answer
    again = await visitor.sign_in(demo.authorize_url(prompt="login"), *server.user)
    assert "code" in again.answer
    server.clock.advance(30 * DAY)
    page = await visitor.sign_in(demo.authorize_url(), *server.user)

    assert page.name == "factor-offer"


async def test_a_user_who_has_a_factor_is_offered_none(visitor, demo, server, offered):
    await give_app(server)
    page = await visitor.sign_in(demo.authorize_url(), *server.user)
    page = await visitor.submit(page, code=code(server.clock))

    assert "code" in page.answer


async def test_nothing_is_offered_by_default(visitor, demo, server):
    assert "code" in (await visitor.sign_in(demo.authorize_url(), *server.user)).answer


async def test_a_new_factor_ends_what_was_issued_and_its_owner_is_notified(
    visitor, new_visitor, demo, server
):
    user = await user_of(server)
    email = Email(address="nora@example.com", is_verified=True)
    await server.store.commit(Update(USERS, user.id, set={"email": email}))
    other = new_visitor()
    assert "code" in (await other.sign_in(demo.authorize_url(), *server.user)).answer
    await set_rules(server, offer_factor_seconds=86400)
    await at_codes(visitor, demo, server)

    assert (await user_of(server)).stamp != user.stamp
    assert (await demo.silently(other))["error"] == "login_required"
    assert [mail.kind async for mail in server.store.scan(OUTBOX)] == ["factor_added"]
