"""Organizations over the management API: read, search, make, rename, shut and open."""

from __future__ import annotations

import asyncio

import pytest

from idp.records import INSTANCE_ID, INSTANCES, ORGANIZATIONS
from tests.support.management.callers import Caller, new_caller, new_organization, refused
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

ORGS = "/management/v1/orgs"
OWN = f"{ORGS}/me"
ANY = "/admin/v1/orgs"
SEARCH = "/v2/organizations/_search"


async def made(owner, name):
    page = await owner.post(ORGS, {"name": name})
    assert page.status == 200, page.text
    return page.json()["id"]


# reading


@pytest.mark.promise("organization: orgId", "organization: details")
async def test_an_organization_is_read_as_the_call_s_own_and_by_its_id(
    server, visitor, owner, acme
):
    chief = await new_caller(server, visitor, acme, "ORG_OWNER")
    own = await chief.get(OWN)
    by_id = await owner.get(f"{ANY}/{acme.id}")
    by_header = await owner.get(OWN, x_idp_orgid=acme.id)

    assert own.json() == by_id.json() == by_header.json()
    assert own.headers["ETag"] == '"1"'
    assert own.json()["org"] == {
        "id": acme.id,
        "details": own.json()["details"],
        "state": "ORG_STATE_ACTIVE",
        "name": "acme.example",
        "primaryDomain": "acme.example",
    }
    assert own.json()["details"]["resourceOwner"] == acme.id


async def test_to_others_an_organization_does_not_exist(server, visitor, acme):
    there = await new_organization(server, "there.example")
    chief = await new_caller(server, visitor, there, "ORG_OWNER")

    assert refused(await chief.get(f"{ANY}/{acme.id}"), 404, 5) == {"": "organization.not_found"}
    assert refused(await chief.get(OWN, x_idp_orgid=acme.id), 403, 7)


# searching


def names(page):
    assert page.status == 200, page.text
    return [each["name"] for each in page.json().get("result", [])]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"nameQuery": {"name": "Alpha"}}, ["Alpha"]),
        ({"nameQuery": {"name": "alpha"}}, []),
        (
            {"nameQuery": {"name": "aLPHA", "method": "TEXT_QUERY_METHOD_EQUALS_IGNORE_CASE"}},
            ["Alpha"],
        ),
        ({"nameQuery": {"name": "Al", "method": "TEXT_QUERY_METHOD_STARTS_WITH"}}, ["Alpha"]),
        (
            {"nameQuery": {"name": "al", "method": "TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE"}},
            ["Alpha", "alto"],
        ),
        ({"domainQuery": {"domain": "ALPHA.localhost"}}, ["Alpha"]),
        (
            {"domainQuery": {"domain": "al", "method": "TEXT_QUERY_METHOD_STARTS_WITH"}},
            ["Alpha", "alto"],
        ),
        ({"stateQuery": {"state": "ORG_STATE_INACTIVE"}}, ["alto"]),
        ({"stateQuery": {"state": "ORG_STATE_ACTIVE"}}, ["Alpha", "Beta", "Default"]),
    ],
)
async def test_organizations_are_found_by_name_domain_and_state(owner, query, found):
    for name in ("Beta", "Alpha", "alto"):
        id = await made(owner, name)
    await owner.post(f"{OWN}/_deactivate", {}, x_idp_orgid=id)

    for path in (SEARCH, f"{ANY}/_search"):
        page = await owner.post(path, {"queries": [query]})
        assert names(page) == found
        assert page.json()["details"]["totalResult"] == str(len(found))


async def test_pages_of_organizations_go_on_by_the_name(owner):
    for name in ("c", "A", "b"):
        await made(owner, name)
    first = await owner.post(SEARCH, {"query": {"limit": 2}})
    cursor = first.json()["nextCursor"]
    second = await owner.post(SEARCH, {"query": {"limit": 2, "cursor": cursor}})
    backwards = await owner.post(SEARCH, {"query": {"asc": False}})

    assert (names(first), names(second)) == (["A", "b"], ["c", "Default"])
    assert "nextCursor" not in second.json()
    assert first.json()["details"]["totalResult"] == "4"
    assert names(backwards) == ["Default", "c", "b", "A"]


