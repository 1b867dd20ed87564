"""What must not give an account to somebody else: addresses that a provider states, an identity
that comes after its user signed in, and an organization that wants none of this."""

from __future__ import annotations

import pytest
from msgspec import structs

from idp.records import ORGANIZATIONS, OUTBOX, SESSIONS, USERS
from idp.records.identity_links import IDENTITY_LINKS
from idp.records.refusals import REFUSALS
from storage import Update
from tests.support.management.callers import new_organization, refused
from tests.support.management.connecting import ADMIN, Connecting
from tests.support.protocol.claiming import user_of
from tests.support.sign_in.federating import ALL, AT_ONCE, NAMES, Federation
from tests.support.sign_in.registering import mails
from tests.support.sign_in.resetting import at_reset_code
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

MAILBOX = "mallory@evil.example"


async def stated(federation, provider):
    """A user of the provider with an address for which nobody vouches."""
    await federation.change(AT_ONCE)
    provider.claims = {**NAMES, "email": MAILBOX, "email_verified": False}
    page = await federation.sign_in()
    assert "code" in page.answer, page.text


async def test_an_address_that_the_provider_stated_resets_no_password(
    server, federation, provider, new_visitor
):
    await stated(federation, provider)
    stranger = new_visitor()

    page = await at_reset_code(stranger, federation.party, "ada")

    assert page.name == "reset-code"
    assert await mails(stranger, MAILBOX) == []
    assert not (await user_of(server, "ada")).email.is_verified


async def test_an_invited_user_without_a_link_still_gets_the_code(
    server, federation, provider, new_visitor
):
    await stated(federation, provider)
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    user = await user_of(server)
    email = structs.replace(user.email, address="invited@corp.example", is_verified=False)
    changes = {"email": email, "password": None, "address_key": email.address}
    await server.store.commit(Update(USERS, user.id, set=changes))
    stranger = new_visitor()

    await at_reset_code(stranger, federation.party)

    assert link.user_id != user.id
    assert len(await mails(stranger, "invited@corp.example")) == 1


async def test_the_code_for_a_stated_address_invites_nobody_to_choose_a_password(
    server, federation, provider
):
    await stated(federation, provider)
    visitor = federation.visitor
    before = await server.store.count(OUTBOX)
    form = await visitor.open("/ui/account/email")

    page = await visitor.submit(form, email="new@corp.example")

    assert page.status < 400, page.text
    (mail,) = await mails(visitor, "new@corp.example")
    assert await server.store.count(OUTBOX) == before + 1
    assert mail["kind"] == "verify_email"
    assert "/ui/reset" not in mail["text"]


async def test_an_administrator_who_has_the_code_sent_again_invites_nobody_either(
    server, federation, provider, owner
):
    await stated(federation, provider)
    user = await user_of(server, "ada")

    page = await owner.post(f"/v2/users/{user.id}/email/resend", {"sendCode": {}})

    assert page.status == 200, page.text
    (mail,) = await mails(federation.visitor, MAILBOX)
    assert mail["kind"] == "verify_email"


@pytest.mark.parametrize("resent", ["", "/resend"])
async def test_an_administrators_invitation_does_not_go_to_a_stated_address(
    server, federation, provider, owner, resent
):
    await stated(federation, provider)
    user = await user_of(server, "ada")
    path = f"/v2/users/{user.id}/invite_code{resent}"
    before = await everything(server.store)

    template = {"sendCode": {"urlTemplate": f"{server.issuer}/invited?code={{{{.Code}}}}"}}
    for body in ({}, {"sendCode": {}}, template):
        page = await owner.post(path, body)
        assert refused(page, 400, 9) == {"": "email.not_verified"}
    assert await everything(server.store) == before

    page = await owner.post(path, {"returnCode": {}})
    assert page.json()["inviteCode"], page.text
    assert await mails(federation.visitor, MAILBOX) == []
    email = structs.replace(user.email, is_verified=True)
    await server.store.commit(Update(USERS, user.id, set={"email": email}))
    assert (await owner.post(path, {})).status == 200
    assert [mail["kind"] for mail in await mails(federation.visitor, MAILBOX)]


async def test_a_flag_of_the_id_token_verifies_no_address_of_the_userinfo_endpoint(
    server, federation, provider
):
    await federation.verify_domain("corp.example")
    await federation.change({**AT_ONCE, "trustedDomains": ["corp.example"]})
    provider.claims = {**NAMES, "email_verified": True}
    provider.userinfo = {"email": "ceo@corp.example"}

    await federation.sign_in()

    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    email = (await server.store.get(USERS, link.user_id)).email
    assert (email.address, email.is_verified) == ("ceo@corp.example", False)


