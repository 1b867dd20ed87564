"""Guesses at codes for a new password, which anybody can have sent anew."""

from __future__ import annotations

import json

import pytest

from idp.audit import failure_events
from idp.identity.guesses import mail_limits, mailed_codes
from idp.records import FAILURE_STREAKS, VERIFICATIONS, FailureStreak
from storage import Insert
from tests.support.measured.logged import log_fixture  # noqa: F401 - a fixture
from tests.support.sign_in.factors import user_of
from tests.support.sign_in.registering import mails
from tests.support.sign_in.resetting import (
    ADDRESS,
    NEW_PASSWORD,
    at_reset_code,
    chosen,
    give_address,
    link_to,
    newest,
)
from tests.support.sign_in.steps import text_of
from tests.support.store.stored import everything

WRONG = "This one is wrong"


@pytest.fixture
def settings():
    return {"trusted_proxies": ("127.0.0.0/8",)}


@pytest.fixture
def address(io_loop, server):
    return io_loop.run_sync(lambda: give_address(server))


def at(n):
    """A network of its own for each number."""
    return {"X-Forwarded-For": f"2001:db8:{n}::1"}


async def guessed(server, n):
    """Stores that this many wrong codes in a row were entered."""
    user = await user_of(server)
    await server.store.commit(Insert(FAILURE_STREAKS, FailureStreak(id=user.id, mail_codes=n)))


async def streak_of(server):
    return await server.store.get(FAILURE_STREAKS, (await user_of(server)).id)


@pytest.mark.promise("guessing: mailed codes")
async def test_wrong_codes_are_counted_for_the_account_over_all_resets_and_networks(
    server, new_visitor, demo, address
):
    for n in range(1, 5):
        stranger = new_visitor(headers=at(n))
        page = await at_reset_code(stranger, demo)
        for _ in range(2):
            page = await stranger.submit(page, code="00000000")
            assert page.status == 400
        server.clock.advance(90)

    assert (await streak_of(server)).mail_codes == 8


async def test_of_the_codes_for_one_mail_the_five_that_are_compared_count(
    server, new_visitor, demo, address
):
    stranger = new_visitor(headers=at(1))
    page = await at_reset_code(stranger, demo)
    for _ in range(9):
        page = await stranger.submit(page, code="00000000")

    assert page.status == 400
    assert (await streak_of(server)).mail_codes == 5


@pytest.mark.promise("guessing: mailed codes")
async def test_after_fifty_wrong_codes_a_right_one_is_answered_as_a_wrong_one(
    server, visitor, new_visitor, demo, address
):
    await guessed(server, mailed_codes.MAX_CODES)
    stranger = new_visitor(headers=at(1))
    page = await at_reset_code(stranger, demo)
    page = await stranger.submit(page, code=(await newest(visitor))["code"])

    assert (page.status, page.name) == (400, "reset-code")
    assert WRONG in text_of(page)


@pytest.mark.promise("guessing: mailed codes")
async def test_the_link_in_the_mail_works_when_codes_are_closed_and_opens_them_again(
    server, visitor, new_visitor, demo, address
):
    await guessed(server, mailed_codes.MAX_CODES)
    owner = new_visitor(headers=at(1))
    await at_reset_code(owner, demo)
    choice = await owner.open((await newest(visitor))["url"])
    done = await owner.submit(choice, newPassword=NEW_PASSWORD)

    assert done.status in (200, 303)
    assert await streak_of(server) is None


@pytest.mark.promise("guessing: mailed codes")
async def test_a_browser_that_the_account_knows_is_not_counted(
    server, visitor, new_visitor, demo, address
):
    owner = new_visitor(headers=at(1))
    await owner.sign_in(demo.authorize_url(), *server.user)
    await guessed(server, mailed_codes.MAX_CODES)
    page = await owner.open(demo.authorize_url(prompt="login"))
    page = await owner.open(link_to(page, "/ui/login/reset"))
    page = await owner.submit(page, loginName="demo")
    page = await owner.submit(page, code="00000000")
    assert (await streak_of(server)).mail_codes == mailed_codes.MAX_CODES

    assert "code" in (await chosen(owner, page)).answer


@pytest.mark.promise("guessing: mailed codes")
async def test_a_browser_that_another_account_knows_is_an_unknown_one(
    server, new_visitor, demo, address
):
    other = await server.copy_user("other@localhost")
    stranger = new_visitor(headers=at(1))
    await stranger.sign_in(demo.authorize_url(), *other)
    page = await stranger.open(demo.authorize_url(prompt="login"))
    page = await stranger.open(link_to(page, "/ui/login/reset"))
    page = await stranger.submit(page, loginName="demo")
    await stranger.submit(page, code="00000000")

    assert (await streak_of(server)).mail_codes == 1


async def test_strangers_who_know_another_account_have_the_limit_of_their_network(
    server, visitor, new_visitor, demo, address
):
    other = await server.copy_user("other@localhost")
    for _ in range(mail_limits.MAX_TO_MAILBOX + 2):
        stranger = new_visitor(headers=at(1))
        await stranger.sign_in(demo.authorize_url(), *other)
        page = await stranger.open(demo.authorize_url(prompt="login"))
        page = await stranger.open(link_to(page, "/ui/login/reset"))
        page = await stranger.submit(page, loginName="demo")

    assert page.status == 429
    assert len(await mails(visitor, ADDRESS)) == mail_limits.MAX_TO_MAILBOX


@pytest.mark.promise("guessing: mailed codes")
async def test_where_no_mail_was_sent_no_code_is_right(
    server, visitor, new_visitor, demo, address, monkeypatch
):
    monkeypatch.setattr(mail_limits, "ALL_NETWORKS_FACTOR", 0)
    await at_reset_code(new_visitor(), demo)
    (verification,) = [one async for one in server.store.scan(VERIFICATIONS)]

    assert await mails(visitor, ADDRESS) == []
    assert verification.code_mac == ""


async def test_a_wrong_code_is_logged_with_its_cause_and_recorded(
    server, new_visitor, demo, address, log
):
    stranger = new_visitor(headers=at(1))
    page = await at_reset_code(stranger, demo)
    await stranger.submit(page, code="00000000")
    await failure_events.flush(server.service)

    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    (line,) = [one for one in lines if one["event"] == "sign-in refused"]
    assert (line["cause"], line["secret_kind"]) == ("wrong", "mail_code")
    types = {event.type for event in (await everything(server.store))["events"].values()}
    assert failure_events.SIGN_IN in types


@pytest.mark.promise("guessing: mailed codes")
async def test_at_the_fiftieth_wrong_code_the_owner_gets_one_mail(
    server, visitor, new_visitor, demo, address
):
    await guessed(server, mailed_codes.MAX_CODES - 1)
    stranger = new_visitor(headers=at(1))
    page = await at_reset_code(stranger, demo)
    for _ in range(3):
        page = await stranger.submit(page, code="00000000")
    await server.service.background_tasks.finished()

    subjects = [mail["subject"] for mail in await mails(visitor, ADDRESS)]
    assert subjects.count("Wrong codes were entered for your account") == 1


@pytest.mark.promise("guessing: mailed codes")
@pytest.mark.parametrize("name", ["demo", "nobody"])
async def test_a_name_that_nobody_has_is_answered_alike(server, new_visitor, demo, address, name):
    stranger = new_visitor(headers=at(1))
    page = await at_reset_code(stranger, demo, name)
    page = await stranger.submit(page, code="00000000")

    assert (page.status, WRONG in text_of(page)) == (400, True)