async def test_a_tenant_finds_its_own_organization_alone(server, visitor, owner, acme):
    await made(owner, "Other")
    viewer = await new_caller(server, visitor, acme, "ORG_OWNER_VIEWER")
    page = await viewer.post(SEARCH, {})
    other = await viewer.post(SEARCH, {"queries": [{"nameQuery": {"name": "Other"}}]})

    assert names(page) == ["acme.example"]
    assert page.json()["details"]["totalResult"] == "1"
    assert names(other) == []


async def test_a_method_that_no_index_answers_is_refused(owner):
    query = {"nameQuery": {"name": "a", "method": "TEXT_QUERY_METHOD_CONTAINS"}}
    page = await owner.post(SEARCH, {"queries": [query]})

    assert refused(page, 400, 3) == {"queries[0].nameQuery.method": "query.method_unsupported"}


# making and renaming


@pytest.mark.promise("organization: generated domain")
async def test_an_organization_is_made_with_a_generated_domain_and_nobody_in_it(server, owner):
    page = await owner.post(ORGS, {"name": "Möbel & Söhne"})
    found = await server.store.get(ORGANIZATIONS, page.json()["id"])

    assert page.json()["details"]["sequence"] == "1"
    assert (found.name, found.primary_domain) == ("Möbel & Söhne", "mobel-sohne.localhost")
    await events_agree(server.store)


@pytest.mark.promise("organization: name")
@pytest.mark.parametrize(
    ("name", "error_code"),
    [("", "field.empty"), (" ", "field.empty"), ("x" * 201, "field.too_long")],
)
async def test_a_name_has_1_to_200_characters(server, owner, acme, name, error_code):
    before = await everything(server.store)
    made = await owner.post(ORGS, {"name": name})
    renamed = await owner.request("PUT", OWN, {"name": name}, x_idp_orgid=acme.id)

    assert refused(made, 400, 3) == refused(renamed, 400, 3) == {"name": error_code}
    assert await everything(server.store) == before


@pytest.mark.promise("organization: name")
@pytest.mark.parametrize("name", ["x", "\U0001f600" * 200])
async def test_a_name_may_have_1_or_200_characters(owner, name):
    id = await made(owner, name)

    page = await owner.request("PUT", OWN, {"name": name[::-1]}, x_idp_orgid=id)
    assert page.status == 200, page.text


@pytest.mark.parametrize("name", ["acme.example", "ACME.example", "default"])
async def test_a_name_of_another_organization_is_409(server, owner, name, acme):
    other = await made(owner, "Other")
    before = await everything(server.store)
    made_again = await owner.post(ORGS, {"name": name})
    renamed = await owner.request("PUT", OWN, {"name": name}, x_idp_orgid=other)

    taken = {"name": "organization.name_taken"}
    assert refused(made_again, 409, 6) == refused(renamed, 409, 6) == taken
    assert await everything(server.store) == before


@pytest.mark.promise("organization: sequence")
async def test_a_new_name_is_one_step_and_leaves_the_domain(server, owner, acme):
    page = await owner.request("PUT", OWN, {"name": "ACME.example"}, x_idp_orgid=acme.id)
    found = await server.store.get(ORGANIZATIONS, acme.id)

    assert page.json()["details"]["sequence"] == "2"
    assert (found.name, found.primary_domain) == ("ACME.example", "acme.example")
    await events_agree(server.store)


async def test_a_name_is_changed_in_the_state_that_was_seen(server, owner, acme):
    headers = {"x_idp_orgid": acme.id, "If_Match": '"2"'}
    before = await everything(server.store)
    page = await owner.request("PUT", OWN, {"name": "New"}, **headers)

    assert refused(page, 412, 9)
    assert await everything(server.store) == before


