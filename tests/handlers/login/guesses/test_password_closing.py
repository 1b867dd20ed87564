"""A closed password leaves a way in: the mail about it leads to where a new one can be chosen."""

from __future__ import annotations

import pytest

from idp.identity.guesses import password_closing
from idp.management.policies import policies
from idp.records import (
    FAILURE_STREAKS,
    INSTANCE_ID,
    INSTANCES,
    POLICIES,
    USERS,
    Email,
    FailureStreak,
    LoginRules,
)
from storage import Insert, Update
from tests.support.management.callers import new_organization
from tests.support.sign_in import account

HIDDEN, OFFERED = True, False


async def close(server, monkeypatch):
    """Whether the password of the server's user stays open after 50 wrong ones."""
    user = await account.user(server)
    email = Email(address="dana@example.com", is_verified=True)
    await server.store.commit(
        Update(USERS, user.id, set={"email": email}),
        Insert(FAILURE_STREAKS, FailureStreak(id=user.id, unknown=50)),
    )
    server.service.settings_cache.forget()
    monkeypatch.setattr(password_closing, "AFTER_ANSWER_SECONDS", 0)
    await password_closing.close_or_report(server.service, user.id)
    return (await server.store.get(FAILURE_STREAKS, user.id)).stays_open


async def rules(server, org_id, hides):
    """A login policy of the organization; without one, of the installation."""
    login = LoginRules(hide_password_reset=hides)
    policy = policies.new(org_id, login, server.clock.now(), "login")
    await server.store.commit(Insert(POLICIES, policy))


@pytest.mark.parametrize(
    ("installation", "first", "own", "stays_open"),
    [
        (None, None, None, False),
        (None, HIDDEN, None, True),
        (HIDDEN, None, OFFERED, True),
        (HIDDEN, OFFERED, None, True),
        (None, None, HIDDEN, True),
        (HIDDEN, OFFERED, OFFERED, False),
    ],
)
async def test_it_is_closed_only_where_both_offer_a_new_password(
    server, visitor, monkeypatch, installation, first, own, stays_open
):
    """Its own organization, and the first one, whose policy the service's own pages follow."""
    instance = await server.store.get(INSTANCES, INSTANCE_ID)
    home, user = await new_organization(server, "b.example"), await account.user(server)
    await server.store.commit(Update(USERS, user.id, set={"org_id": home.id}))
    for org_id, hides in ((None, installation), (instance.org_id, first), (home.id, own)):
        if hides is not None:
            await rules(server, org_id, hides)

    assert await close(server, monkeypatch) == stays_open
    page = await visitor.submit(await visitor.open("/ui/reset"), loginName=server.user[0])
    assert stays_open or page.name == "reset-code"
