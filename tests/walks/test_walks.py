"""Whatever somebody does with the pages of a sign-in, there is a way forward, and it leads in."""

from __future__ import annotations

import pytest

from idp.records import USERS, Email
from storage import Update
from tests.support.sign_in.factors import give_app
from tests.walks.actions import ACTIONS, begin
from tests.walks.walk import Person, Walk
from tests.walks.ways import forward

STEPS = 12
WALKS = 10  # in one test
DEEP = 200  # tests


@pytest.fixture
def settings():
    """Everybody comes from one address here, and does much wrong."""
    return {
        "known_networks": ("127.0.0.0/8",),
        "sign_in_failures_before_delay": 20,
        "refused_credentials_limit": 1_000_000,
    }


async def person_of(server, seed) -> Person:
    """Somebody of their own for each walk, who can be written to; some have a second factor."""
    name, password = await server.copy_user(f"walker-{seed}")
    email = f"{name}@example.org"
    user = (await server.store.find(USERS, {"login_key": name})).records[0]
    proven = {
        "email": Email(address=email, is_verified=True),
        "email_key": email,
        "address_key": email,
    }
    await server.store.commit(Update(USERS, user.id, set=proven))
    if seed % 3 == 0:
        await give_app(server, name)
    return Person(name, email, password)


def rounds(most):
    marks = [() if n < most else pytest.mark.load for n in range(DEEP)]
    return [pytest.param(n, marks=mark) for n, mark in enumerate(marks)]


@pytest.mark.parametrize("round", rounds(6))
async def test_every_page_has_a_way_forward_and_every_walk_ends_in_the_application(
    server, new_visitor, round
):
    browsers = [new_visitor(), new_visitor()]
    for seed in range(round * WALKS, (round + 1) * WALKS):
        for browser in browsers:
            browser.cookies.clear()
        walk = Walk(seed, server, browsers, await person_of(server, seed))
        await walk.act(begin)
        actions = walk.chance.choices([*ACTIONS], [*ACTIONS.values()], k=STEPS)
        for action in actions:
            if walk.is_answer(walk.page):
                action = begin
            await walk.act(action)
        await walk.arrive(forward)
