"""Guesses at passwords: how many are compared, who may still sign in, and what is told of it."""

from __future__ import annotations

import asyncio
import re

import pytest

from idp.identity.guesses import counter_resets
from idp.identity.sessions import known_browsers, password_check
from idp.identity.users import admin_recovery
from idp.identity.users import lookup as user_lookup
from idp.limits import account_attempts
from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from idp.mail import messages
from idp.passwords.hashing_threads import HashingBusy
from idp.records import (
    FAILURE_STREAKS,
    LOGIN_NAME_BACKOFFS,
    USERS,
    Email,
    FailureStreak,
    LockoutRules,
)
from storage import Insert, Update
from tests.support.sign_in import account, resetting
from tests.support.sign_in.factors import set_policy
from tests.support.sign_in.steps import text_of
from tests.support.store.stored import count

WRONG = "Check your email or username and your password"
OTHER_WAYS = (
    "If you're sure, use “Forgot password?”, a passkey, or a browser that you've used before."
)


@pytest.fixture
def settings():
    return {"trusted_proxies": ("127.0.0.1",)}


async def dana(server):
    return await account.user(server)


async def streak(server) -> FailureStreak | None:
    return await server.store.get(FAILURE_STREAKS, (await dana(server)).id)


async def prove_address(server):
    user = await dana(server)
    email = Email(address="dana@example.com", is_verified=True)
    await server.store.commit(Update(USERS, user.id, set={"email": email}))


async def close(server, **counts):
    """As many wrong passwords in a row as close the account, unless told otherwise."""
    most = account_attempts.limits_of(server.service.config).max_unknown
    streak = FailureStreak(id=(await dana(server)).id, **{"unknown": most} | counts)
    await server.store.commit(Insert(FAILURE_STREAKS, streak))


async def guess_on(server, tries, times):
    """The answers to wrong passwords, each as soon as the gate lets it pass."""
    answers = []
    for _ in range(times):
        answer = await tries("wrong")
        if answer.status == 429:
            server.clock.advance(int(answer.headers["Retry-After"]))
            answer = await tries("wrong")
        answers.append(answer)
    return answers


# Bounds


@pytest.mark.full
@pytest.mark.parametrize("at_once", [60, 120, 200])
async def test_of_many_wrong_passwords_at_once_at_most_six_are_compared(at, compared, at_once):
    tries = await at()
    answers = await asyncio.gather(*[tries(f"guess {n}") for n in range(at_once)])

    assert len(compared) <= 6
    assert {answer.status for answer in answers} == {400, 429}


@pytest.mark.parametrize(("limit", "unknown", "known"), [(90, 50, 40), (45, 25, 20), (10, 5, 4)])
async def test_the_limit_is_shared_five_to_four(server, limit, unknown, known):
    config = type(server.service.config)(sign_in_failures_limit=limit)

    assert account_attempts.limits_of(config).max_unknown == unknown
    assert account_attempts.limits_of(config).max_known == known


@pytest.mark.promise("guessing: closed")
async def test_a_closed_account_answers_a_right_password_as_a_wrong_one(at, server, compared):
    await close(server)
    right = await (await at())(server.user[1])
    wrong = await (await at())("wrong")

    assert compared == []
    assert right.status == wrong.status == 400
    assert text_of(right) == text_of(wrong)
    assert WRONG in text_of(right)


async def test_closed_unknown_and_wrong_have_the_same_page(server, new_visitor, demo):
    closed, password = await server.copy_user("person-a")
    wrong, _ = await server.copy_user("person-b")
    user = (await server.store.find(USERS, {"login_key": closed})).records[0]
    email = Email(address="a@example.com", is_verified=True)  # else one try in 1800 s is compared
    most = account_attempts.limits_of(server.service.config).max_unknown
    await server.store.commit(
        Update(USERS, user.id, set={"email": email}),
        Insert(FAILURE_STREAKS, FailureStreak(id=user.id, unknown=most)),
    )
    pages = {}
    for name, typed in ((closed, password), (wrong, "wrong"), ("person-c", "wrong")):
        visitor = new_visitor()
        page = await visitor.sign_in(demo.authorize_url(), name, typed)
        for _ in range(7):
            pages.setdefault(name, []).append(_without_ids(page, name))
            page = await visitor.send(page, password=typed)
            await server.service.background_tasks.finished()

    assert [status for status, _ in pages[closed]] == [400] * 6 + [429]
    assert pages[closed] == pages[wrong] == pages["person-c"]