async def races(owner, new_visitor, rounds, contenders=32):
    """In each round 32 want one name, half by making an organization and half by renaming one."""
    others = [await made(owner, f"Other {n}") for n in range(contenders // 2)]
    callers = [Caller(new_visitor(), owner.token) for _ in range(contenders)]
    for n in range(rounds):
        body = {"name": f"Wanted {n}"}
        made_ones = [each.post(ORGS, body) for each in callers[::2]]
        renamed = [
            each.request("PUT", OWN, body, x_idp_orgid=id)
            for each, id in zip(callers[1::2], others, strict=True)
        ]
        yield await asyncio.gather(*made_ones, *renamed)


@pytest.mark.full
async def test_of_thirty_two_who_want_one_name_one_gets_it(server, owner, new_visitor):
    async for pages in races(owner, new_visitor, 2):
        assert sorted(page.status for page in pages) == [200] + [409] * 31
        losers = [refused(page, 409, 6) for page in pages if page.status == 409]
        assert losers == [{"name": "organization.name_taken"}] * 31
    await events_agree(server.store)


@pytest.mark.load
@pytest.mark.gen_test(timeout=600)
async def test_of_thirty_two_who_want_one_name_one_gets_it_each_time(server, owner, new_visitor):
    async for pages in races(owner, new_visitor, 200):
        assert sorted(page.status for page in pages) == [200] + [409] * 31
    await events_agree(server.store)


# states


@pytest.mark.promise("organization: sequence")
async def test_a_deactivated_organization_is_inactive_and_what_was_issued_stays_invalid(
    server, visitor, owner, acme
):
    here = {"x_idp_orgid": acme.id}
    chief = await new_caller(server, visitor, acme, "ORG_OWNER")
    page = await owner.post(f"{OWN}/_deactivate", {}, **here)

    assert page.json()["details"]["sequence"] == "2"
    assert (await owner.get(OWN, **here)).json()["org"]["state"] == "ORG_STATE_INACTIVE"
    refused(await chief.get(OWN), 401, 16)
    page = await owner.post(f"{OWN}/_reactivate", {}, **here)
    assert page.json()["details"]["sequence"] == "3"
    assert (await owner.get(OWN, **here)).json()["org"]["state"] == "ORG_STATE_ACTIVE"
    refused(await chief.get(OWN), 401, 16)
    await events_agree(server.store)


@pytest.mark.parametrize(("name", "is_first"), [("_deactivate", False), ("_reactivate", True)])
async def test_a_step_in_the_state_that_it_leads_to_is_400(server, owner, acme, name, is_first):
    here = {"x_idp_orgid": acme.id}
    if not is_first:
        await owner.post(f"{OWN}/{name}", {}, **here)
    before = await everything(server.store)
    page = await owner.post(f"{OWN}/{name}", {}, **here)

    assert refused(page, 400, 9) == {"": "organization.state"}
    assert await everything(server.store) == before


async def test_the_installation_s_own_organization_stays_active(server, owner):
    instance = await server.store.get(INSTANCES, INSTANCE_ID)
    before = await everything(server.store)
    page = await owner.post(f"{OWN}/_deactivate", {}, x_idp_orgid=instance.org_id)

    assert refused(page, 400, 9) == {"": "organization.of_instance"}
    assert await everything(server.store) == before


async def test_an_organization_with_the_last_owner_of_the_instance_stays_active(
    server, visitor, owner, acme
):
    last = await new_caller(server, visitor, acme, "IAM_OWNER", everywhere=True)
    instance = await server.store.get(INSTANCES, INSTANCE_ID)
    for user_id in await owners_of(server, instance.org_id):
        page = await last.request("DELETE", f"/admin/v1/members/{user_id}", None)
        assert page.status == 200, page.text
    before = await everything(server.store)
    page = await last.post(f"{OWN}/_deactivate", {})

    assert refused(page, 400, 9) == {"": "organization.last_owner"}
    assert await everything(server.store) == before


async def owners_of(server, org_id):
    found = await everything(server.store)
    return [
        one.user_id
        for one in found["memberships"].values()
        if one.org_id is None and found["users"][one.user_id].org_id == org_id
    ]


async def test_an_owner_does_not_shut_out_who_manages_the_instance(server, visitor, acme):
    chief = await new_caller(server, visitor, acme, "ORG_OWNER")
    await new_caller(server, visitor, acme, "IAM_OWNER_VIEWER", everywhere=True)
    before = await everything(server.store)
    page = await chief.post(f"{OWN}/_deactivate", {})

    assert refused(page, 403, 7) == {"": "permission_denied"}
    assert await everything(server.store) == before


async def test_of_two_organizations_that_each_have_an_owner_one_stays(
    server, visitor, owner, new_visitor, acme
):
    there = await new_organization(server, "there.example")
    chiefs = [
        await new_caller(server, new_visitor(), home, "IAM_OWNER", everywhere=True)
        for home in (acme, there)
    ]
    instance = await server.store.get(INSTANCES, INSTANCE_ID)
    for user_id in await owners_of(server, instance.org_id):
        await chiefs[0].request("DELETE", f"/admin/v1/members/{user_id}", None)
    pages = await asyncio.gather(*[each.post(f"{OWN}/_deactivate", {}) for each in chiefs])

    assert sorted(page.status for page in pages) == [200, 400]