async def test_whoever_links_an_identity_authenticates_after_it_has_come(
    server, federation, provider
):
    visitor = federation.visitor
    federation.party = await server.register("Wiki", is_third_party=True)
    page = await federation.begin()
    page = await visitor.submit(page, loginName=server.user[0])
    page = await visitor.submit(page, password=server.user[1])
    assert page.name == "consent", page.text
    provider.claims = NAMES

    page = await federation.come_back(await federation.leave(page))

    assert page.name == "idp-account", page.text


@pytest.fixture
def everywhere(io_loop, server, owner, demo, visitor, provider):
    """A connection of the installation to that provider, offered to everybody."""
    federation = Federation(server, Connecting(owner, None, ADMIN), demo, visitor, provider)
    return io_loop.run_sync(federation.make)


@pytest.mark.parametrize("is_allowed", [True, False])
async def test_the_policy_of_the_users_organization_decides_wherever_they_sign_in(
    server, everywhere, provider, owner, new_visitor, is_allowed
):
    await everywhere.change(AT_ONCE)
    provider.claims = NAMES
    page = await everywhere.sign_in()
    assert "code" in page.answer, page.text
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    strict = await new_organization(server, "strict.example")
    await server.store.commit(Update(USERS, link.user_id, set={"org_id": strict.id}))
    policy = {"allowExternalIdp": is_allowed, "allowUsernamePassword": True}
    headers = {"x-idp-orgid": strict.id}
    made = await owner.request("POST", "/management/v1/policies/login", policy, **headers)
    assert made.status == 200, made.text

    page = await everywhere.sign_in(new_visitor())

    assert ("code" in page.answer) is is_allowed, page.text
    assert (await server.store.get(ORGANIZATIONS, strict.id)).state == "active"


CHANGES = {
    "endpoints": lambda issuer: {
        "authorizationEndpoint": f"{issuer}/authorize",
        "tokenEndpoint": f"{issuer}/other-token",
        "jwksUri": f"{issuer}/keys",
    },
    "client": lambda issuer: {"clientId": "another"},
    "mapping": lambda issuer: {"options": {**ALL, "mapping": {"userName": ["email"]}}},
    "trusted domains": lambda issuer: {"options": {**ALL, "trustedDomains": ["corp.example"]}},
}


@pytest.mark.parametrize("what", CHANGES)
async def test_an_identity_that_waits_is_dropped_when_what_it_relied_on_changes(
    server, federation, provider, what
):
    provider.claims = NAMES
    await federation.verify_domain("corp.example")
    page = await federation.sign_in()
    assert page.name == "idp-account", page.text
    await federation.change(**CHANGES[what](provider.issuer))

    page = await federation.visitor.open(page.url)

    assert page.name == "login-name", page.text
    assert await server.store.count(IDENTITY_LINKS) == 0


@pytest.mark.parametrize("what", CHANGES)
async def test_an_answer_is_not_taken_when_what_it_relied_on_has_changed(
    server, federation, provider, what
):
    provider.claims = NAMES
    await federation.verify_domain("corp.example")
    left = await federation.leave(await federation.begin())
    await federation.change(**CHANGES[what](provider.issuer))

    page = await federation.come_back(left)

    assert page.name == "login-name", page.text
    (refusal,) = (await server.store.find(REFUSALS)).records
    assert refusal.checks[-1].name == "connection_usable", refusal.sentence


async def test_a_new_name_of_the_connection_lets_a_sign_in_go_on(federation, provider):
    provider.claims = NAMES
    left = await federation.leave(await federation.begin())
    await federation.change(name="Corporation")

    page = await federation.come_back(left)

    assert page.name == "idp-account", page.text


@pytest.mark.parametrize("is_other_issuer", [True, False])
async def test_sessions_end_when_the_connection_trusts_another_issuer(
    server, federation, provider, is_other_issuer
):
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    page = await federation.sign_in()
    tokens = (await federation.party.redeem(federation.visitor, page.answer["code"])).json()
    issuer = "https://other.example" if is_other_issuer else provider.issuer

    await federation.change(issuer=issuer, clientId="another")

    answer = await federation.party.userinfo(federation.visitor, tokens["access_token"])
    assert answer.status == (401 if is_other_issuer else 200)
    (session,) = (await server.store.find(SESSIONS)).records
    assert (session.ended_at is not None) is is_other_issuer
    assert await server.store.count(IDENTITY_LINKS) == 1
    await events_agree(server.store)
