"""What each way to sign in counts, for the organization of the user and for the installation."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from idp.records import LAST_USES, USERS
from idp.usage import flushing
from storage import COUNTERS, Delete
from tests.support.protocol.claiming import organization_of
from tests.support.sign_in.factors import code, give_app, user_of, wrong
from tests.support.sign_in.federating import AT_ONCE, NAMES
from tests.support.sign_in.passkeys import enrol
from tests.support.sign_in.passkeys import sign_in as sign_in_by_passkey
from tests.support.sign_in.registering import registered
from tests.support.sign_in.resetting import at_reset_code, chosen, give_address, newest
from tests.support.sign_in.steps import at_password

ACTIVE = {"active_day": 1, "active_week": 1, "active_month": 1}


@pytest.fixture
def counted(server):
    """Stores what was counted since the last call, and returns it by kind."""

    async def take(org_id=None) -> dict[str, int]:
        await flushing.flush_all(server.service)
        home = await organization_of(server)
        found, scope = Counter(), home.id if org_id is None else org_id
        async for counter in server.store.scan(COUNTERS):
            if counter.id.startswith(f"usage:{scope}:") and ":d" in counter.id:
                found[counter.id.split(":")[2]] += counter.n
        return dict(found)

    return take


async def forget(server) -> None:
    """As if nothing was counted before."""
    await flushing.flush_all(server.service)
    async for counter in server.store.scan(COUNTERS):
        if counter.id.startswith("usage:"):
            await server.store.commit(Delete(COUNTERS, counter.id))


async def test_a_password_counts_a_sign_in_and_an_active_user(visitor, demo, server, counted):
    await visitor.sign_in(demo.authorize_url(), *server.user)

    assert await counted() == {"sign_in": 1, **ACTIVE}
    assert await counted("*") == {"sign_in": 1, **ACTIVE}


async def test_an_open_session_counts_no_sign_in_but_an_active_user_of_the_next_day(
    visitor, demo, server, counted
):
    server.clock.advance(server.clock.now().replace(hour=23) - server.clock.now())
    await visitor.sign_in(demo.authorize_url(), *server.user)
    await forget(server)
    server.clock.advance(timedelta(hours=2))
    await visitor.open(demo.authorize_url(prompt="none"))

    assert await counted() == {"active_day": 1}


async def test_a_wrong_password_counts_for_the_organization_of_the_user(
    visitor, demo, server, counted
):
    page = await at_password(visitor, demo, "demo")
    await visitor.submit(page, password="wrong pass phrase")

    assert await counted() == await counted("*") == {"sign_in_failed": 1}


async def test_an_unknown_name_counts_for_the_organization_of_the_application(
    visitor, demo, server, counted
):
    page = await at_password(visitor, demo, "nobody-here")
    await visitor.submit(page, password="wrong pass phrase")

    assert await counted() == await counted("*") == {"sign_in_failed": 1}


async def test_a_code_counts_a_second_factor_and_a_wrong_one_a_failure(
    visitor, demo, server, counted
):
    await give_app(server)
    page = await visitor.sign_in(demo.authorize_url(), *server.user)
    page = await visitor.submit(page, code=wrong(server.clock))
    await visitor.submit(page, code=code(server.clock))

    expected = {"sign_in": 1, "sign_in_failed": 1, "second_factor": 1, **ACTIVE}
    assert await counted() == expected


async def test_a_passkey_alone_counts_as_one_and_not_as_a_second_factor(
    visitor, new_visitor, demo, server, counted
):
    await demo.tokens(visitor, *server.user)
    device, _ = await enrol(visitor, server)
    await forget(server)
    await sign_in_by_passkey(new_visitor(), demo, device)

    assert await counted() == {"sign_in": 1, "passkey": 1}


async def test_an_account_made_by_a_provider_counts_a_registration_and_the_provider(
    server, federation, provider, counted
):
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    await forget(server)
    await federation.sign_in()

    assert await counted() == {"sign_in": 1, "provider": 1, "registration": 1, **ACTIVE}


async def test_a_registration_counts_with_its_sign_in(visitor, demo, server, counted):
    page = await registered(visitor, demo)

    assert "code" in page.answer
    assert await counted() == {"sign_in": 1, "registration": 1, **ACTIVE}


async def test_a_reset_by_the_code_of_the_mail_counts_once(visitor, demo, server, counted):
    await give_address(server)
    await chosen(visitor, await at_reset_code(visitor, demo))

    assert await counted() == {"sign_in": 1, "reset": 1, **ACTIVE}


async def test_a_reset_by_the_link_of_the_mail_counts_once(visitor, demo, server, counted):
    await give_address(server)
    await at_reset_code(visitor, demo)
    page = await visitor.open((await newest(visitor))["url"])
    await visitor.submit(page, newPassword="seven green kettles hum")

    assert await counted() == {"sign_in": 1, "reset": 1, **ACTIVE}


async def test_a_removed_user_leaves_no_time_of_a_sign_in(visitor, demo, server, owner, counted):
    name, password = await server.copy_user("ada")
    await visitor.sign_in(demo.authorize_url(), name, password)
    await flushing.flush_all(server.service)
    user = await user_of(server, name)
    before = await server.store.get(LAST_USES, f"user:{user.id}")
    await owner.request("DELETE", f"/v2/users/{user.id}", None)

    assert before.at == server.clock.now()
    assert await server.store.get(USERS, user.id) is None
    assert await server.store.get(LAST_USES, f"user:{user.id}") is None
