"""Whose account it is: addresses, links, sessions, and what a sign-in elsewhere proves."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs

from idp.identity.users import lookup as user_lookup
from idp.records import SESSIONS, USERS
from idp.records.identity_links import IDENTITY_LINKS
from storage import Update
from tests.support.protocol.claiming import user_of
from tests.support.sign_in.federating import AT_ONCE, NAMES
from tests.support.sign_in.hostile_provider import renamed, rsa
from tests.support.store.audit import events_agree
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401

EMAILS = {
    # What the provider states, whether its domain is trusted, and what is stored
    "verified and trusted": (True, True, True),
    "verified, of any domain": (True, False, False),
    "not verified": (False, True, False),
    "a text": ("true", True, True),
    "no statement": (None, True, False),
}


@pytest.mark.parametrize("case", EMAILS)
async def test_an_address_counts_as_verified_only_if_it_is_trusted(
    server, federation, provider, owner, case
):
    states, is_trusted, is_verified = EMAILS[case]
    await federation.verify_domain("corp.example")
    domains = ["corp.example"] if is_trusted else []
    await federation.change({**AT_ONCE, "trustedDomains": domains})
    provider.claims = {**NAMES, "email": "ada@Corp.example", "email_verified": states}

    page = await federation.sign_in()

    assert "code" in page.answer, page.text
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    email = (await server.store.get(USERS, link.user_id)).email
    assert (email.address, email.is_verified) == ("ada@corp.example", is_verified)


async def test_the_verification_of_one_address_says_nothing_of_another(
    server, federation, provider
):
    await federation.verify_domain("corp.example")
    await federation.change({**AT_ONCE, "trustedDomains": ["corp.example"]})
    provider.claims = {**NAMES, "email": "ada@corp.example"}
    provider.userinfo = {"email": "other@corp.example", "email_verified": True}

    await federation.sign_in()

    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    email = (await server.store.get(USERS, link.user_id)).email
    assert (email.address, email.is_verified) == ("ada@corp.example", False)


async def test_an_untrusted_address_of_somebody_stays_theirs(
    server, federation, provider, new_visitor
):
    """Neither taken from its owner nor told to be somebody's."""
    await federation.change(AT_ONCE)
    known = (await user_of(server)).email.address
    provider.claims = {**NAMES, "email": known, "email_verified": True}

    page = await federation.sign_in()

    assert "code" in page.answer, page.text
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    assert not (await server.store.get(USERS, link.user_id)).email.is_verified
    assert (await user_of(server, known)).id == (await user_of(server)).id
    await federation.party.tokens(new_visitor(), known, server.user[1])


async def test_a_user_who_is_deactivated_does_not_sign_in(
    server, federation, provider, owner, new_visitor
):
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    await federation.sign_in()
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    await owner.post(f"/v2/users/{link.user_id}/deactivate", {})

    page = await federation.sign_in(new_visitor())

    assert page.name == "login-name"
    assert "can&#39;t be used with Corp" in page.text


async def test_the_domain_of_the_login_name_leads_to_the_provider(federation, provider):
    await federation.verify_domain("corp.example")
    await federation.change({**AT_ONCE, "domains": ["corp.example"]})
    page = await federation.begin()

    left = await federation.visitor.send(page, loginName="ada@corp.example")

    assert left.answer["login_hint"] == "ada@corp.example"
    provider.claims = NAMES
    assert "code" in (await federation.come_back(left)).answer


@pytest.mark.parametrize(
    "typed", ["ada@bücher.example", "ada@XN--BCHER-KVA.example", "ada@BÜCHER．example"]
)
async def test_an_internationalised_domain_leads_to_the_provider_in_every_spelling(
    federation, typed
):
    await federation.verify_domain("xn--bcher-kva.example")
    await federation.change({**AT_ONCE, "domains": ["xn--bcher-kva.example"]})
    page = await federation.begin()

    left = await federation.visitor.send(page, loginName=typed)

    assert "login_hint" in left.answer


async def test_a_new_sign_in_is_demanded_of_the_provider_and_proven(server, federation, provider):
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    left = await federation.leave(await federation.begin(prompt="login"))
    assert (left.answer["prompt"], left.answer["max_age"]) == ("login", "0")

    page = await federation.come_back(left)
    assert page.name == "login-name"  # auth_time is not stated
    now = int(server.clock.now().timestamp())
    for earlier, is_enough in ((3600, False), (0, True)):
        left = await federation.leave(await federation.begin(prompt="login"))
        provider.claims = {**NAMES, "auth_time": now - earlier}
        page = await federation.come_back(left)
        assert ("code" in page.answer) is is_enough


