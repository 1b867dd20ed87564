"""Organizations of a package: made with their id, left alone, changed, or refused."""

from __future__ import annotations

import pytest

from idp.records import DELETED_ORGANIZATIONS, DOMAINS, ORGANIZATIONS, DeletedOrganization
from storage import Insert
from tests.support.management.callers import new_organization
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything
from tests.support.transfer.bringing import brought, exported_org

ACME = {"orgId": "acme", "org": {"name": "Acme"}}


async def test_an_organization_is_made_with_the_id_of_the_package(server):
    (made,) = await brought(server, ACME)

    stored = await server.store.get(ORGANIZATIONS, "acme")
    assert (made.action, made.id) == ("create", "acme")
    assert (stored.name, stored.primary_domain, stored.state) == (
        "Acme",
        "acme.localhost",
        "active",
    )
    page = await server.store.find(DOMAINS, {"verified_key": "acme.localhost"})
    assert [each.org_id for each in page.records] == ["acme"]
    await events_agree(server.store)


async def test_its_domain_and_state_may_be_stated_and_are_returned(server):
    org = {"name": "Åcme", "primaryDomain": "bücher.example", "state": "ORG_STATE_INACTIVE"}
    await brought(server, {"orgId": "å|1", "org": org})

    told = (await exported_org(server, "å|1"))["org"]
    assert told == org | {"primaryDomain": "xn--bcher-kva.example"}


async def test_what_is_reported_of_the_installations_own_organization_can_be_read(server):
    page = await server.store.find(ORGANIZATIONS, {"name_key": "default"})
    own = page.records[0]
    told = (await exported_org(server, own.id))["org"]

    (again,) = await brought(server, {"orgId": own.id, "org": told})
    assert (again.action, again.problems) == ("skip", ())


async def test_one_that_exists_is_left_alone(server):
    await brought(server, ACME)
    before = await everything(server.store)

    (again,) = await brought(server, {"orgId": "acme", "org": {"name": "Other"}}, job="second")

    assert again.action == "skip"
    assert await everything(server.store) == before


async def test_with_update_it_gets_the_name_and_the_state(server):
    await brought(server, ACME)
    stamp = (await server.store.get(ORGANIZATIONS, "acme")).stamp
    org = {"name": "Other", "state": "ORG_STATE_INACTIVE"}

    (changed,) = await brought(server, {"orgId": "acme", "org": org}, updates=True, job="second")

    stored = await server.store.get(ORGANIZATIONS, "acme")
    assert changed.action == "update"
    assert (stored.name, stored.state, stored.sequence) == ("Other", "inactive", 2)
    assert stored.stamp != stamp
    await events_agree(server.store)


async def test_an_update_to_what_is_there_changes_nothing(server):
    await brought(server, ACME)
    before = await everything(server.store)

    (again,) = await brought(server, ACME, updates=True, job="second")

    assert again.action == "skip"
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    ("org", "error_code", "field"),
    [
        ({}, "field.required", "name"),
        ({"name": ""}, "field.empty", "name"),
        ({"name": "x" * 201}, "field.too_long", "name"),
        ({"name": 1}, "field.wrong_type", "name"),
        ({"name": "Taken"}, "organization.name_taken", "name"),
        ({"name": "A", "primaryDomain": "taken"}, "organization.domain_taken", "primaryDomain"),
        ({"name": "A", "primaryDomain": "a b"}, "domain.invalid", "primaryDomain"),
        ({"name": "A", "primaryDomain": "x" * 254}, "field.too_long", "primaryDomain"),
        ({"name": "A", "state": "ORG_STATE_REMOVED"}, "field.unknown_name", "state"),
        ("Acme", "field.wrong_type", ""),
    ],
)
async def test_what_it_is_refused_for(server, org, error_code, field):
    await new_organization(server, "taken")
    before = await everything(server.store)

    (refused,) = await brought(server, {"orgId": "acme", "org": org})

    assert refused.action == "fail"
    assert [(each.error_code, each.field) for each in refused.problems] == [(error_code, field)]
    assert await everything(server.store) == before


@pytest.mark.parametrize("id", ["", " ", "x" * 201, "a\nb"])
async def test_an_id_that_nothing_can_have_is_refused(server, id):
    (refused,) = await brought(server, {"orgId": id, "org": {"name": "A"}})

    assert (refused.action, refused.problems[0].field) == ("fail", "orgId")


async def test_nothing_is_made_with_the_id_of_one_that_is_being_deleted(server):
    note = DeletedOrganization(id="acme", actor="a", deleted_at=server.clock.now())
    await server.store.commit(Insert(DELETED_ORGANIZATIONS, note))

    (refused,) = await brought(server, ACME)

    assert [each.error_code for each in refused.problems] == ["organization.deleted"]


async def test_the_installations_own_organization_stays_active(server):
    page = await server.store.find(ORGANIZATIONS, {"name_key": "default"})
    own = page.records[0]
    org = {"name": "Default", "state": "ORG_STATE_INACTIVE"}

    (refused,) = await brought(server, {"orgId": own.id, "org": org}, updates=True, job="second")

    assert [each.error_code for each in refused.problems] == ["organization.of_instance"]
