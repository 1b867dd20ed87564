"""What people are told when something changes that guards their account."""

import pytest
from msgspec import structs

from idp.identity.guesses import lockout
from idp.identity.users import admin_recovery
from idp.mail import messages
from idp.mail.templates import security as letters
from idp.records import USERS, Email, LockoutRules
from storage import Update

TELLING = {
    "password_changed": letters.password_changed,
    "account_locked": letters.locked,
    "email_changed": lambda service, user: letters.email_changed(service, user, None),
}


async def person(server, **changes):
    found = await server.store.find(USERS, {"login_key": "demo"})
    user = found.records[0]
    changes = {"email": Email(address="nora@example.com", is_verified=True)} | changes
    return structs.replace(user, **changes)


async def held(server, writes):
    await server.store.commit(*writes)
    return [each.mail_message for each in await messages.held(server.service)]


@pytest.mark.parametrize("kind", TELLING)
async def test_the_verified_address_gets_a_message_in_its_owners_language(server, kind):
    user = await person(server)
    profile = structs.replace(user.profile, preferred_language="de")
    user = structs.replace(user, profile=profile)

    (letter,) = await held(server, TELLING[kind](server.service, user))
    (stored,) = await messages.held(server.service)

    assert (stored.kind, stored.user_id) == (kind, user.id)
    assert letter.to == "nora@example.com"
    assert letter.code is None
    assert 'lang="de"' in letter.html
    assert "Ihr" in letter.subject or "Konto" in letter.subject


@pytest.mark.parametrize("email", [None, Email(address="nora@example.com")])
@pytest.mark.parametrize("kind", TELLING)
async def test_no_message_goes_to_an_address_that_is_not_verified(server, kind, email):
    user = await person(server, email=email)

    assert TELLING[kind](server.service, user) == []


async def test_an_address_that_stays_gets_no_message_about_a_change(server):
    user = await person(server)

    assert letters.email_changed(server.service, user, user.email) == []


async def changed(server, user):
    page = await server.store.find(USERS, {"login_key": user})
    return page.records[0]


async def prove_address(server):
    """The demo user, with an address of their own."""
    user = await changed(server, server.user[0])
    email = Email(address="nora@example.com", is_verified=True)
    await server.store.commit(Update(USERS, user.id, set={"email": email}))
    return user


async def test_a_user_who_gets_a_new_password_is_notified(server):
    user = await prove_address(server)
    await admin_recovery.reset_password(server.service, server.user[0], actor="a test")

    (letter,) = await messages.held(server.service)
    assert (letter.kind, letter.user_id) == ("password_changed", user.id)


async def test_a_user_who_is_locked_out_is_notified_once(server):
    await prove_address(server)

    rules = LockoutRules(max_password_attempts=2)
    for _ in range(2):
        user = await changed(server, server.user[0])
        await lockout.lock(server.service, user, rules)

    assert (await changed(server, server.user[0])).state == "locked"
    assert [each.kind for each in await messages.held(server.service)] == ["account_locked"]