def _without_ids(page, name) -> tuple[int, str]:
    """The page's octets, but for what is random or the name that was typed."""
    text = re.sub(r"[A-Za-z0-9_-]{20,}", lambda found: "x" * len(found[0]), page.text)
    return page.status, text.replace(name, "NAME")


async def test_a_closed_account_is_open_to_a_known_browser(at, server, new_visitor, demo):
    browser = new_visitor()
    await browser.sign_in(demo.authorize_url(), *server.user)
    await close(server)
    tries = await at(browser=browser)

    assert (await tries(server.user[1])).status == 303
    await server.service.background_tasks.finished()
    assert await streak(server) is None
    assert (await (await at())(server.user[1])).status == 303, "a success opens it for all"


@pytest.mark.promise("guessing: known browsers")
async def test_a_known_browser_has_ten_tries_and_all_of_them_forty(at, server, new_visitor, demo):
    browsers = [new_visitor() for _ in range(5)]
    for browser in browsers:
        await browser.sign_in(demo.authorize_url(), *server.user)
    for browser in browsers[:4]:
        tries = await at(browser=browser)
        for _ in range(10):
            assert (await tries("wrong")).status == 400
    known = (await streak(server)).known
    tries = await at(browser=browsers[0])
    further = [(await tries("wrong")).status for _ in range(7)]
    last = await at(browser=browsers[4])

    assert known == 40
    assert further == [400] * 6 + [429], "they count as those of an unknown browser"
    assert (await last("wrong")).status == 429
    assert (await streak(server)).unknown == 6


async def test_tries_of_a_known_browser_do_not_slow_down_others(at, server, new_visitor, demo):
    browser = new_visitor()
    await browser.sign_in(demo.authorize_url(), *server.user)
    tries = await at(browser=browser)
    answers = await asyncio.gather(*[tries("wrong") for _ in range(10)])

    assert {answer.status for answer in answers} == {400}
    assert (await streak(server)).known == 10
    assert await rates(server) == {}
    assert (await (await at())(server.user[1])).status == 303


@pytest.mark.parametrize("at_once", [60, 200])
async def test_of_many_tries_of_a_known_browser_sixteen_are_compared(
    at, server, new_visitor, demo, compared, at_once
):
    browser = new_visitor()
    await browser.sign_in(demo.authorize_url(), *server.user)
    compared.clear()
    tries = await at(browser=browser)
    await asyncio.gather(*[tries("wrong") for _ in range(at_once)])

    assert len(compared) <= 16, "ten, and then six as of an unknown one"


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_try_that_found_no_room_for_its_hash_is_not_counted(
    at, server, new_visitor, demo, monkeypatch, is_known
):
    browser = new_visitor()
    if is_known:
        await browser.sign_in(demo.authorize_url(), *server.user)
    else:
        await close(server, unknown=47)  # so that a try counts before it is compared
    await set_policy(server, "lockout", LockoutRules(max_password_attempts=99))
    tries, verify, browser.may_fail = await at(browser=browser), server.service.hasher.verify, True
    await tries("wrong")
    before = await counts(server)

    async def busy(password, encoded):
        assert await counts(server) != before
        raise HashingBusy(2)

    monkeypatch.setattr(server.service.hasher, "verify", busy)
    answers = [(await tries("wrong")).status for _ in range(3)]
    monkeypatch.setattr(server.service.hasher, "verify", verify)

    assert answers == [503] * 3
    assert await counts(server) == before
    assert (await tries(server.user[1])).status == 303


@pytest.mark.promise("guessing: lockout")
@pytest.mark.parametrize("is_killed", [True, False])
async def test_a_user_is_locked_after_the_answer_and_cannot_sign_in_before(
    at, server, monkeypatch, is_killed
):
    await set_policy(server, "lockout", LockoutRules(max_password_attempts=3))
    tries, start = await at(), server.service.background_tasks.start
    if is_killed:
        monkeypatch.setattr(server.service.background_tasks, "start", lambda work: work.close())
    answers = [await tries(password) for password in ["wrong"] * 3 + [server.user[1]]]
    state = (await dana(server)).state
    monkeypatch.setattr(server.service.background_tasks, "start", start)
    if is_killed:
        await tries("wrong")
    await server.service.background_tasks.finished()

    assert state == "active"
    assert [answer.status for answer in answers] == [400] * 4
    assert (await dana(server)).state == "locked"


async def counts(server):
    found = await streak(server)
    of_browsers = [one.tries for one in found.browsers]
    return found.unknown, found.known, of_browsers, found.lockout_passwords, await rates(server)


