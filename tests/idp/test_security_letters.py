"""What people are told when something changes that guards their account."""

import pytest
from msgspec import structs

from idp import mail
from idp.identity import security_letters as letters
from idp.records import USERS, Email

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
    return [each.letter for each in await mail.held(server.service)]


@pytest.mark.parametrize("kind", TELLING)
async def test_the_proven_address_is_told_in_its_owners_language(server, kind):
    user = await person(server)
    profile = structs.replace(user.profile, preferred_language="de")
    user = structs.replace(user, profile=profile)

    (letter,) = await held(server, TELLING[kind](server.service, user))
    (stored,) = await mail.held(server.service)

    assert (stored.kind, stored.user_id) == (kind, user.id)
    assert letter.to == "nora@example.com"
    assert letter.code is None
    assert 'lang="de"' in letter.html
    assert "Konto" in letter.subject


@pytest.mark.parametrize("email", [None, Email(address="nora@example.com")])
@pytest.mark.parametrize("kind", TELLING)
async def test_nobody_is_told_at_an_address_that_is_not_proven(server, kind, email):
    user = await person(server, email=email)

    assert TELLING[kind](server.service, user) == []


async def test_an_address_that_stays_is_not_told_of_a_change(server):
    user = await person(server)

    assert letters.email_changed(server.service, user, user.email) == []