@pytest.mark.parametrize(
    ("policy", "asks"), [({"forceMfa": True}, True), ({"forceMfaLocalOnly": True}, False)]
)
async def test_a_second_factor_is_asked_as_the_policy_says(federation, provider, policy, asks):
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    await federation.connecting.call("POST", "/policies/login", policy)

    page = await federation.sign_in()

    assert (page.name == "factor-offer") is asks, page.text


async def test_a_new_key_of_the_provider_is_fetched(server, federation, provider, new_visitor):
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    await federation.sign_in()
    key = renamed(rsa(number=2), "k2")
    provider.keys, provider.signing_key, provider.header = [key], key, {"kid": "k2"}
    server.clock.advance(61)

    page = await federation.sign_in(new_visitor())

    assert "code" in page.answer, page.text
    assert len([path for path, *_ in provider.calls if path == "/keys"]) == 2


async def test_a_provider_that_is_away_is_known_for_a_day(server, federation, provider):
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    await federation.sign_in()
    provider.answers["/.well-known/openid-configuration"] = (503, b"{}")
    server.clock.advance(23 * 3600)

    page = await federation.begin()

    assert (await federation.leave(page)).location.startswith(provider.issuer)


async def test_a_trusted_address_of_an_account_leads_to_that_account(server, federation, provider):
    """No second account for one mailbox: the person signs in to the one there is."""
    user = await user_of(server)
    verified = structs.replace(user.email, is_verified=True, address="dana@corp.example")
    keys = user_lookup.keys(user.user_name, verified, user.profile, user.org_id)
    await server.store.commit(Update(USERS, user.id, set={"email": verified, **keys}))
    await federation.verify_domain("corp.example")
    await federation.change(
        {**AT_ONCE, "isLinkingAllowed": True, "trustedDomains": ["corp.example"]}
    )
    provider.claims = {**NAMES, "email": "dana@corp.example", "email_verified": True}
    users = await server.store.count(USERS)

    page = await federation.sign_in()

    assert page.name == "idp-account"
    page = await federation.visitor.submit(page, **page.inputs)
    assert "An account with your email address exists" in page.text
    assert await server.store.count(USERS) == users


@pytest.mark.promise("connections: sessions")
@pytest.mark.parametrize("change", ["deactivate", "delete", "unlink"])
async def test_sessions_end_with_their_connection(
    server, federation, provider, owner, change, new_visitor
):
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    page = await federation.sign_in()
    tokens = (await federation.party.redeem(federation.visitor, page.answer["code"])).json()
    other = new_visitor()
    own = await federation.party.tokens(other, *server.user)
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    path = {
        "deactivate": ("POST", f"/management/v1/idps/{federation.connection}/_deactivate"),
        "delete": (
            "DELETE",
            f"/management/v1/idps/templates/{federation.connection}?links=delete",
        ),
        "unlink": (
            "DELETE",
            f"/management/v1/users/{link.user_id}/idps/{federation.connection}/person-1",
        ),
    }[change]

    done = await owner.request(*path, {} if change == "deactivate" else None)

    assert done.status == 200, done.text
    ended = await federation.party.userinfo(federation.visitor, tokens["access_token"])
    kept = await federation.party.userinfo(other, own["access_token"])
    assert (ended.status, kept.status) == (401, 200)
    left = 0 if change != "deactivate" else 1
    assert await server.store.count(IDENTITY_LINKS) == left
    await events_agree(server.store)


@on_both_stores
@pytest.mark.load("mongodb")
@pytest.mark.promise("connections: one user")
async def test_first_sign_ins_of_one_person_at_once_make_one_user(
    server, federation, provider, new_visitor
):
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    visitors = [new_visitor() for _ in range(8)]
    answers = []
    for visitor in visitors:
        left = await federation.leave(await federation.begin(visitor), visitor)
        # Each has a nonce of its own: the provider's token is made when its code is redeemed.
        answers.append((visitor, provider.answer_at(left, code=f"code-{len(answers)}")))
        provider.nonces[f"code-{len(answers) - 1}"] = provider.authorization["nonce"]

    pages = await asyncio.gather(*(visitor.open(address) for visitor, address in answers))

    assert all("code" in page.answer for page in pages), [page.text for page in pages]
    assert await server.store.count(IDENTITY_LINKS) == 1
    sessions = (await server.store.find(SESSIONS)).records
    assert len({one.user_id for one in sessions}) == 1
    await events_agree(server.store)


async def test_a_deleted_user_leaves_no_link(server, federation, provider, owner):
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    await federation.sign_in()
    (link,) = (await server.store.find(IDENTITY_LINKS)).records

    done = await owner.request("DELETE", f"/v2/users/{link.user_id}", None)

    assert done.status == 200, done.text
    assert await server.store.count(IDENTITY_LINKS) == 0
    await events_agree(server.store)
