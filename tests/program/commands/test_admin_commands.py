"""`idp admin unlock` and `grant-owner`: ways back in that need no page."""

from __future__ import annotations

import asyncio

import pytest

from idp.identity.sessions import password_check
from idp.identity.users import admin_recovery, memberships
from idp.identity.users.memberships import IAM_OWNER
from idp.limits.origin import AttemptOrigin
from idp.records import FAILURE_STREAKS, LOGIN_NAME_BACKOFFS, MEMBERSHIPS, USERS
from storage import COUNTERS, Update
from tests.support.programs.in_process import run
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

ACTOR = "command line"


@pytest.fixture
def demo_user(io_loop, server):
    page = io_loop.run_sync(lambda: server.store.find(USERS, {"login_key": "demo"}))
    return page.records[0]


async def lock(server, user, state="locked"):
    await server.store.commit(Update(USERS, user.id, set={"state": state}))


async def owners(server) -> list[str]:
    found = [one async for one in server.store.scan(MEMBERSHIPS) if one.org_id is None]
    return sorted(one.user_id for one in found if IAM_OWNER in one.roles)


# Unlocking


async def test_who_guessed_too_often_may_try_at_once_after_an_unlock(server, new_visitor, demo):
    name, password = server.user
    for _ in range(7):
        page = await new_visitor().sign_in(demo.authorize_url(), name, "wrong")
    assert page.status == 429

    assert await admin_recovery.unlock(server.service, name, actor=ACTOR) is True

    page = await new_visitor().sign_in(demo.authorize_url(), name, password)
    assert "code" in page.answer


async def test_an_unlock_leaves_other_accounts_and_the_network_as_they_are(server, demo_user):
    service, minnie = server.service, (await server.copy_user("minnie"))[0]
    for name in (server.user[0], minnie):
        with pytest.raises(password_check.SignInRefused):
            await password_check.check_password(service, name, "wrong", AttemptOrigin("192.0.2.1"))
    before = {one.id async for one in server.store.scan(LOGIN_NAME_BACKOFFS)}

    assert await admin_recovery.unlock(service, server.user[0], actor=ACTOR) is True

    after = {one.id async for one in server.store.scan(LOGIN_NAME_BACKOFFS)}
    network = await server.store.get(COUNTERS, "spray:192.0.2.1")
    streaks = [one.unknown async for one in server.store.scan(FAILURE_STREAKS)]
    assert (len(before), len(after)) == (2, 1)
    assert network.n == 2
    assert streaks == [1], "of the other account"
    assert await admin_recovery.unlock(service, server.user[0], actor=ACTOR) is False


async def test_a_locked_user_is_active_after_an_unlock_and_it_has_its_event(
    server, visitor, demo, demo_user
):
    await lock(server, demo_user)
    refused = await visitor.sign_in(demo.authorize_url(), *server.user)
    assert refused.name == "password"

    assert await admin_recovery.unlock(server.service, "demo", actor=ACTOR) is True

    page = await visitor.sign_in(demo.authorize_url(), *server.user)
    assert "code" in page.answer
    await events_agree(server.store)


async def test_a_deactivated_user_is_not_let_in_by_an_unlock(server, demo_user):
    await lock(server, demo_user, "inactive")
    before = await everything(server.store)

    with pytest.raises(admin_recovery.NotLocked, match="demo is deactivated, not locked"):
        await admin_recovery.unlock(server.service, "demo", actor=ACTOR)

    assert await everything(server.store) == before


async def test_an_unlock_of_who_is_not_locked_changes_nothing(server):
    before = await everything(server.store)

    assert await admin_recovery.unlock(server.service, "demo", actor=ACTOR) is False
    assert await everything(server.store) == before


# Owners


async def test_a_user_becomes_an_owner_of_the_instance_once(server, demo_user):
    before = await owners(server)

    first = await admin_recovery.grant_owner(server.service, "demo", actor=ACTOR)
    second = await admin_recovery.grant_owner(server.service, "demo", actor=ACTOR)

    assert (first, second) == (True, False)
    assert await owners(server) == sorted([*before, demo_user.id])
    await events_agree(server.store)


async def test_of_many_grants_at_once_one_makes_the_owner(server, demo_user):
    grants = [admin_recovery.grant_owner(server.service, "demo", actor=ACTOR) for _ in range(16)]

    assert sum(await asyncio.gather(*grants)) == 1
    assert (await owners(server)).count(demo_user.id) == 1
    await events_agree(server.store)


async def test_another_role_of_the_same_user_stays(server, demo_user):
    service = server.service
    await memberships.grant(service, demo_user.id, None, "IAM_OWNER_VIEWER", actor=ACTOR)

    assert await admin_recovery.grant_owner(service, "demo", actor=ACTOR) is True

    found = [one async for one in server.store.scan(MEMBERSHIPS, {"user_id": demo_user.id})]
    assert [one.roles for one in found] == [["IAM_OWNER_VIEWER", IAM_OWNER]]
    await events_agree(server.store)


# The commands


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("unlock", "demo"), "demo was not locked"),
        (("grant-owner", "demo"), "demo is now an owner of the instance"),
        (
            ("grant-owner", "admin@localhost"),
            "admin@localhost is already an owner of the instance",
        ),
    ],
)
def test_the_commands_say_what_they_did(installed, tmp_path, command, said):
    ran = run(tmp_path, "admin", *command)

    assert (ran.returncode, ran.stdout, ran.stderr.strip()) == (0, "", said)


@pytest.mark.parametrize("command", ["unlock", "grant-owner"])
def test_an_unknown_user_is_distinguished(installed, tmp_path, command):
    ran = run(tmp_path, "admin", command, "nobody@localhost")

    assert ran.returncode == 5
    assert "no user has the login name nobody@localhost" in ran.stderr
