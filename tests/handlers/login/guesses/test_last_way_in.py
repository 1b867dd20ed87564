"""Accounts whose users have no other way to sign in than the guessed password."""

from __future__ import annotations

import pytest

from idp.identity.guesses import password_closing
from idp.identity.users import memberships
from idp.limits import account_attempts
from idp.mail import messages
from idp.records import FAILURE_STREAKS, MEMBERSHIPS, USERS, Email, FailureStreak
from storage import Insert, Update
from tests.handlers.login.guesses.test_guess_limiter import dana, guess_on, prove_address


@pytest.fixture
def settings():
    return {"trusted_proxies": ("127.0.0.1",)}


async def owners(server):
    found = [one async for one in server.store.scan(MEMBERSHIPS)]
    return [one for one in found if one.org_id is None and "IAM_OWNER" in one.roles]


@pytest.mark.promise("guessing: closed")
async def test_an_account_without_another_way_in_stays_open_once_in_half_an_hour(
    at, server, compared
):
    name, password = await server.copy_user("minnie")
    tries = await at(name)
    await guess_on(server, tries, 50)
    await server.service.background_tasks.finished()
    assert len(compared) == 50
    closed = await tries("wrong")  # the gate of the last try is still closed
    server.clock.advance(int(closed.headers["Retry-After"]))
    assert (await tries("wrong")).status == 400
    early = await tries(password)
    assert early.status == 429
    assert 1700 < int(early.headers["Retry-After"]) <= 1800
    server.clock.advance(1800)

    assert (await (await at(name))(password)).status == 303


@pytest.mark.promise("guessing: closed")
async def test_the_last_owner_stays_open_at_fifty_and_is_closed_beside_another(at, server):
    await prove_address(server)
    user, service = await dana(server), server.service
    (held,) = await owners(server)
    admin = await server.store.get(USERS, held.user_id)
    email = Email(address="admin@example.com", is_verified=True)
    await server.store.commit(Update(USERS, admin.id, set={"email": email}))
    most = account_attempts.limits_of(service.config).max_unknown
    await server.store.commit(Insert(FAILURE_STREAKS, FailureStreak(id=admin.id, unknown=most)))
    await password_closing.close_or_report(service, admin.id)
    alone = (await server.store.get(FAILURE_STREAKS, admin.id)).stays_open
    for org_id, role in ((None, "IAM_OWNER"), (user.org_id, "ORG_OWNER")):
        await memberships.grant(service, user.id, org_id, role, actor="a test")
    await password_closing.close_or_report(service, admin.id)
    beside = (await server.store.get(FAILURE_STREAKS, admin.id)).stays_open

    assert (alone, beside) == (True, False)


@pytest.mark.promise("guessing: closed")
async def test_without_another_way_in_fewer_than_a_hundred_passwords_are_compared(
    at, server, compared
):
    name, password = await server.copy_user("minnie")
    user = (await server.store.find(USERS, {"login_key": name})).records[0]
    config = server.service.config
    last = account_attempts.limits_of(config).max_slow - 1
    await server.store.commit(
        Insert(FAILURE_STREAKS, FailureStreak(id=user.id, unknown=last, stays_open=True))
    )
    tries = await at(name)
    assert (await tries("wrong")).status == 400
    assert len(compared) == 1
    server.clock.advance(1800)
    assert (await tries(password)).status == 400
    await server.service.background_tasks.finished()

    assert len(compared) == 1
    assert (
        account_attempts.limits_of(config).max_slow + account_attempts.limits_of(config).max_known
        < 100
    )


@pytest.mark.promise("guessing: closed")
async def test_the_last_owner_is_told_once_when_the_account_is_closed(server):
    (held,) = await owners(server)
    email = Email(address="admin@example.com", is_verified=True)
    most = account_attempts.limits_of(server.service.config).max_slow
    await server.store.commit(
        Update(USERS, held.user_id, set={"email": email}),
        Insert(FAILURE_STREAKS, FailureStreak(id=held.user_id, unknown=most, stays_open=True)),
    )
    for _ in range(2):
        await password_closing.close_or_report(server.service, held.user_id)

    assert [letter.kind for letter in await messages.held(server.service)] == ["password_closed"]


async def test_who_gets_another_way_in_is_closed_from_the_next_try_on(at, server):
    name, password = await server.copy_user("minnie")
    page = await server.store.find(USERS, {"login_key": name})
    user = page.records[0]
    most = account_attempts.limits_of(server.service.config).max_unknown
    await server.store.commit(
        Insert(FAILURE_STREAKS, FailureStreak(id=user.id, unknown=most, stays_open=True))
    )
    email = Email(address="minnie@example.com", is_verified=True)
    await server.store.commit(Update(USERS, user.id, set={"email": email}))
    assert (await (await at(name))("wrong")).status == 400
    await server.service.background_tasks.finished()
    server.clock.advance(1800)

    assert (await (await at(name))(password)).status == 400
