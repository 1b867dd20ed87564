"""Guesses at the codes of an authenticator app, by somebody who has the password."""

from __future__ import annotations

import asyncio

import pytest

from idp.identity.factors import code_checks, totp
from idp.identity.users import admin_recovery
from idp.limits import account_attempts
from idp.mail import messages
from idp.records import FAILURE_STREAKS, USERS, Email, FailureStreak
from storage import Insert, Update
from tests.support.sign_in.factors import code, give_codes, user_of, wrong
from tests.support.sign_in.steps import text_of

WRONG = "Check the code and your phone's clock. Codes change every 30 seconds."


async def at_code(visitor, demo, server, **asked):
    return await visitor.sign_in(demo.authorize_url(**asked), *server.user)


async def other_way(visitor, page, kind):
    return await visitor.open(page.url.replace(f"/ui/login/{page.name}", f"/ui/login/{kind}"))


@pytest.mark.full
@pytest.mark.promise("guessing: codes")
async def test_an_app_is_closed_after_fifty_wrong_codes_until_another_factor(
    visitor, new_visitor, demo, server, app
):
    first, *_ = await give_codes(server)
    page = await at_code(visitor, demo, server)
    for _ in range(account_attempts.MAX_CODES):
        page = await visitor.submit(page, code=wrong(server.clock))
        server.clock.advance(60)
        assert page.status == 400
    server.clock.advance(30 * 3600)
    visitor = new_visitor()
    page = await at_code(visitor, demo, server)
    closed = await visitor.submit(page, code=code(server.clock))
    assert (closed.status, closed.name) == (400, "totp"), "not by the day"
    assert WRONG in text_of(closed)
    page = await other_way(visitor, closed, "recovery-code")
    assert "code" in (await visitor.submit(page, code=first)).answer
    server.clock.advance(60)
    other = new_visitor()
    page = await at_code(other, demo, server)

    assert "code" in (await other.submit(page, code=code(server.clock))).answer


async def test_an_administrator_opens_a_closed_app(visitor, demo, server, app):
    page = await at_code(visitor, demo, server)
    user = await user_of(server)
    await server.store.commit(
        Insert(FAILURE_STREAKS, FailureStreak(id=user.id, codes=account_attempts.MAX_CODES))
    )
    closed = await visitor.submit(page, code=code(server.clock))
    assert closed.status == 400
    assert await admin_recovery.unlock(server.service, server.user[0], actor="a test")
    server.clock.advance(30)

    assert "code" in (await visitor.submit(closed, code=code(server.clock))).answer


@pytest.mark.promise("guessing: codes")
async def test_at_the_fifth_wrong_code_the_owner_learns_that_the_password_is_known(
    visitor, demo, server, app
):
    user = await user_of(server)
    proven = Email(address="dana@example.com", is_verified=True)
    await server.store.commit(Update(USERS, user.id, set={"email": proven}))
    page = await at_code(visitor, demo, server)
    for _ in range(code_checks.REPORTED_AT):
        await server.service.background_tasks.finished()
        assert await messages.held(server.service) == []
        page = await visitor.submit(page, code=wrong(server.clock))
    await server.service.background_tasks.finished()
    (letter,) = await messages.held(server.service)

    assert (letter.kind, letter.user_id) == ("wrong_codes", (await user_of(server)).id)
    assert "someone knows your password" in letter.mail_message.text


@pytest.mark.full
@pytest.mark.promise("guessing: codes")
@pytest.mark.parametrize("at_once", [60, 120, 200])
async def test_of_many_codes_at_once_at_most_six_are_compared(
    visitor, demo, server, app, monkeypatch, at_once
):
    compared = []
    real = totp.step_of
    monkeypatch.setattr(
        code_checks.totp, "step_of", lambda *a, **k: compared.append(1) or real(*a, **k)
    )
    page = await at_code(visitor, demo, server)
    answers = await asyncio.gather(
        *[visitor.submit(page, code=wrong(server.clock)) for _ in range(at_once)]
    )

    assert len(compared) <= 6
    assert {answer.status for answer in answers} == {400, 429}
