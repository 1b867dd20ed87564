"""Deleting organizations: dead and free at once, and gone to the last record in the end."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from idp.background import deferred_work
from idp.management.organizations import removal as organization_removal
from idp.records import DELETED_ORGANIZATIONS, INSTANCE_ID, INSTANCES, USERS
from idp.usage import counts
from storage import COUNTERS, Unavailable
from tests.support.management.api_samples import CREATE_HUMAN, MACHINES, MEMBERS, PROJECTS
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

OWN = "/management/v1/orgs/me"
ANY = "/admin/v1/orgs"


async def made(owner, path, id, acme, **body):
    page = await owner.post(path, body, x_idp_orgid=acme.id)
    assert page.status == 200, page.text
    return page.json()[id] if id else None


async def filled(owner, acme, users=1):
    """Put something of everything into the organization; the login name of a person there."""
    for n in range(users):
        machine = await made(owner, MACHINES, "userId", acme, userName=f"script-{n}", name="S")
    body = {
        "username": "anna",
        "profile": {"givenName": "Anna", "familyName": "Owner"},
        "email": {"email": "anna@mail.example", "isVerified": True},
        "password": {"password": "horse staple battery"},
        "metadata": [{"key": "shoes", "value": "cmVk"}],
    }
    anna = await made(owner, CREATE_HUMAN, "userId", acme, **body)
    await made(owner, MEMBERS, None, acme, userId=anna, roles=["ORG_OWNER"])
    project = await made(owner, PROJECTS, "id", acme, name="P")
    apps = f"{PROJECTS}/{project}/apps"
    uris = {"redirectUris": ["https://a.example/cb"]}
    app = await made(owner, f"{apps}/oidc", "appId", acme, name="A", **uris)
    await made(owner, f"{apps}/{app}/keys", None, acme, type="KEY_TYPE_JSON")
    roles = {"roleKey": "admin", "displayName": "Admin"}
    await made(owner, f"{PROJECTS}/{project}/roles", None, acme, **roles)
    users_path = f"/management/v1/users/{machine}"
    await made(owner, f"{users_path}/pats", None, acme)
    await made(owner, f"{users_path}/keys", None, acme, type="KEY_TYPE_JSON")
    granted = {"projectId": project, "roleKeys": ["admin"]}
    await made(owner, f"/management/v1/users/{anna}/grants", None, acme, **granted)
    await made(owner, f"{OWN}/domains", None, acme, domain="named.example")


def without(found, *collections):
    return {name: each for name, each in found.items() if name not in collections and each}


async def done(server):
    """All background work of a deletion, to the end."""
    server.clock.advance(timedelta(minutes=11))
    await organization_removal.purge_deleted(server.service)
    await deferred_work.process_due(server.service)


@pytest.mark.promise("organization: sequence")
@pytest.mark.parametrize("path", [OWN, ANY])
async def test_nothing_is_left_of_a_deleted_organization(server, owner, acme, path):
    kept = ("events", "login_claims", "counters", "organizations", "organization_domains")
    before = without(await everything(server.store), *kept)
    await filled(owner, acme)
    url = path if path == OWN else f"{ANY}/{acme.id}"
    page = await owner.request("DELETE", url, None, x_idp_orgid=acme.id)
    await done(server)

    assert page.json()["details"]["sequence"] == "2"
    found = await everything(server.store)
    assert without(found, *kept) == before
    assert acme.id not in found["organizations"]
    assert acme.id not in {each.org_id for each in found["organization_domains"].values()}
    await events_agree(server.store)


async def test_with_its_record_gone_nothing_counts_and_its_names_are_free(
    server, visitor, owner, acme, demo, new_visitor, monkeypatch
):
    async def later(*_):
        return False

    await filled(owner, acme)
    chief = await new_caller(server, visitor, acme, "ORG_OWNER")
    monkeypatch.setattr(organization_removal, "purge", later)
    page = await chief.request("DELETE", OWN, None)

    assert page.status == 200, page.text
    refused(await chief.get(OWN), 401, 16)
    gone = {"": "organization.not_found"}
    assert refused(await owner.get(f"{ANY}/{acme.id}"), 404, 5) == gone
    page = await owner.get(OWN, x_idp_orgid=acme.id)
    assert refused(page, 404, 5) == {"x-idp-orgid": "organization.not_found"}
    again = await owner.request("DELETE", f"{ANY}/{acme.id}", None)
    assert refused(again, 404, 5) == gone
    browser = new_visitor()
    page = await browser.sign_in(demo.authorize_url(), "anna", "horse staple battery")
    assert page.name == "password"
    body = {
        "org": {"name": acme.name, "domain": acme.primary_domain},
        "human": {
            "userName": "otto",
            "profile": {"firstName": "Otto", "lastName": "Owner"},
            "email": {"email": "otto@mail.example", "isEmailVerified": True},
        },
    }
    page = await owner.post(f"{ANY}/_setup", body)
    assert page.status == 200, page.text


async def test_ten_minutes_after_the_deletion_the_figures_of_the_organization_are_gone(
    server, owner, acme
):
    counts.count(server.service, "sign_in", acme.id)
    await owner.request("DELETE", f"{ANY}/{acme.id}", None)
    await counts.flush(server.service)
    await done(server)
    found = {one.id.split(":")[1] async for one in server.store.scan(COUNTERS)}

    assert "*" in found
    assert acme.id not in found


async def test_the_users_names_are_free_after_the_purge(server, owner, acme):
    await filled(owner, acme)
    await owner.request("DELETE", f"{ANY}/{acme.id}", None)
    await done(server)
    other = await new_organization(server, "other.example")

    await filled(owner, other)


async def test_the_installation_s_own_organization_is_not_deleted(server, owner):
    instance = await server.store.get(INSTANCES, INSTANCE_ID)
    before = await everything(server.store)
    page = await owner.request("DELETE", f"{ANY}/{instance.org_id}", None)

    assert refused(page, 400, 9) == {"": "organization.of_instance"}
    assert await everything(server.store) == before


async def test_what_is_made_there_at_that_moment_is_removed_too(server, owner, acme):
    await owner.request("DELETE", f"{ANY}/{acme.id}", None)
    await organization_removal.purge_deleted(server.service)
    assert await server.store.get(DELETED_ORGANIZATIONS, acme.id)
    await new_caller(server, None, acme, "ORG_OWNER")  # was under way, and knew of no deletion
    await done(server)

    found = await everything(server.store)
    assert acme.id not in {user.org_id for user in found["users"].values()}
    assert acme.id not in {held.org_id for held in found["memberships"].values()}
    assert not found["deleted_organizations"]


class Cut:
    """A store that is away from its nth commit on."""

    def __init__(self, store, n):
        self._store, self._left = store, n

    def __getattr__(self, name):
        return getattr(self._store, name)

    def _count(self):
        self._left -= 1
        if self._left < 0:
            raise Unavailable("cut off")

    async def commit(self, *writes):
        self._count()
        await self._store.commit(*writes)

    async def commit_each(self, units):
        if units:
            self._count()
        return await self._store.commit_each(units)


async def test_a_purge_that_is_cut_off_anywhere_is_gone_on_with(server, owner, acme, monkeypatch):
    monkeypatch.setattr(organization_removal, "BATCH_SIZE", 2)
    await filled(owner, acme, users=9)
    page = await owner.request("DELETE", f"{ANY}/{acme.id}", None)
    assert page.status == 200, page.text
    rounds = 0
    while await server.store.get(DELETED_ORGANIZATIONS, acme.id):
        rounds += 1
        server.clock.advance(timedelta(minutes=11))
        cut = replace(server.service, store=Cut(server.store, 2))
        with suppress(Unavailable):
            await organization_removal.purge_deleted(cut)
        assert rounds < 100

    await deferred_work.process_due(server.service)
    found = await everything(server.store)
    assert rounds > 3
    for name in ("users", "projects", "memberships", "organization_domains"):
        assert acme.id not in {each.org_id for each in found[name].values()}, name
    assert not [one async for one in server.store.scan(USERS) if one.org_id == acme.id]
    await events_agree(server.store)


async def test_of_many_who_delete_it_at_once_one_does(owner, acme):
    url = f"{ANY}/{acme.id}"
    pages = await asyncio.gather(*(owner.request("DELETE", url, None) for _ in range(8)))

    assert sorted(page.status for page in pages) == [200] + 7 * [404]
