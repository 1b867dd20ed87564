"""Who has a second factor is asked for it after the password, and gets in with nothing less."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest

from idp.records import (
    EVENTS,
    OUTBOX,
    SESSIONS,
    USERS,
    Email,
    LockoutRules,
)
from storage import Update
from tests.support.attacks.forged import part
from tests.support.sign_in.factors import (
    code,
    give_app,
    give_codes,
    set_policy,
    set_rules,
    user_of,
    wrong,
)
from tests.support.sign_in.steps import cancel, shape, text_of
from tests.support.store.stored import everything, only

CANCEL = ("decision", "cancel")
WRONG = "Check the code and your phone's clock. Codes change every 30 seconds."
USED = "Enter another recovery code. This one was used or isn't valid."


async def at_code(visitor, demo, server, **asked):
    return await visitor.sign_in(demo.authorize_url(**asked), *server.user)


async def other_way(visitor, page, kind):
    return await visitor.open(page.url.replace(f"/ui/login/{page.name}", f"/ui/login/{kind}"))


async def amr(visitor, demo, page):
    tokens = (await demo.redeem(visitor, page.answer["code"])).json()
    claims = part(tokens["id_token"], 1)
    return claims["acr"], claims["amr"]


async def test_a_password_leads_to_the_code_and_the_code_to_the_application(
    visitor, demo, server, app
):
    page = await at_code(visitor, demo, server)
    assert page.status == 200
    assert shape(page) == ("totp", ["loginName", "code"], [CANCEL])
    assert [one async for one in server.store.scan(SESSIONS)] == []

    page = await visitor.submit(page, code=code(server.clock))
    assert "code" in page.answer
    session = await only(server.store, SESSIONS)
    assert (session.acr, session.amr) == ("urn:idp:acr:two-factors", ["pwd", "otp", "mfa"])


WRITTEN = {
    "with spaces around": " {} ".format,
    "in groups": lambda now: f"{now[:3]} {now[3:]}",
    "in other digits": lambda now: "".join(chr(0x660 + int(each)) for each in now),
}


@pytest.mark.parametrize("how", WRITTEN)
async def test_a_code_may_be_typed_in_groups_and_with_any_digits(visitor, demo, server, app, how):
    page = await at_code(visitor, demo, server)
    page = await visitor.submit(page, code=WRITTEN[how](code(server.clock)))

    assert "code" in page.answer


@pytest.mark.parametrize("steps", [-1, 0, 1])
async def test_a_clock_may_be_off_by_a_step(visitor, demo, server, app, steps):
    page = await at_code(visitor, demo, server)
    page = await visitor.submit(page, code=code(server.clock, steps=steps))

    assert "code" in page.answer


@pytest.mark.parametrize(
    "typed", ["", "12345", "1234567", "abcdef", "\x00", "1" * 10_000, "old", "early", "wrong"]
)
async def test_what_is_no_code_is_refused_and_changes_nothing(visitor, demo, server, app, typed):
    clock = server.clock
    forms = {"old": code(clock, steps=-2), "early": code(clock, steps=2), "wrong": wrong(clock)}
    page = await at_code(visitor, demo, server)
    before = await everything(server.store)
    page = await visitor.submit(page, code=forms.get(typed, typed))

    assert (page.status, page.name) == (400, "totp")
    assert WRONG in text_of(page)
    assert 'aria-invalid="true"' in page.text
    assert page.inputs["code"] == ""
    assert await everything(server.store) == before


@pytest.mark.full
async def test_a_code_counts_once(visitor, new_visitor, demo, server, app):
    now = code(server.clock)
    page = await visitor.submit(await at_code(visitor, demo, server), code=now)
    assert "code" in page.answer
    other = new_visitor()
    page = await other.submit(await at_code(other, demo, server), code=now)

    assert (page.status, page.name) == (400, "totp")
    earlier = await other.submit(page, code=code(server.clock, steps=-1))
    assert earlier.status == 400
    server.clock.advance(30)
    assert "code" in (await other.submit(page, code=code(server.clock))).answer


@pytest.mark.full
@pytest.mark.parametrize("rounds", [2, pytest.param(25, marks=pytest.mark.load)])
async def test_of_many_with_one_code_at_once_one_gets_in(new_visitor, demo, server, app, rounds):
    for _ in range(rounds):
        server.clock.advance(60)
        visitors = [new_visitor() for _ in range(4)]
        pages = [await at_code(one, demo, server) for one in visitors]
        now = code(server.clock)
        answers = await asyncio.gather(
            *[one.submit(page, code=now) for one, page in zip(visitors, pages, strict=True)]
        )

        assert sum("code" in page.answer for page in answers) == 1
        assert {page.name for page in answers if "code" not in page.answer} <= {"totp"}


@pytest.mark.full
async def test_wrong_codes_are_slowed_down_and_the_page_says_for_how_long(
    visitor, demo, server, app
):
    page = await at_code(visitor, demo, server)
    for _ in range(server.service.config.sign_in_failures_before_delay + 1):
        page = await visitor.submit(page, code=wrong(server.clock))
    page = await visitor.submit(page, code=code(server.clock))

    assert (page.status, page.name) == (429, "totp")
    seconds = int(page.headers["Retry-After"])
    assert f"Try again in {seconds} second" in text_of(page)
    server.clock.advance(seconds)
    assert "code" in (await visitor.submit(page, code=code(server.clock))).answer


async def test_a_policy_may_lock_who_guesses_codes(visitor, demo, server, app):
    await set_policy(server, "lockout", LockoutRules(max_otp_attempts=2))
    page = await at_code(visitor, demo, server)
    for _ in range(2):
        page = await visitor.submit(page, code=wrong(server.clock))
    assert (await user_of(server)).state == "locked"
    page = await visitor.submit(page, code=code(server.clock))

    assert page.name == "password"


@pytest.mark.full
async def test_the_step_can_not_be_left_out(visitor, demo, server, app):
    page = await at_code(visitor, demo, server)
    for step in ("name", "password", "change-password", "totp-enrol", "recovery-codes"):
        other = await other_way(visitor, page, step)
        assert other.name in ("totp", "login-name"), step
    for step in ("factor-offer", "totp-enrol", "recovery-codes", "change-password"):
        url = page.url.replace("/ui/login/totp", f"/ui/login/{step}")
        sent = {**page.hidden, "newPassword": "a new afternoon", "factor": "totp"}
        assert (await visitor.follow(await visitor.post(url, sent))).name == "totp"

    assert (await demo.silently(visitor))["error"] == "login_required"
    assert [one async for one in server.store.scan(SESSIONS)] == []


async def test_another_browser_can_not_finish(visitor, new_visitor, demo, server, app):
    page = await at_code(visitor, demo, server)
    stranger = new_visitor()
    await stranger.open(demo.authorize_url())
    before = await everything(server.store)
    sent = await stranger.post(page.url, {**page.hidden, "code": code(server.clock)})

    assert (sent.status, sent.name) == (403, "expired")
    assert await everything(server.store) == before


async def test_the_progress_ends_with_a_new_security_stamp(visitor, demo, server, app):
    page = await at_code(visitor, demo, server)
    user = await user_of(server)
    await server.store.commit(Update(USERS, user.id, set={"stamp": "another"}))
    page = await visitor.submit(page, code=code(server.clock))

    assert page.name == "password"


async def test_somebody_else_begins_with_their_name(visitor, demo, server, app):
    page = await at_code(visitor, demo, server)
    page = await visitor.open(page.url.replace("/ui/login/totp", "/ui/login/name"))
    page = await visitor.submit(page, loginName="admin")
    assert page.name == "password"
    other = await visitor.open(page.url.replace("/ui/login/password", "/ui/login/totp"))

    assert other.name == "password"


async def test_the_code_can_be_cancelled(visitor, demo, server, app):
    page = await cancel(visitor, await at_code(visitor, demo, server))

    assert page.answer["error"] == "access_denied"


# Other ways


async def test_a_recovery_code_counts_once_in_place_of_the_app(
    visitor, new_visitor, demo, server, app
):
    first, second, *_ = await give_codes(server)
    page = await at_code(visitor, demo, server)
    choice = await other_way(visitor, page, "factor")
    assert shape(choice)[0] == "factor"
    assert "/ui/login/recovery-code?" in choice.text
    assert "/ui/login/totp?" in choice.text
    page = await other_way(visitor, page, "recovery-code")
    assert shape(page) == ("recovery-code", ["loginName", "code"], [CANCEL])

    done = await visitor.submit(page, code=f" {first.upper()} ")
    assert "code" in done.answer
    session = await only(server.store, SESSIONS)
    assert session.amr == ["pwd", "otp", "mfa"]
    types = [event.type async for event in server.store.scan(EVENTS)]
    assert types.count("user.recovery_code_used") == 1
    other = new_visitor()
    page = await other_way(other, await at_code(other, demo, server), "recovery-code")
    page = await other.submit(page, code=first)
    assert (page.status, page.name) == (400, "recovery-code")
    assert USED in text_of(page)
    assert "code" in (await other.submit(page, code=second)).answer


@pytest.mark.parametrize("typed", ["", "x", "\x00", "abcde-fghij", "y" * 10_000])
async def test_what_is_no_recovery_code_is_refused(visitor, demo, server, app, typed):
    await give_codes(server)
    page = await other_way(visitor, await at_code(visitor, demo, server), "recovery-code")
    before = await everything(server.store)
    page = await visitor.submit(page, code=typed)

    assert (page.status, page.name) == (400, "recovery-code")
    assert USED in text_of(page)
    assert await everything(server.store) == before


async def test_new_recovery_codes_are_the_only_ones(visitor, demo, server, app):
    old = (await give_codes(server))[0]
    new = (await give_codes(server))[0]
    page = await other_way(visitor, await at_code(visitor, demo, server), "recovery-code")
    page = await visitor.submit(page, code=old)
    assert page.status == 400

    assert "code" in (await visitor.submit(page, code=new)).answer


@pytest.mark.full
@pytest.mark.parametrize("rounds", [2, pytest.param(10, marks=pytest.mark.load)])
async def test_of_many_with_one_recovery_code_one_gets_in(new_visitor, demo, server, app, rounds):
    codes = await give_codes(server)
    for kept in codes[:rounds]:
        visitors = [new_visitor() for _ in range(4)]
        pages = [
            await other_way(one, await at_code(one, demo, server), "recovery-code")
            for one in visitors
        ]
        answers = await asyncio.gather(
            *[one.submit(page, code=kept) for one, page in zip(visitors, pages, strict=True)]
        )

        assert sum("code" in page.answer for page in answers) == 1
        server.clock.advance(3600)


async def test_the_use_of_a_recovery_code_is_reported_by_mail(visitor, demo, server, app):
    user, (first, *_) = await user_of(server), await give_codes(server)
    email = Email(address="nora@example.com", is_verified=True)
    await server.store.commit(Update(USERS, user.id, set={"email": email}))
    page = await other_way(visitor, await at_code(visitor, demo, server), "recovery-code")
    await visitor.submit(page, code=first)

    mail = await only(server.store, OUTBOX)
    assert (mail.kind, mail.user_id) == ("recovery_code_used", user.id)


async def test_without_recovery_codes_the_choice_says_whom_to_ask(visitor, demo, server, app):
    page = await other_way(visitor, await at_code(visitor, demo, server), "factor")

    assert "/ui/login/recovery-code" not in page.text
    assert "Contact support." in text_of(page)


# How strong, and for how long


async def test_acr_and_amr_name_what_was_done(visitor, demo, server, app):
    page = await visitor.submit(await at_code(visitor, demo, server), code=code(server.clock))

    assert await amr(visitor, demo, page) == (
        "urn:idp:acr:two-factors",
        ["pwd", "otp", "mfa"],
    )


async def test_after_eighteen_hours_the_code_alone_is_asked_again(visitor, demo, server, app):
    await set_rules(server, second_factor_check_seconds=3600)
    page = await visitor.submit(await at_code(visitor, demo, server), code=code(server.clock))
    first = await only(server.store, SESSIONS)
    server.clock.advance(timedelta(seconds=3599))
    assert "code" in (await visitor.open(demo.authorize_url())).answer
    server.clock.advance(timedelta(seconds=1))
    assert (await demo.silently(visitor))["error"] == "interaction_required"

    page = await visitor.open(demo.authorize_url())
    assert page.name == "totp"
    page = await visitor.submit(page, code=code(server.clock))
    assert "code" in page.answer
    renewed = await only(server.store, SESSIONS)
    assert (renewed.id, renewed.auth_time) == (first.id, first.auth_time)
    assert renewed.factor_at > first.factor_at


@pytest.mark.promise("authorization: claims")
@pytest.mark.parametrize(
    "asked",
    [
        {"acr_values": "urn:idp:acr:two-factors"},
        {
            "claims": json.dumps(
                {"id_token": {"acr": {"essential": True, "value": "urn:idp:acr:two-factors"}}}
            )
        },
    ],
    ids=["voluntary", "essential"],
)
async def test_an_application_that_wants_two_factors_has_the_second_asked_for(
    visitor, demo, server, asked
):
    assert "code" in (await at_code(visitor, demo, server)).answer
    await give_app(server)
    assert "code" in (await visitor.open(demo.authorize_url())).answer
    essential = "claims" in asked
    silent = await demo.silently(visitor, **asked)
    assert silent.get("error") == ("interaction_required" if essential else None)

    page = await visitor.open(demo.authorize_url(**asked))
    assert page.name == "totp"
    page = await visitor.submit(page, code=code(server.clock))

    assert (await amr(visitor, demo, page))[0] == "urn:idp:acr:two-factors"


async def test_a_request_for_two_factors_locks_out_no_user_who_has_none(visitor, demo, server):
    page = await at_code(visitor, demo, server, acr_values="urn:idp:acr:two-factors")

    assert await amr(visitor, demo, page) == ("urn:idp:acr:password", ["pwd"])


async def test_a_factor_that_the_policy_does_not_count_is_not_asked_for(
    visitor, demo, server, app
):
    await set_rules(server, second_factors=("u2f",))

    assert "code" in (await at_code(visitor, demo, server)).answer
