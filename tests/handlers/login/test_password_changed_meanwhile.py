"""A password that is changed while a sign-in with the old one is being compared."""

from __future__ import annotations

import pytest
from msgspec import structs

from idp.identity.users import lookup, password_change
from idp.records import APPLICATIONS, AUTHORIZATIONS, SESSIONS, USERS
from storage import Update
from tests.support.sign_in import account
from tests.support.sign_in.steps import at_password, text_of

NEW = "another password of the owner 77"


@pytest.fixture
def meanwhile(server, monkeypatch):
    """What happens between the comparison of a password and the rest of the sign-in."""
    real, steps = server.service.hasher.verify, []

    async def verify(password, encoded):
        verdict = await real(password, encoded)
        while steps:
            await steps.pop()()
        return verdict

    monkeypatch.setattr(server.service.hasher, "verify", verify)
    return steps


async def change_password(server):
    subject = await lookup.subject_of(server.service, await account.user(server))
    change = await password_change.prepare(server.service, subject, NEW, "owner")
    await server.store.commit(*change.writes)


async def test_the_old_password_opens_no_session_any_more(server, visitor, demo, meanwhile):
    name, old = server.user
    page = await at_password(visitor, demo, name)
    meanwhile.append(lambda: change_password(server))

    refused = await visitor.submit(page, password=old)

    assert refused.status == 400
    assert "Check your email or username and your password" in text_of(refused)
    assert (await server.store.find(SESSIONS, {})).records == []
    accepted = await visitor.send(await at_password(visitor, demo, name), password=NEW)
    assert accepted.status == 303


async def test_a_user_that_is_removed_meanwhile_is_refused(server, visitor, demo, meanwhile):
    page = await at_password(visitor, demo, server.user[0])
    user = await account.user(server)

    async def deactivate():
        await server.store.commit(Update(USERS, user.id, set={"state": "inactive"}))

    meanwhile.append(deactivate)

    refused = await visitor.submit(page, password=server.user[1])

    assert refused.status == 400
    assert (await server.store.find(SESSIONS, {})).records == []


@pytest.mark.parametrize(
    ("change", "next_page"),
    [
        ({"is_third_party": True}, "consent"),
        ({"state": "inactive"}, "expired"),
        ({"redirect_uris": ["https://elsewhere.example/callback"]}, "expired"),
    ],
)
async def test_an_application_that_is_changed_meanwhile_gets_what_it_may_get_now(
    server, visitor, demo, meanwhile, change, next_page
):
    page = await at_password(visitor, demo, server.user[0])

    async def change_application():
        await server.store.commit(Update(APPLICATIONS, demo.client_id, set=change))

    meanwhile.append(change_application)

    answer = await visitor.submit(page, password=server.user[1])

    assert "code" not in answer.answer
    assert answer.name == next_page
    assert (await server.store.find(AUTHORIZATIONS, {})).records == []


async def test_a_hash_that_is_renewed_meanwhile_disturbs_no_sign_in(
    server, visitor, demo, meanwhile
):
    page = await at_password(visitor, demo, server.user[0])
    user = await account.user(server)
    renewed = structs.replace(user.password, hash=await server.service.hasher.hash(server.user[1]))

    async def renew():
        await server.store.commit(Update(USERS, user.id, set={"password": renewed}))

    meanwhile.append(renew)

    assert (await visitor.send(page, password=server.user[1])).status == 303
