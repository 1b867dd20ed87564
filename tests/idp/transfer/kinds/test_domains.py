"""Domains of a package: proven as it says, and primary where nobody's login name changes."""

from __future__ import annotations

import pytest

from idp.management.organizations import domains as organization_domains
from idp.records import DOMAINS, ORGANIZATIONS
from tests.support.management.callers import new_organization
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything
from tests.support.transfer.bringing import brought, exported_org

ORG = {"name": "Acme"}


def acme(*domains: dict, **org) -> dict:
    return {"orgId": "acme", "org": ORG | org, "domains": list(domains)}


def domain(name: str, **members) -> dict:
    return {"orgId": "acme", "domainName": name, "isVerified": True} | members


async def told(server) -> list[tuple[str, bool, bool]]:
    found = (await exported_org(server, "acme"))["domains"]
    return [(each["domainName"], each["isVerified"], each["isPrimary"]) for each in found]


async def test_they_are_verified_and_primary_as_the_package_says(server):
    outcomes = await brought(
        server,
        acme(
            domain("Bücher.example", isPrimary=True),
            domain("later.example", isVerified=False),
        ),
    )

    assert [each.action for each in outcomes] == ["create"] * 3
    assert await told(server) == [
        ("acme.localhost", True, False),
        ("later.example", False, False),
        ("xn--bcher-kva.example", True, True),
    ]
    await events_agree(server.store)


async def test_the_one_that_the_organization_was_made_with_is_there_already(server):
    org = acme(domain("acme.example", isPrimary=True), primaryDomain="acme.example")
    (_, again) = await brought(server, org)

    assert (again.action, again.problems) == ("skip", ())
    assert await told(server) == [("acme.example", True, True)]


async def test_a_verification_that_was_begun_goes_on(server):
    proof = {"validationType": "DOMAIN_VALIDATION_TYPE_DNS", "validationToken": "t0ken"}
    (_, made) = await brought(server, acme(domain("b.example", isVerified=False, **proof)))

    found = (await exported_org(server, "acme"))["domains"]
    assert made.problems == ()
    assert [each for each in found if each["domainName"] == "b.example"] == [
        domain("b.example", isVerified=False, isPrimary=False) | proof
    ]


async def test_a_verification_without_its_token_has_to_begin_again(server):
    proof = {"validationType": "DOMAIN_VALIDATION_TYPE_HTTP"}
    (_, made) = await brought(server, acme(domain("b.example", isVerified=False, **proof)))

    assert made.action == "create"
    assert [(each.error_code, each.field) for each in made.problems] == [
        ("domain.no_challenge", "validationType")
    ]


async def test_what_is_there_is_left_alone(server):
    await brought(server, acme(domain("b.example", isVerified=False)))
    before = await everything(server.store)

    again = await brought(server, acme(domain("b.example", isPrimary=True)), job="second")

    assert [each.action for each in again] == ["skip", "skip"]
    assert await everything(server.store) == before


async def test_a_new_one_does_not_become_primary_where_somebody_may_have_a_login_name(server):
    await brought(server, acme())

    (_, made) = await brought(server, acme(domain("b.example", isPrimary=True)), job="second")

    assert made.action == "create"
    assert await told(server) == [("acme.localhost", True, True), ("b.example", True, False)]


async def test_with_update_one_is_verified_and_becomes_primary_in_one_step(server):
    await brought(server, acme(domain("b.example", isVerified=False)))

    org = acme(domain("b.example", isPrimary=True))
    (_, changed) = await brought(server, org, job="second", updates=True)

    assert changed.action == "update"
    assert await told(server) == [("acme.localhost", True, False), ("b.example", True, True)]
    stored = await server.store.get(ORGANIZATIONS, "acme")
    assert stored.sequence == 2
    await events_agree(server.store)
    before = await everything(server.store)
    again = await brought(server, org, job="third", updates=True)
    assert [each.action for each in again] == ["skip", "skip"]
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    ("row", "error_code", "field"),
    [
        ({}, "field.required", "domainName"),
        ({"domainName": ""}, "field.empty", "domainName"),
        ({"domainName": "a b"}, "domain.invalid", "domainName"),
        ({"domainName": "x" * 254}, "field.too_long", "domainName"),
        (domain("taken.example"), "organization.domain_taken", "domainName"),
        (domain("a.example", isVerified="yes"), "field.wrong_type", "isVerified"),
        (
            domain("a.example", isVerified=False, isPrimary=True),
            "domain.not_verified",
            "isPrimary",
        ),
        (domain("a.example", orgId="other"), "import.org_differs", "orgId"),
        (domain("a.example", validationType="MAIL"), "field.unknown_name", "validationType"),
    ],
)
async def test_what_one_is_refused_for(server, row, error_code, field):
    await new_organization(server, "taken.example")
    await brought(server, acme())
    before = await everything(server.store)

    (_, refused) = await brought(server, acme(row))

    assert refused.action == "fail"
    assert [(each.error_code, each.field) for each in refused.problems] == [(error_code, field)]
    assert await everything(server.store) == before


async def test_a_domain_that_is_only_named_may_be_verified_for_another(server):
    await new_organization(server, "taken.example")

    (_, named) = await brought(server, acme(domain("taken.example", isVerified=False)))

    assert (named.action, named.problems) == ("create", ())
    assert ("taken.example", False, False) in await told(server)
    await events_agree(server.store)


async def test_an_organization_has_so_many_and_no_more(server):
    names = [domain(f"d{n}.example") for n in range(organization_domains.MAX_DOMAINS)]
    outcomes = await brought(server, acme(*names))

    assert [each.action for each in outcomes].count("create") == organization_domains.MAX_DOMAINS
    assert outcomes[-1].problems[0].error_code == "domain.too_many"
    assert (
        await server.store.count(DOMAINS, {"org_id": "acme"}) == organization_domains.MAX_DOMAINS
    )


async def test_none_is_stored_for_an_organization_that_is_not_there(server):
    (refused,) = await brought(server, {"orgId": "acme", "domains": [domain("a.example")]})

    assert [each.error_code for each in refused.problems] == ["organization.not_found"]
