"""Domains of organizations over the management API: named, made primary, removed."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from idp.identity.users import lookup as user_lookup
from idp.management.organizations import domains as organization_domains
from idp.records import DOMAINS, ORGANIZATIONS
from idp.records.upgrades import add_primary_domains
from storage import Delete
from tests.handlers.management.organizations.naming import PATH, found, named, verify_domain
from tests.support.management.api_samples import CREATE_HUMAN
from tests.support.management.callers import Caller, new_caller, new_organization, refused
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything


@pytest.mark.promise("organization: generated domain")
async def test_a_generated_domain_is_verified_and_primary_from_the_start(server, owner):
    page = await owner.post("/management/v1/orgs", {"name": "Made"})
    headers = {"x_idp_orgid": page.json()["id"]}
    listed = (await owner.post(f"{PATH}/_search", {}, **headers)).json()

    (one,) = listed["result"]
    assert one == {
        "orgId": page.json()["id"],
        "details": one["details"],
        "domainName": "made.localhost",
        "isVerified": True,
        "isPrimary": True,
    }
    assert listed["details"]["totalResult"] == "1"


async def test_a_named_domain_is_listed_in_its_order_and_counts_for_nothing(server, chief):
    await named(chief, "B.example")
    await named(chief, "bücher.example")

    assert await found(chief) == [
        ("acme.example", True, True),
        ("b.example", False, False),
        ("xn--bcher-kva.example", False, False),
    ]
    query = {"queries": [{"domainNameQuery": {"name": "BÜCHER.example"}}]}
    assert await found(chief, query) == [("xn--bcher-kva.example", False, False)]
    await events_agree(server.store)


@pytest.mark.parametrize("typed", ["bücher.example", "BÜCHER.ex", "bücher.", "xn--bch"])
async def test_an_internationalised_domain_is_found_by_its_beginning(chief, typed):
    await named(chief, "bücher.example")
    by_beginning = {"name": typed, "method": "TEXT_QUERY_METHOD_STARTS_WITH"}

    assert await found(chief, {"queries": [{"domainNameQuery": by_beginning}]}) == [
        ("xn--bcher-kva.example", False, False)
    ]
    by_beginning["name"] = "acme.example."
    assert await found(chief, {"queries": [{"domainNameQuery": by_beginning}]}) == []


@pytest.mark.parametrize(
    ("domain", "error_code"),
    [
        ("", "field.empty"),
        ("word", "domain.invalid"),
        ("1.2.3.4", "domain.invalid"),
        ("a_b.example", "domain.invalid"),
        ("-.example", "domain.invalid"),
        ("x" * 192 + ".example", "domain.invalid"),
        ("x" * 193 + ".example", "field.too_long"),
        ("other.localhost", "domain.reserved"),
    ],
)
async def test_what_nobody_can_have_is_400(server, chief, domain, error_code):
    before = await everything(server.store)
    page = await chief.post(PATH, {"domain": domain})

    assert refused(page, 400, 3) == {"domain": error_code}
    assert await everything(server.store) == before


async def test_a_domain_is_named_once_and_not_when_it_is_another_s(server, owner, chief):
    await new_organization(server, "there.example")
    await named(chief, "b.example")
    before = await everything(server.store)
    again = await chief.post(PATH, {"domain": "B.Example"})
    other = await chief.post(PATH, {"domain": "there.example"})

    assert refused(again, 409, 6) == {"domain": "domain.exists"}
    assert refused(other, 409, 6) == {"domain": "organization.domain_taken"}
    assert await everything(server.store) == before


async def test_an_organization_has_no_more_domains_than_it_may(server, chief, monkeypatch):
    monkeypatch.setattr(organization_domains, "MAX_DOMAINS", 3)
    for n in range(2):
        await named(chief, f"d{n}.example")
    before = await everything(server.store)
    page = await chief.post(PATH, {"domain": "one-more.example"})

    assert refused(page, 400, 9) == {"": "domain.too_many"}
    assert await everything(server.store) == before


async def test_a_domain_that_is_named_while_its_organization_goes_is_404(
    server, owner, acme, monkeypatch
):
    commit = server.store.commit

    async def late(*writes):
        if any(each.collection is DOMAINS for each in writes):
            monkeypatch.setattr(server.store, "commit", commit)
            gone = await owner.request("DELETE", f"/admin/v1/orgs/{acme.id}", None)
            assert gone.status == 200, gone.text
        await commit(*writes)

    monkeypatch.setattr(server.store, "commit", late)
    page = await owner.post(PATH, {"domain": "b.example"}, x_idp_orgid=acme.id)

    assert refused(page, 404, 5) == {"": "organization.not_found"}
    assert not [one async for one in server.store.scan(DOMAINS) if one.org_id == acme.id]


# primary


async def made_user(chief, name):
    body = {
        "username": name,
        "profile": {"givenName": "Anna", "familyName": "Owner"},
        "email": {"email": f"{name.partition('@')[0]}@mail.example", "isVerified": False},
        "password": {"password": "horse staple battery"},
    }
    page = await chief.post(CREATE_HUMAN, body)
    assert page.status == 200, page.text
    return page.json()["userId"]


async def test_login_names_follow_the_primary_domain(server, chief, zone, demo, new_visitor):
    await made_user(chief, "anna")
    await verify_domain(chief, "new.example", zone)
    page = await chief.post(f"{PATH}/NEW.example/_set_primary", {})

    assert page.json()["details"]["sequence"] == "2"
    assert await found(chief) == [("acme.example", True, False), ("new.example", True, True)]
    browser, stale = new_visitor(), new_visitor()
    tokens = await demo.tokens(browser, "anna@new.example", "horse staple battery")
    token = {"token": tokens["access_token"]}
    told = await browser.post("/oauth/v2/introspect", token, headers=demo.basic())
    assert told.json()["username"] == "anna@new.example"
    page = await stale.sign_in(demo.authorize_url(), "anna@acme.example", "horse staple battery")
    assert page.name == "password"
    await events_agree(server.store)


async def test_what_is_not_verified_is_no_primary_domain(server, chief):
    await named(chief, "b.example")
    before = await everything(server.store)
    page = await chief.post(f"{PATH}/b.example/_set_primary", {})

    assert refused(page, 400, 9) == {"": "domain.not_verified"}
    assert await everything(server.store) == before


async def test_a_login_name_is_that_of_the_domain_s_owner(server, visitor, chief, zone):
    """Somebody elsewhere took the name before the domain was proven: the domain decides."""
    there = await new_organization(server, "there.example")
    other = await new_caller(server, visitor, there, "ORG_OWNER")
    await made_user(other, "anna@new.example")
    anna = await made_user(chief, "anna")
    await verify_domain(chief, "new.example", zone)
    await chief.post(f"{PATH}/new.example/_set_primary", {})
    found = await user_lookup.find_by_login_name(server.service, "anna@new.example")
    assert found.id == anna


# removing


async def test_a_removed_domain_is_free_for_others(server, visitor, chief, zone):
    await verify_domain(chief, "b.example", zone)
    page = await chief.request("DELETE", f"{PATH}/b.example", None)
    there = await new_organization(server, "there.example")
    other = await new_caller(server, visitor, there, "ORG_OWNER")

    assert page.status == 200, page.text
    assert await found(chief) == [("acme.example", True, True)]
    await verify_domain(other, "b.example", zone)
    await events_agree(server.store)


async def test_the_primary_domain_stays(server, chief):
    before = await everything(server.store)
    page = await chief.request("DELETE", f"{PATH}/acme.example", None)

    assert refused(page, 400, 9) == {"": "domain.primary"}
    assert await everything(server.store) == before


@pytest.mark.full
async def test_a_domain_is_not_made_primary_and_removed_at_once(
    server, owner, acme, new_visitor, chief, zone
):
    here = {"x_idp_orgid": acme.id}
    for n in range(8):
        domain = f"d{n}.example"
        await verify_domain(chief, domain, zone)
        server.clock.advance(timedelta(minutes=1))
        one, other = (Caller(new_visitor(), owner.token) for _ in range(2))
        pages = await asyncio.gather(
            one.post(f"{PATH}/{domain}/_set_primary", {}, **here),
            other.request("DELETE", f"{PATH}/{domain}", None, **here),
        )
        assert sorted(page.status for page in pages) in ([200, 400], [200, 404])
        primary = (await server.store.get(ORGANIZATIONS, acme.id)).primary_domain
        assert (primary, True, True) in await found(chief)


# what older programs have stored


async def test_the_primary_domain_of_an_older_store_counts_as_verified(server, chief, acme):
    async for record in server.store.scan(DOMAINS):
        await server.store.commit(Delete(DOMAINS, record.id))
    for _ in range(2):
        await add_primary_domains(server.store)

    assert await found(chief) == [("acme.example", True, True)]
    everybody = [one async for one in server.store.scan(ORGANIZATIONS)]
    assert len([one async for one in server.store.scan(DOMAINS)]) == len(everybody)
    page = await chief.post(PATH, {"domain": everybody[0].primary_domain})
    assert page.status in (400, 409)
