"""Accounts that are opened at once, over two processes: one winner each, and nothing in halves."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from idp.records import SESSIONS, USERS
from tests.flows.test_races import PLACES
from tests.support.sign_in.registering import at_code, code_for
from tests.support.sign_in.steps import text_of

AT_ONCE = 32
MAILS = 5  # to one mailbox
ROUNDS = [pytest.param(1, id="1"), pytest.param(20, id="20", marks=pytest.mark.load)]
NO_REUSE = httpx.Limits(max_keepalive_connections=0)

over_stores = pytest.mark.parametrize("place", PLACES, indirect=True)
often = pytest.mark.parametrize("rounds", ROUNDS)


@pytest.fixture
def newcomer(place):
    """Makes addresses that nobody has written to."""
    return lambda: f"newcomer-{place.service.random.id().lower()}@example.org"


@pytest.fixture
def browser(place, open_browser):
    return lambda: open_browser(place, limits=NO_REUSE)


async def people(place, word):
    """The users with this in their name, and their sessions."""
    found = [user async for user in place.store.scan(USERS) if word in user.user_name]
    ids = {user.id for user in found}
    return found, [each async for each in place.store.scan(SESSIONS) if each.user_id in ids]


async def all_at_once(browsers, pages, codes):
    together = zip(browsers, pages, codes, strict=True)
    return await asyncio.gather(*[b.submit(page, code=code) for b, page, code in together])


@over_stores
@often
async def test_of_one_code_sent_many_times_one_makes_the_account(place, newcomer, browser, rounds):
    for _ in range(rounds):
        email, visitor = newcomer(), browser()
        page = await at_code(visitor, place.demo(), email=email)
        code = await code_for(visitor, email)
        await asyncio.gather(*[visitor.send(page, code=code) for _ in range(5)])
        made, sessions = await people(place, email)

        assert (len(made), len(sessions)) == (1, 1)


@over_stores
@often
async def test_of_many_guesses_five_are_looked_at(place, newcomer, browser, rounds):
    for _ in range(rounds):
        email, visitor = newcomer(), browser()
        page = await at_code(visitor, place.demo(), email=email)
        code = await code_for(visitor, email)
        guesses = [f"{(int(code) + n) % 10**8:08}" for n in range(1, AT_ONCE + 1)]
        answers = await asyncio.gather(*[visitor.send(page, code=guess) for guess in guesses])
        late = await visitor.send(page, code=code)

        assert sum("This one is wrong." in text_of(each) for each in answers) == 5
        assert "too many failed attempts" in text_of(late)
        assert await people(place, email) == ([], [])


@over_stores
@often
async def test_of_many_accounts_with_one_mailbox_one_is_made(place, newcomer, browser, rounds):
    for _ in range(rounds):
        email, word = newcomer(), place.service.random.id().lower()
        browsers = [browser() for _ in range(MAILS)]
        pages, codes = [], []
        for n, each in enumerate(browsers):
            name = f"{word}{n}"
            pages.append(await at_code(each, place.demo(), email=email, userName=name))
            codes.append(await code_for(each, email))
        answers = await all_at_once(browsers, pages, codes)
        made, sessions = await people(place, word)

        assert (len(made), len(sessions)) == (1, 1)
        lost = [answer for answer in answers if "code" not in answer.answer]
        assert [answer.name for answer in lost] == ["verify-email"] * (MAILS - 1)
        assert all("An account with this email already exists" in text_of(each) for each in lost)


@over_stores
@often
async def test_of_many_accounts_with_one_name_one_gets_it(place, newcomer, browser, rounds):
    for _ in range(rounds):
        name = place.service.random.id().lower()
        browsers = [browser() for _ in range(8)]
        pages, codes = [], []
        for each in browsers:
            email = newcomer()
            pages.append(await at_code(each, place.demo(), email=email, userName=name))
            codes.append(await code_for(each, email))
        answers = await all_at_once(browsers, pages, codes)
        made, sessions = await people(place, name)

        assert (len(made), len(sessions)) == (1, 1)
        assert sorted(str(answer.name) for answer in answers) == ["None", *["user-name"] * 7]
