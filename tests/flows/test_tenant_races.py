"""What two organizations say of one address at the same moment, over two processes."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass

import pytest

from idp.background import deferred_work
from idp.identity.users.lookup import login_key
from idp.records import DOMAINS, EVENTS, ORGANIZATIONS, USERS
from tests.flows.conftest import PLACES
from tests.flows.test_managing import NO_REUSE, owner
from tests.support.management.api_samples import SET_UP, organization
from tests.support.management.callers import Caller, new_caller
from tests.support.sign_in.people import PATH, create, person
from tests.support.sign_in.registering import code_for
from tests.support.transfer.bulk import IMPORT

AT_ONCE = 6
ROUNDS = [pytest.param(2, id="2"), pytest.param(20, id="20", marks=pytest.mark.load)]


@dataclass
class Two:
    """Two organizations, and an owner of each. Every request has a connection of its own, so that
    both processes take part."""

    place: object
    script: Caller
    evil: Caller
    corp: Caller
    evil_id: str
    corp_id: str

    @property
    def name(self) -> str:
        return f"n-{secrets.token_hex(8)}"

    async def waiting(self, caller: Caller, address: str) -> tuple[str, dict]:
        """Somebody whose mailbox has got a code: where it is proven, and by what."""
        made = await create(caller, username=self.name, email={"email": address})
        body = {"verificationCode": await code_for(caller.visitor, address)}
        return f"/v2/users/{made['userId']}", body

    async def brought(self, org_id: str, domain: str):
        """The answer to an import that brings the domain as verified."""
        domains = [{"domainName": domain, "isVerified": True}]
        orgs = [{"orgId": org_id, "domains": domains}]
        return await self.script.post(IMPORT, {"dataOrgs": {"orgs": orgs}})

    def asserting(self, caller: Caller, address: str):
        email = {"email": address, "isVerified": True}
        return caller.post(PATH, person(username=self.name, email=email))

    async def given_up(self, domain: str):
        """The answer to the removal of a domain, after what it left was gone through: a user who
        is stored later does not count by it."""
        page = await self.evil.request("DELETE", f"/management/v1/orgs/me/domains/{domain}", None)
        await self.tidied()
        return page

    async def tidied(self) -> None:
        await deferred_work.process_due(self.place.service)

    async def user(self, id: str):
        return await self.place.store.get(USERS, id)


@pytest.fixture
def two(place, open_browser, io_loop):
    async def make() -> Two:
        browser = open_browser(place, limits=NO_REUSE)
        script, made = await owner(place, browser), []
        for _ in range(2):
            body = organization(place.service.random.id())
            body["org"]["name"] = f"Acme {place.service.random.id()}"
            page = await script.post(SET_UP, body)
            assert page.status == 200, page.text
            made.append(page.json()["orgId"])
        found = [await place.store.get(ORGANIZATIONS, id) for id in made]
        callers = [await new_caller(place, browser, one, "ORG_OWNER") for one in found]
        return Two(place, script, *callers, *made)

    return io_loop.run_sync(make)


@pytest.mark.promise("tenant: superseded address")
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_an_address_asserted_and_verified_at_once_is_a_login_name_of_who_verified_it(
    two, rounds
):
    for _ in range(rounds):
        address = f"{two.name}@mail.example"
        who, body = await two.waiting(two.corp, address)
        asserted = [two.asserting(two.evil, address) for _ in range(AT_ONCE)]
        proof, *others = await asyncio.gather(
            two.corp.post(f"{who}/email/verify", body), *asserted
        )
        await two.tidied()

        assert proof.status == 200, proof.text
        # Of several in one organization that have the address, one can have it as a login name.
        made = [page.json()["userId"] for page in others if page.status == 200]
        assert {page.status for page in others} <= {200, 409}
        assert made
        for id in made:
            email = (await two.user(id)).email
            assert (email.is_superseded, email.verified_by) == (True, "organization")
            assert (await two.user(id)).email_key is None
        proven = await two.user(who.rpartition("/")[2])
        assert (proven.email_key, proven.email.verified_by) == (login_key(address), "mailbox")
        events = [one async for one in two.place.store.scan(EVENTS, {"record_id": made[0]})]
        told = [one.type for one in events if one.type == "user.email_superseded"]
        assert len(told) <= 1, "it is told once, unless it was known when the user was made"


@pytest.mark.promise("tenant: superseded address")
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_of_verifications_of_one_address_in_two_organizations_at_once_one_counts(
    two, rounds
):
    for _ in range(rounds):
        address = f"{two.name}@mail.example"
        proofs = []
        for caller in (two.evil, two.corp):
            who, body = await two.waiting(caller, address)
            proofs += [caller.post(f"{who}/email/verify", body) for _ in range(AT_ONCE // 2)]
        pages = await asyncio.gather(*proofs)
        found = await two.place.store.find(USERS, {"email_key": login_key(address)})

        assert len(found.records) == 1
        assert {page.status for page in pages} <= {200, 400}
        assert 200 in {page.status for page in pages}
        (winner,) = found.records
        by_org = {two.evil_id: pages[: AT_ONCE // 2], two.corp_id: pages[AT_ONCE // 2 :]}
        lost = [pages for org_id, pages in by_org.items() if org_id != winner.org_id]
        assert {page.status for page in lost[0]} == {400}


@pytest.mark.promise("tenant: domain")
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_of_two_organizations_that_bring_one_domain_at_once_one_has_it_verified(two, rounds):
    for _ in range(rounds):
        domain = f"{two.name}.example"
        pages = await asyncio.gather(
            *(two.brought(org_id, domain) for org_id in [two.evil_id, two.corp_id] * 2)
        )
        found = [one async for one in two.place.store.scan(DOMAINS, {"domain": domain})]

        assert {page.status for page in pages} == {200}
        assert len([one for one in found if one.is_verified]) == 1
        assert {one.org_id for one in found} <= {two.evil_id, two.corp_id}


@pytest.mark.promise("tenant: domain")
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_a_domain_given_up_while_users_are_made_leaves_none_who_count_by_it(two, rounds):
    for _ in range(rounds):
        domain = f"{two.name}.example"
        assert (await two.brought(two.evil_id, domain)).status == 200
        before = await two.asserting(two.evil, f"{two.name}@{domain}")
        assert (await two.user(before.json()["userId"])).email.verified_by == "domain"
        *made, lost = await asyncio.gather(
            *(two.asserting(two.evil, f"{two.name}@{domain}") for _ in range(AT_ONCE)),
            two.given_up(domain),
        )

        assert {page.status for page in (*made, lost)} == {200}
        for page in (before, *made):
            user = await two.user(page.json()["userId"])
            assert user.email.verified_by == "organization"
            assert user.email_key != login_key(user.email.address)
