"""Guessing is slow: by account, by address, by the clock alone, and told to the person."""

import asyncio

import pytest

from idp.identity.users import admin_recovery
from idp.limits import account_attempts
from idp.records import USERS, Email
from storage import Update
from tests.support.sign_in import account
from tests.support.sign_in.steps import at_password, text_of

WRONG = "Check your email or username and your password"


@pytest.fixture
def settings():
    return {"trusted_proxies": ("127.0.0.1",)}


class From:
    """A browser at an address, as the trusted proxy in front of the service reports it."""

    def __init__(self, visitor, demo, address):
        self.visitor, self.demo = visitor, demo
        visitor.http.headers["X-Forwarded-For"] = address

    async def tries(self, login_name, password, times=1):
        """The answer to the last of so many tries."""
        page = await at_password(self.visitor, self.demo, login_name, prompt="select_account")
        for _ in range(times):
            answer = await self.visitor.send(page, password=password)
        return answer


@pytest.fixture
def at(new_visitor, demo):
    return lambda address="192.0.2.1": From(new_visitor(), demo, address)


def is_in(answer):
    return answer.status == 303


async def test_four_mistakes_cost_nothing(at, server):
    browser = at()
    answer = await browser.tries("demo", "wrong", times=4)

    assert answer.status == 400
    assert is_in(await browser.tries(*server.user))


async def test_after_six_mistakes_the_right_password_has_to_wait(at, server):
    browser = at()
    assert (await browser.tries("demo", "wrong", times=6)).status == 400
    answer = await browser.tries(*server.user)

    assert (answer.status, answer.name) == (429, "password")
    assert answer.headers["Retry-After"] == "2"
    assert "Too many attempts. Try again in 2 seconds." in text_of(answer)
    assert WRONG not in text_of(answer)
    assert "<title>Error: " in answer.text
    assert answer.inputs["loginName"] == "demo"


async def test_during_the_wait_right_and_wrong_look_alike(at, server):
    await at().tries("demo", "wrong", times=6)
    right, wrong = at(), at()
    pages = [await at_password(one.visitor, one.demo, "demo") for one in (right, wrong)]
    first = await right.visitor.send(pages[0], password=server.user[1])
    second = await wrong.visitor.send(pages[1], password="wrong")

    assert first.status == second.status == 429
    assert text_of(first) == text_of(second)


async def test_the_wait_ends_by_the_clock(at, server):
    browser = at()
    await browser.tries("demo", "wrong", times=6)
    server.clock.advance(1.999)
    assert (await browser.tries(*server.user)).status == 429
    server.clock.advance(0.001)

    assert is_in(await browser.tries(*server.user))


async def test_each_further_mistake_makes_the_wait_longer_up_to_a_minute(at, server):
    browser, waits = at(), []
    await browser.tries("demo", "wrong", times=6)
    for _ in range(8):
        waits.append(int((await browser.tries("demo", "wrong")).headers["Retry-After"]))
        server.clock.advance(waits[-1])
        assert (await browser.tries("demo", "wrong")).status == 400

    assert waits == [2, 4, 8, 16, 32, 60, 60, 60]


async def test_a_sign_in_forgets_the_mistakes(at, server):
    browser = at()
    await browser.tries("demo", "wrong", times=4)
    await browser.tries(*server.user)
    await browser.tries("demo", "wrong", times=4)

    assert is_in(await browser.tries(*server.user))


async def test_the_limit_forgets_mistakes_after_a_day(at, server):
    browser = at()
    await browser.tries("demo", "wrong", times=6)
    server.clock.advance(24 * 3600)
    assert (await browser.tries("demo", "wrong", times=5)).status == 400

    assert is_in(await browser.tries(*server.user))


async def test_a_stranger_elsewhere_can_not_keep_the_owner_out_of_a_known_browser(at, server):
    stranger, owner = at("198.51.100.7"), at("192.0.2.1")
    await owner.visitor.sign_in(owner.demo.authorize_url(), *server.user)
    assert (await stranger.tries("demo", "wrong", times=8)).status == 429

    assert is_in(await owner.tries(*server.user))
    assert (await stranger.tries("demo", "wrong")).status == 400, "a success forgets them"


