"""Addresses of verified domains, and what becomes of them when a domain is given up; two writes at
the same moment. Over HTTP, on both stores."""

from __future__ import annotations

import asyncio

import pytest

from idp.identity.users import lost_domains
from idp.records import DEFERRED_WORK, EVENTS, USERS
from tests.handlers.management.organizations.naming import PATH as DOMAINS_PATH
from tests.handlers.management.organizations.naming import verify_domain
from tests.handlers.management.organizations.tenants import VERA, place, settings
from tests.support.sign_in.people import PATH, create, person
from tests.support.sign_in.registering import code_for
from tests.support.store.audit import events_agree

__all__ = ["place", "settings"]

# Domains: what they make count, and what is left when they are given up.


@pytest.mark.promise("tenant: domain")
async def test_an_address_of_a_verified_domain_counts_everywhere_and_falls_back_with_it(place):
    await verify_domain(place.chief, "evil-mail.example", place.zone)
    address = "m@evil-mail.example"
    mallory = await place.mallory(email={"email": address, "isVerified": True})
    before = await place.user(mallory)
    counted = await place.userinfo(place.shop, await place.signed_in(place.shop))
    page = await place.chief.request("DELETE", f"{DOMAINS_PATH}/evil-mail.example", None)
    await place.tidied()
    after = await place.user(mallory)
    told = await place.userinfo(place.shop, await place.signed_in(place.shop))

    assert (before.email.verified_by, before.email_key) == ("domain", address)
    assert counted["email_verified"] is True
    assert page.status == 200
    assert after.email.verified_by == "organization"
    assert told["email_verified"] is False
    assert await place.who(place.shop, address) is None
    assert await place.who(place.own, address) == mallory
    types = [one.type async for one in place.server.store.scan(EVENTS)]
    assert types.count("user.email_domain_lost") == 1
    await events_agree(place.server.store)


async def test_a_renamed_user_keeps_no_domain_that_was_given_up(place):
    await verify_domain(place.chief, "evil-mail.example", place.zone)
    email = {"email": "m@evil-mail.example", "isVerified": True}
    mallory = await place.mallory(email=email)
    await place.chief.request("DELETE", f"{DOMAINS_PATH}/evil-mail.example", None)
    page = await place.chief.request("PUT", f"/v2/users/human/{mallory}", {"username": "a"})

    assert page.status == 200
    assert (await place.user(mallory)).email.verified_by == "organization"


@pytest.mark.promise("tenant: domain")
async def test_all_users_of_a_large_organization_fall_back_however_often_the_job_is_cut_off(
    place, monkeypatch
):

    monkeypatch.setattr(lost_domains, "BATCH_SIZE", 2)
    await verify_domain(place.chief, "evil-mail.example", place.zone)
    for n in range(5):
        email = {"email": f"m{n}@evil-mail.example", "isVerified": True}
        await create(place.chief, username=f"m{n}", email=email)
    await place.chief.request("DELETE", f"{DOMAINS_PATH}/evil-mail.example", None)

    for _ in range(2):  # two steps, each as if its process died after it
        (work,) = (await place.server.store.find(DEFERRED_WORK)).records
        assert await lost_domains.process_page(place.server.service, work) is False
    await place.tidied()

    users = [one async for one in place.server.store.scan(USERS) if one.org_id == place.evil.id]
    sources = {one.email.verified_by for one in users if one.email}
    events = [one.type async for one in place.server.store.scan(EVENTS)]
    assert sources == {"organization"}
    assert events.count("user.email_domain_lost") == 5
    assert (await place.server.store.find(DEFERRED_WORK)).records == []


# Two at the same moment.


async def test_of_verifications_of_one_address_in_two_organizations_at_once_one_counts(place):
    proofs = []
    for caller in (place.chief, place.boss):
        visitor = place.new_visitor()
        name = f"v-{caller.user_id[:5]}"
        made = await create(caller, username=name, email={"email": VERA})
        body = {"verificationCode": await code_for(visitor, VERA)}
        proofs.append(caller.post(f"/v2/users/{made['userId']}/email/verify", body))
        place.server.clock.advance(1)

    pages = await asyncio.gather(*proofs)

    assert sorted(page.status for page in pages) == [200, 400]
    found = await place.server.store.find(USERS, {"email_key": VERA})
    assert len(found.records) == 1


@pytest.mark.promise("tenant: superseded address")
async def test_an_address_asserted_and_verified_at_once_is_a_login_name_of_who_verified_it(place):
    for n in range(5):
        address, visitor = f"v{n}@mail.example", place.new_visitor()
        made = await create(place.boss, username=f"vera{n}", email={"email": address})
        body = {"verificationCode": await code_for(visitor, address)}
        email = {"email": address, "isVerified": True}
        pages = await asyncio.gather(
            place.boss.post(f"/v2/users/{made['userId']}/email/verify", body),
            place.chief.post(PATH, person(username=f"m{n}", email=email)),
        )
        await place.tidied()

        assert [page.status for page in pages] == [200, 200]
        other = await place.user(pages[1].json()["userId"])
        assert (other.email.is_superseded, other.email_key) == (True, None)


@pytest.mark.promise("tenant: domain")
async def test_a_domain_given_up_while_users_are_made_leaves_none_who_count_by_it(place):
    for n in range(5):
        domain = f"d{n}.example"
        await verify_domain(place.chief, domain, place.zone)
        bodies = [
            person(username=f"u{n}-{m}", email={"email": f"{m}@{domain}", "isVerified": True})
            for m in range(4)
        ]
        pages = await asyncio.gather(
            *(place.chief.post(PATH, body) for body in bodies),
            place.chief.request("DELETE", f"{DOMAINS_PATH}/{domain}", None),
        )
        await place.tidied()

        assert {page.status for page in pages} == {200}
    users = [one async for one in place.server.store.scan(USERS) if one.org_id == place.evil.id]
    assert {one.email.verified_by for one in users if one.email} == {"organization"}
    await events_agree(place.server.store)
