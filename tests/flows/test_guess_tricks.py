"""Ways around the limits on guesses, and ways to use them against others. From two services over
one store."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import pytest

from idp.identity.guesses import account_names
from idp.identity.sessions import known_browsers, password_check
from idp.identity.users import lookup
from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from idp.records import (
    LOGIN_NAME_BACKOFFS,
    ORGANIZATIONS,
    USERS,
    Browser,
    Email,
    LockoutRules,
    Password,
)
from storage import COUNTERS, Update
from tests.flows.test_guess_races import WRONG, settings, twins, url, user_of
from tests.support.management.callers import new_organization
from tests.support.sign_in.factors import set_policy

__all__ = ["settings", "twins", "url"]

RIGHT = "four green kettles hum"


async def owner_of(twins):
    """The only owner, with a password of their own, and a browser that their account knows."""
    page = await twins.store.find(USERS, {"login_key": "admin@localhost"})
    (user,) = page.records
    now = twins.clock.now()
    encoded = await twins.services[0].hasher.hash(RIGHT)
    password = Password(hash=encoded, changed_at=now)
    await twins.store.commit(Update(USERS, user.id, set={"password": password}))
    ends_at = now + timedelta(days=400)
    known = [known_browsers.entry(user)]
    browser = Browser(id="b", secret_hash="", created_at=now, expires_at=ends_at, known=known)
    return user, browser


@pytest.mark.promise("guessing: lockout")
async def test_a_lockout_policy_shuts_out_no_last_owner(twins):
    await set_policy(twins.server, "lockout", LockoutRules(3, lockout_seconds=60))
    owner, browser = await owner_of(twins)
    wrong = await twins.tries(WRONG, name=owner.user_name, addresses=["198.51.100.1"] * 3)
    await twins.background_tasks_finished()
    known = await twins.tries(RIGHT, name=owner.user_name, browser=browser)
    elsewhere = await twins.tries(RIGHT, name=owner.user_name, addresses=["203.0.113.5"])

    assert wrong == ["wrong"] * 3
    assert (known, elsewhere) == (["right"], ["right"])
    assert (await twins.store.get(USERS, owner.id)).state == "active"


@pytest.mark.promise("guessing: lockout")
async def test_what_is_tried_during_a_lock_does_not_lock_again(twins):
    await set_policy(twins.server, "lockout", LockoutRules(3, lockout_seconds=60))
    stranger = ["198.51.100.1"]
    for _ in range(6):
        await twins.tries(WRONG, addresses=stranger)
        await twins.background_tasks_finished()
    locked = (await user_of(twins.server)).state
    twins.clock.advance(61)
    right = await twins.tries(twins.server.user[1], addresses=["203.0.113.5"])

    assert locked == "locked"
    assert right == ["right"]


@pytest.mark.promise("guessing: networks")
async def test_sign_ins_with_an_account_of_ones_own_take_no_other_account_off_the_network(twins):
    name, password = await twins.server.copy_user("mallory")
    for n in range(20):
        await twins.tries(WRONG, name=f"victim{n}")
    for _ in range(4):
        await twins.tries(password, name=name, addresses=["192.0.2.1"] * 5)

    assert (await twins.store.get(COUNTERS, "spray:192.0.2.1")).n == 20


@pytest.mark.promise("guessing: passwords")
async def test_every_spelling_of_a_login_name_has_the_same_rate(twins):
    organization = await twins.store.get(ORGANIZATIONS, (await user_of(twins.server)).org_id)
    name = "alice@mail.dept.example.com"
    await twins.server.copy_user(name)
    qualified = f"{name}@{organization.primary_domain}"
    spellings = [qualified, qualified.replace(".dept", "。dept"), qualified.replace(".", "。")]
    spellings += [qualified.upper(), f"{qualified}.", f" {qualified} "]
    service = twins.services[0]
    found = [await lookup.find_by_login_name(service, each) for each in spellings]
    names = {account_names.login_name(service, each) for each in spellings}

    assert {user and user.user_name for user in found} == {name}
    assert len(names) == 1


async def test_a_success_of_another_user_with_the_same_login_name_ends_no_delay(twins):
    """The address is a user name in one organization, and a login name in another one, which
    states that it is verified."""
    name = "bob@corp.example"
    await twins.server.copy_user(name)
    other = await new_organization(twins.server, "b.example")
    own, password = await twins.server.copy_user("mallory")
    (user,) = (await twins.store.find(USERS, {"login_key": own})).records
    scoped = lookup.scoped_key(lookup.login_key(name), other.id)
    address = Email(address=name, is_verified=True)
    changes = {"org_id": other.id, "email": address, "email_key": scoped}
    await twins.store.commit(Update(USERS, user.id, set=changes))
    service, outcomes = twins.services[0], []
    origin = AttemptOrigin("198.51.100.1")
    for _ in range(4):
        outcomes += await twins.tries(WRONG, name=name, addresses=["198.51.100.1"] * 2)
        with suppress(Throttled):
            checked = await password_check.check_password(
                service, name, password, origin, org_id=other.id
            )
            await password_check.succeeded(service, checked)
    backoff = await twins.store.get(LOGIN_NAME_BACKOFFS, account_names.login_name(service, name))

    assert checked.subject.user.user_name == own
    assert "paced" in outcomes
    assert backoff.backoff.tries >= 5