async def rates(server):
    """The attempts that are counted for each login name."""
    found = [one.backoff async for one in server.store.scan(LOGIN_NAME_BACKOFFS)]
    return {backoff.name: backoff.tries for backoff in found}


# What ends it


async def test_an_unlock_opens_a_closed_password(at, server):
    await close(server, known=3, codes=2)

    assert await admin_recovery.unlock(server.service, "demo", actor="a test") is True
    assert await streak(server) is None
    assert (await (await at())(server.user[1])).status == 303


async def test_a_password_of_an_administrator_opens_it(at, server):
    await close(server)
    password = await admin_recovery.reset_password(server.service, "demo", actor="a test")

    assert await streak(server) is None
    assert (await (await at())(password)).status == 303


@pytest.mark.promise("guessing: closed")
async def test_a_finished_mail_reset_opens_it(at, server, visitor, demo):
    await resetting.give_address(server)
    await close(server, known=3, codes=2)
    await (await at())("wrong")
    page = await resetting.at_reset_code(visitor, demo)
    assert (await streak(server)).unknown > 50, "the mail alone opens nothing"
    done = await resetting.chosen(visitor, page)

    assert "code" in done.answer
    assert await streak(server) is None
    assert await rates(server) == {}
    assert (await (await at())(resetting.NEW_PASSWORD)).status == 303


async def test_a_right_password_does_not_forget_wrong_codes(at, server, new_visitor, demo):
    await close(server, unknown=3, codes=7)

    assert (await (await at())(server.user[1])).status == 303
    await server.service.background_tasks.finished()
    left = await streak(server)
    assert (left.unknown, left.known, left.codes) == (0, 0, 7)


async def test_a_reset_waits_for_no_majority_of_the_stores_servers(at, server, monkeypatch):
    """It is a part of each sign-in by passkey."""
    confirmed = []
    monkeypatch.setattr(type(server.store), "confirm", lambda *_: confirmed.append(1))
    subject = await user_lookup.find_subject(server.service, (await dana(server)).id)
    await counter_resets.forget(server.service, subject)
    await (await at())("wrong")
    await counter_resets.forget(server.service, subject)

    assert confirmed == []
    assert await streak(server) is None
    assert await rates(server) == {}


# Known browsers


async def test_removing_an_account_from_the_list_ends_that_it_knows_the_browser(
    server, new_visitor, demo
):
    user, browser = await dana(server), new_visitor()
    await browser.sign_in(demo.authorize_url(), *server.user)
    agents = [one async for one in server.store.scan(known_browsers.BROWSERS)]

    assert [known_browsers.is_known(one, user) for one in agents] == [True]


# What is told


async def test_from_the_sixth_mistake_other_ways_are_named_for_every_name(at, server):
    pages = {}
    for name, address in (("demo", "192.0.2.1"), ("nobody", "192.0.2.2")):
        tries = await at(name, address)
        pages[name] = [text_of(await tries("wrong")) for _ in range(6)]
    for found in pages.values():
        assert [OTHER_WAYS in text for text in found] == [False] * 5 + [True]
        assert WRONG in found[5]


@pytest.mark.promise("guessing: closed")
async def test_the_owner_is_notified_once_per_streak(at, server):
    await prove_address(server)
    tries = await at()
    await guess_on(server, tries, 53)
    await server.service.background_tasks.finished()
    (letter,) = await messages.held(server.service)

    assert (letter.kind, letter.user_id) == ("password_closed", (await dana(server)).id)
    assert "Many wrong passwords in a row" in letter.mail_message.text
    assert (await streak(server)).told_at is not None


@pytest.mark.promise("guessing: passwords")
@pytest.mark.parametrize("times", [500, pytest.param(10_000, marks=pytest.mark.load)])
async def test_refused_tries_store_nothing(at, server, monkeypatch, times):
    tries = await at()
    for _ in range(6):
        await tries("wrong")
    before = await count(server.store), await rates(server)
    commands = []
    for name in ("commit", "increment", "commit_each"):
        monkeypatch.setattr(server.store, name, lambda *a, **k: commands.append(a))
    for n in range(times):
        origin = AttemptOrigin(f"198.18.{n // 250}.{n % 250}")
        with pytest.raises(Throttled):
            await password_check.check_password(server.service, "demo", "wrong", origin)
    monkeypatch.undo()

    assert commands == []
    assert (await count(server.store), await rates(server)) == before
