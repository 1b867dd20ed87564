"""Figures over the API: of one organization or of the installation, for those who may read it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.usage import counts
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.store.stored import everything

PATH = "/admin/v1/usage/_search"
FROM, TO = "2029-05-15T00:00:00Z", "2029-05-16T23:59:59Z"


@pytest.fixture
def acme(io_loop, server):
    """An organization with figures: 2 sign-ins yesterday and 1 today; 3 more are elsewhere."""

    async def make():
        made, now = await new_organization(server, "acme.example"), server.clock.now()
        for org_id, days in [(made.id, 1), (made.id, 1), (made.id, 0), *[("elsewhere", 0)] * 3]:
            counts.count(server.service, "sign_in", org_id, now - timedelta(days=days))
        counts.count(server.service, "sign_in_failed", None)
        await counts.flush(server.service)
        return made

    return io_loop.run_sync(make)


async def found(caller, **query):
    page = await caller.post(PATH, query)
    assert page.status == 200, page.text
    return {
        series["kind"]: [int(each["count"]) for each in series.get("figures", ())]
        for series in page.json()["result"]
    }


async def test_an_owner_reads_the_figures_of_each_organization_and_of_all(owner, acme):
    query = {"kinds": ["sign_in_failed", "sign_in"], "from": FROM, "to": TO}

    assert await found(owner, **query) == {"sign_in_failed": [0, 1], "sign_in": [2, 4]}
    assert await found(owner, orgId=acme.id, **query) == {
        "sign_in_failed": [0, 0],
        "sign_in": [2, 1],
    }


async def test_each_figure_has_the_beginning_of_its_hour_and_each_kind_its_sum(owner, acme):
    body = {"kinds": ["sign_in"], "from": "2029-05-16T08:59:00Z", "step": "HOUR"}
    page = await owner.post(PATH, body)

    assert page.json()["result"] == [
        {
            "kind": "sign_in",
            "total": "4",
            "figures": [
                {"time": "2029-05-16T08:00:00Z", "count": "0"},
                {"time": "2029-05-16T09:00:00Z", "count": "4"},
            ],
        }
    ]


async def test_without_kinds_all_are_answered(owner, acme):
    assert tuple(await found(owner, **{"from": TO})) == counts.KINDS


async def test_a_manager_of_one_organization_reads_its_figures_alone(server, owner, acme):
    manager = await new_caller(server, owner.visitor, acme, "ORG_OWNER_VIEWER")
    other = await new_organization(server, "other.example")
    query = {"kinds": ["sign_in"], "from": FROM, "to": TO}

    assert await found(manager, orgId=acme.id, **query) == {"sign_in": [2, 1]}
    for body in (query, {"orgId": other.id, **query}, {"orgId": "*", **query}):
        assert refused(await manager.post(PATH, body), 403, 7)


async def test_the_organization_of_the_header_is_that_of_the_figures(owner, acme):
    body = {"kinds": ["sign_in"], "from": FROM, "to": TO}
    page = await owner.post(PATH, body, x_idp_orgid=acme.id)
    refusal = await owner.post(PATH, {"orgId": "other", **body}, x_idp_orgid=acme.id)

    assert page.json()["result"][0]["total"] == "3"
    assert refused(refusal, 403, 7)


@pytest.mark.parametrize("role", ["IAM_ORG_MANAGER", "IAM_USER_MANAGER"])
async def test_the_installation_is_for_those_who_may_read_it(server, owner, acme, role):
    caller = await new_caller(server, owner.visitor, acme, role, everywhere=True)
    body = {"kinds": ["sign_in"], "from": FROM, "to": TO}

    assert refused(await caller.post(PATH, body), 403, 7)
    assert (await caller.post(PATH, {"orgId": acme.id, **body})).status == 200


REFUSALS = [
    ({}, {"from": "field.required"}),
    ({"from": "yesterday"}, {"from": "field.timestamp"}),
    ({"from": TO, "to": FROM}, {"to": "usage.order"}),
    ({"from": FROM, "step": "WEEK"}, {"step": "field.unknown_name"}),
    ({"from": FROM, "kinds": ["logout"]}, {"kinds[0]": "field.unknown_name"}),
    ({"from": FROM, "kinds": "sign_in"}, {"kinds": "field.wrong_type"}),
    ({"from": FROM, "until": TO}, {"until": "field.unknown"}),
    ({"from": "0001-01-01T00:00:00Z", "step": "HOUR"}, {"from": "usage.range"}),
    ({"from": FROM, "to": "9999-12-31T23:59:59Z"}, {"from": "usage.range"}),
]


@pytest.mark.every_row
@pytest.mark.parametrize(("body", "expected"), REFUSALS)
async def test_what_is_refused_says_so_at_its_field(server, owner, body, expected):
    before = await everything(server.store)
    page = await owner.post(PATH, body)

    assert refused(page, 400, 3) == expected
    assert await everything(server.store) == before


async def test_one_answer_has_360_figures_and_no_more(owner):
    body = {"kinds": ["sign_in", "passkey"], "from": "2029-01-01T00:00:00Z"}
    page = await owner.post(PATH, {**body, "to": "2029-06-29T00:00:00Z"})
    longer = await owner.post(PATH, {**body, "to": "2029-06-30T00:00:00Z"})

    assert [len(series["figures"]) for series in page.json()["result"]] == [180, 180]
    assert refused(longer, 400, 3) == {"from": "usage.range"}


async def test_an_unknown_organization_is_told_only_to_those_who_manage_all(server, owner, acme):
    manager = await new_caller(server, owner.visitor, acme, "ORG_OWNER")
    body = {"orgId": "nowhere", "from": FROM}

    assert refused(await owner.post(PATH, body), 404, 5) == {"orgId": "organization.not_found"}
    assert refused(await manager.post(PATH, body), 403, 7)


async def test_a_range_in_the_future_has_no_figures(owner, acme):
    query = {"kinds": ["sign_in"], "from": "2029-05-18T00:00:00Z"}

    assert await found(owner, **query) == {"sign_in": []}