async def test_another_account_of_the_same_address_is_not_locked_out(at, server):
    minnie = await server.copy_user("minnie")
    assert (await at().tries("demo", "wrong", times=7)).status == 429

    assert is_in(await at().tries(*minnie))


async def test_an_unknown_account_is_slowed_alike(at):
    known = await at("192.0.2.1").tries("demo", "wrong", times=7)
    unknown = await at("192.0.2.2").tries("nobody", "wrong", times=7)

    assert (known.status, known.headers["Retry-After"]) == (429, "2")
    assert (unknown.status, unknown.headers["Retry-After"]) == (429, "2")


@pytest.mark.parametrize("spelt", ["DEMO", " demo ", "ｄｅｍｏ"])
async def test_other_spellings_of_a_name_are_the_same_account(at, server, spelt):
    await at().tries("demo", "wrong", times=3)
    await at().tries(spelt, "wrong", times=3)

    assert (await at().tries(*server.user)).status == 429


async def test_a_new_browser_or_sign_in_starts_no_new_count(at, server):
    for _ in range(6):
        await at().tries("demo", "wrong")

    assert (await at().tries(*server.user)).status == 429


async def test_an_account_tried_from_everywhere_is_slowed(at, server):
    for number in range(6):
        await at(f"198.51.100.{number}").tries("demo", "wrong")

    assert (await at("192.0.2.1").tries(*server.user)).status == 429


async def test_an_address_that_the_caller_claims_counts_for_nothing(at, server):
    for number in range(6):
        await at(f"203.0.113.{number}, 192.0.2.1").tries("demo", "wrong")

    assert (await at("192.0.2.1").tries(*server.user)).status == 429


@pytest.mark.full
async def test_of_sign_ins_at_one_moment_those_that_wait_get_in_after_the_first(
    new_visitor, server, demo
):
    browsers = [new_visitor() for _ in range(32)]
    answers = await asyncio.gather(
        *[one.sign_in(demo.authorize_url(), *server.user) for one in browsers]
    )
    late = [one for one, answer in zip(browsers, answers, strict=True) if answer.status == 429]
    again = [await one.sign_in(demo.authorize_url(), *server.user) for one in late]

    assert sum("code" in answer.answer for answer in answers) == 32 - len(late) >= 5
    assert ["code" in answer.answer for answer in again] == [True] * len(late)


async def test_too_long_a_password_is_a_try_like_any_other(at, server):
    await at().tries("demo", "x" * 201, times=6)

    assert (await at().tries(*server.user)).status == 429


async def test_delays_tell_neither_which_names_exist_nor_which_belong_together(at, server):
    statuses = {}
    for name in ("demo", "ghost"):
        names = (name, f"{name}@localhost", f"{name}@LOCALHOST.", f"{name}@example.com")
        tries = [*names[:1] * 5, *names[:3] * 2, *names[3:] * 7]
        statuses[name] = [(await at().tries(each, "wrong")).status for each in tries]

    assert statuses["demo"] == statuses["ghost"]
    assert statuses["ghost"][5:11] == [400, 400, 400, 429, 400, 400]
    assert statuses["ghost"][-2:] == [400, 429]


async def test_wrong_passwords_count_in_one_streak_under_every_login_name(at, server, compared):
    await verify_address(server)
    names = ("demo", "demo@localhost", "demo@localhost.", "dana@example.com")
    for number in range(80):
        server.clock.advance(60)
        await at().tries(names[number % 4], "wrong")

    assert len(compared) == account_attempts.limits_of(server.service.config).max_unknown


async def test_a_new_password_ends_the_delays_of_every_login_name(at, server):
    names = await verify_address(server)
    for name in names:
        await at().tries(name, "wrong", times=6)
    await admin_recovery.reset_password(server.service, "demo", actor="test")

    assert [(await at().tries(name, "wrong")).status for name in names] == [400] * 3


async def verify_address(server):
    """The login names of the user, whose address becomes the third one."""
    user = await account.user(server)
    email = Email(address="dana@example.com", is_verified=True)
    after = {"email": email, "email_key": "dana@example.com"}
    await server.store.commit(Update(USERS, user.id, set=after))
    return "demo", "demo@localhost", email.address
