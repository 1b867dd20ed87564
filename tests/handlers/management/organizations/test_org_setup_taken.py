"""POST /admin/v1/orgs/_setup: what others have already, and who is first."""

from __future__ import annotations

import asyncio

import pytest

from idp.identity.users import organizations
from idp.records import ORGANIZATIONS
from tests.support.management.api_samples import SET_UP, changed, organization
from tests.support.management.callers import Caller, refused
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything


@pytest.mark.parametrize(
    ("there", "sent"),
    [("acme.example", "ACME.example"), ("bücher.example", "xn--bcher-kva.example")]
    + [("xn--bcher-kva.example", "Bücher.example")],
)
async def test_a_domain_that_is_taken_is_409(server, owner, there, sent):
    await owner.post(SET_UP, changed("org.domain", there))
    before = await everything(server.store)
    page = await owner.post(SET_UP, changed("org.domain", sent, n=1))

    assert refused(page, 409, 6) == {"org.domain": "organization.domain_taken"}
    assert await everything(server.store) == before


LOGIN_NAMES = ["anna-0", "ANNA-0", "ａnna-0", "anna-0@acme.localhost", "demo"]
NAMES_OF_ORGANIZATIONS = ["Acme", "ACME", "ａｃｍｅ", "Default", "default"]


@pytest.mark.parametrize(
    ("path", "name", "error_code"),
    [("human.userName", name, "user.login_name_taken") for name in LOGIN_NAMES]
    + [("org.name", name, "organization.name_taken") for name in NAMES_OF_ORGANIZATIONS],
)
async def test_a_name_that_is_taken_is_409(server, owner, path, name, error_code):
    await owner.post(SET_UP, organization())
    before = await everything(server.store)
    page = await owner.post(SET_UP, changed(path, name, n=1))

    assert refused(page, 409, 6) == {path: error_code}
    assert await everything(server.store) == before


async def test_a_generated_domain_that_was_given_out_just_now_is_made_anew(
    server, owner, monkeypatch
):
    """Free when it was made, taken a moment later: the caller named none, and is told of none."""
    free_domain, stale = organizations.free_domain, ["localhost"]

    async def late(service, name):
        return stale.pop() if stale else await free_domain(service, name)

    monkeypatch.setattr(organizations, "free_domain", late)
    page = await owner.post(SET_UP, organization())

    assert (page.status, stale) == (200, [])
    found = await server.store.find(ORGANIZATIONS, {"primary_domain": "acme.localhost"})
    assert [one.id for one in found.records] == [page.json()["orgId"]]


async def test_all_that_is_taken_is_reported_at_once(server, owner):
    body = changed("org.domain", "acme.example")
    await owner.post(SET_UP, body)
    before = await everything(server.store)
    page = await owner.post(SET_UP, body)

    assert refused(page, 409, 6) == {
        "org.name": "organization.name_taken",
        "org.domain": "organization.domain_taken",
        "human.userName": "user.login_name_taken",
        "human.email.email": "user.login_name_taken",
    }
    assert await everything(server.store) == before


@pytest.mark.full
@pytest.mark.promise("organization setup: one operation")
async def test_of_thirty_two_twins_one_wins(server, owner, new_visitor):
    before = await everything(server.store)
    callers = [Caller(new_visitor(), owner.token) for _ in range(32)]
    pages = await asyncio.gather(*[each.post(SET_UP, organization()) for each in callers])

    statuses = sorted(page.status for page in pages)
    assert statuses == [200] + [409] * 31
    losers = [refused(page, 409, 6) for page in pages if page.status == 409]
    assert (
        losers
        == [
            {
                "org.name": "organization.name_taken",
                "human.userName": "user.login_name_taken",
                "human.email.email": "user.login_name_taken",
            }
        ]
        * 31
    )
    after = await everything(server.store)
    grown = {name: len(after[name]) - len(before[name]) for name in after}
    grown = {name: n for name, n in grown.items() if n and name != "login_claims"}
    assert grown == {
        "organizations": 1,
        "organization_domains": 1,
        "users": 1,
        "memberships": 1,
        "events": 4,
    }
    await events_agree(server.store)


@pytest.mark.promise("organization setup: one operation")
@pytest.mark.load
@pytest.mark.gen_test(timeout=600)
async def test_of_thirty_two_twins_one_wins_each_time(server, owner, new_visitor):
    callers = [Caller(new_visitor(), owner.token) for _ in range(32)]
    for n in range(1, 201):
        wanted = organization(n)
        pages = await asyncio.gather(*[each.post(SET_UP, wanted) for each in callers])
        assert sorted(page.status for page in pages) == [200] + [409] * 31
    await events_agree(server.store)


@pytest.mark.full
@pytest.mark.promise("organization: generated domain")
async def test_thirty_two_namesakes_get_thirty_two_domains(server, owner, new_visitor):
    callers = [Caller(new_visitor(), owner.token) for _ in range(32)]
    pages = await asyncio.gather(
        *[
            each.post(SET_UP, changed("org.name", "Acme" + "!" * n, n))
            for n, each in enumerate(callers)
        ]
    )

    assert {page.status for page in pages} == {200}
    domains = {org.primary_domain async for org in server.store.scan(ORGANIZATIONS)}
    assert len([each for each in domains if each.startswith("acme")]) == 32


async def test_of_thirty_two_who_want_one_domain_one_gets_it(server, owner, new_visitor):
    callers = [Caller(new_visitor(), owner.token) for _ in range(32)]
    bodies = [changed("org.domain", "acme.example", n=n) for n in range(32)]
    pages = await asyncio.gather(
        *[each.post(SET_UP, body) for each, body in zip(callers, bodies, strict=True)]
    )

    assert sorted(page.status for page in pages) == [200] + [409] * 31
    await events_agree(server.store)
