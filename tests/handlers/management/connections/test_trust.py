"""Who may change whom a connection trusts, once users are linked to it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.identity.users import memberships
from idp.records import OUTBOX
from idp.records.connections import CONNECTIONS
from idp.records.identity_links import IDENTITY_LINKS, IdentityLink, link_id
from storage import Insert, Update
from tests.support.management.callers import Caller, new_caller, refused
from tests.support.management.connecting import ADMIN, Connecting
from tests.support.protocol.claiming import organization_of, user_of
from tests.support.samples.connections import OF_KINDS
from tests.support.store.stored import everything

EVIL = "https://evil.example"
# Each way to point a connection to somebody else, by its kind.
WAYS = {
    "issuer": ("generic_oidc", {"issuer": EVIL}),
    "endpoint": ("generic_oidc", {"tokenEndpoint": f"{EVIL}/token"}),
    "key": ("generic_oidc", {"jwksUri": f"{EVIL}/keys"}),
    "authorization endpoint": ("generic_oidc", {"authorizationEndpoint": f"{EVIL}/authorize"}),
    "userinfo endpoint": ("generic_oidc", {"userinfoEndpoint": f"{EVIL}/userinfo"}),
    "client": ("generic_oidc", {"clientId": "that-of-another"}),
    "preset": ("generic_oidc", {"issuer": "", "preset": "okta", "domain": "evil.example"}),
    "tenant": (
        "azure",
        {
            "tenant": {"tenantId": "11111111-86f1-41af-91ab-2d7cd011db47"},
            "allowedTenants": [],
        },
    ),
    "gitlab": ("gitlab_self_hosted", {"issuer": EVIL}),
}


class World:
    """An organization with a linked connection of each kind, and callers."""

    def __init__(self, server, visitor, owner):
        self.server, self.visitor, self.owner = server, visitor, owner

    async def make(self):
        self.home = await organization_of(self.server)
        self.user = await user_of(self.server)
        self.everything = Connecting(self.owner, self.home.id)
        return self

    async def linked(self, kind):
        connection = await self.everything.make(kind, OF_KINDS[kind][0])
        await link(self.server, connection, self.user)
        return connection

    async def by(self, role, **more):
        caller = await new_caller(self.server, self.visitor, self.home, role, **more)
        return Connecting(caller, self.home.id)

    async def signed_in(self, party, role):
        """The demo user with this role, by the token of a sign-in."""
        await memberships.grant(
            self.server.service, self.user.id, self.home.id, role, actor="a test"
        )
        scope = "openid urn:idp:iam:org:project:id:idp:aud"
        tokens = await party.tokens(self.visitor, *self.server.user, scope=scope)
        return Connecting(Caller(self.visitor, tokens["access_token"]), self.home.id)


async def link(server, connection_id, user):
    """Links a user to an identity, as a sign-in does."""
    record = await server.store.get(CONNECTIONS, connection_id)
    now = server.clock.now()
    made = IdentityLink(
        id=link_id(record.id, record.authority, "1"),
        connection_id=record.id,
        authority=record.authority,
        external_id="1",
        user_id=user.id,
        org_id=user.org_id,
        user_name="ada",
        created_at=now,
        changed_at=now,
        sequence=0,
    )
    update = Update(CONNECTIONS, record.id, set={"is_linked": True})
    await server.store.commit(Insert(IDENTITY_LINKS, made), update)


@pytest.fixture
def world(io_loop, server, visitor, owner):
    return io_loop.run_sync(World(server, visitor, owner).make)


@pytest.mark.promise("connections: trust")
@pytest.mark.parametrize("way", WAYS)
async def test_whom_a_connection_trusts_stays_once_users_are_linked(server, world, way):
    kind, changes = WAYS[way]
    connection = await world.linked(kind)
    body = {**OF_KINDS[kind][0], **changes}
    # An owner by a personal access token, which is no sign-in, and whoever is no owner.
    callers = [await world.by(role) for role in ("ORG_SETTINGS_MANAGER", "ORG_OWNER")]
    before = await everything(server.store)

    for caller in callers:
        page = await caller.send("PUT", f"/idps/{kind}/{connection}", body)
        assert refused(page, 403, 7) == {"": "connection.owner_needed"}
    assert await everything(server.store) == before


@pytest.mark.promise("connections: trust")
async def test_without_links_whoever_may_write_it_changes_it(server, world):
    body = OF_KINDS["gitlab_self_hosted"][0]
    connection = await world.everything.make("gitlab_self_hosted", body)
    manager = await world.by("ORG_SETTINGS_MANAGER")

    await manager.change("gitlab_self_hosted", connection, {**body, "issuer": EVIL})

    assert (await server.store.get(CONNECTIONS, connection)).authority == EVIL


@pytest.mark.promise("connections: trust")
async def test_what_decides_nothing_about_trust_is_changed_as_before(server, world):
    connection = await world.linked("gitlab_self_hosted")
    manager = await world.by("ORG_SETTINGS_MANAGER")
    body = {**OF_KINDS["gitlab_self_hosted"][0], "name": "Other", "position": 3}

    await manager.change("gitlab_self_hosted", connection, body)

    assert (await server.store.get(CONNECTIONS, connection)).name == "Other"


@pytest.mark.promise("connections: trust")
async def test_the_installation_changes_it_and_the_owners_are_told(server, world):
    connection = await world.linked("gitlab_self_hosted")
    await memberships.grant(
        server.service, world.user.id, world.home.id, "ORG_OWNER", actor="a test"
    )
    body = {**OF_KINDS["gitlab_self_hosted"][0], "issuer": EVIL}

    await world.everything.change("gitlab_self_hosted", connection, body)

    assert (await server.store.get(CONNECTIONS, connection)).authority == EVIL
    told = (await server.store.find(OUTBOX)).records
    kinds = {each.kind for each in told if each.user_id == world.user.id}
    assert "connection_trust_changed" in kinds


@pytest.mark.promise("connections: trust")
@pytest.mark.parametrize(("minutes", "status"), [(9, 200), (11, 403)])
async def test_an_owner_changes_it_within_ten_minutes_of_a_sign_in(server, world, minutes, status):
    connection = await world.linked("gitlab_self_hosted")
    party = await server.register(has_management_access=True)
    owner = await world.signed_in(party, "ORG_OWNER")
    server.clock.advance(timedelta(minutes=minutes).total_seconds())
    body = {**OF_KINDS["gitlab_self_hosted"][0], "issuer": EVIL}

    page = await owner.send("PUT", f"/idps/gitlab_self_hosted/{connection}", body)

    assert page.status == status, page.text


@pytest.mark.promise("connections: trust")
async def test_a_manager_who_has_just_signed_in_is_no_owner(server, world):
    connection = await world.linked("gitlab_self_hosted")
    party = await server.register(has_management_access=True)
    manager = await world.signed_in(party, "ORG_SETTINGS_MANAGER")
    body = {**OF_KINDS["gitlab_self_hosted"][0], "issuer": EVIL}

    page = await manager.send("PUT", f"/idps/gitlab_self_hosted/{connection}", body)

    assert refused(page, 403, 7) == {"": "connection.owner_needed"}


async def test_a_connection_with_links_is_deleted_only_with_them(server, world):
    connection = await world.linked("google")
    path = f"/idps/templates/{connection}"
    before = await everything(server.store)

    page = await world.everything.send("DELETE", path)
    assert refused(page, 400, 9) == {"": "connection.has_links"}
    assert "1 users" in page.json()["message"]
    assert await everything(server.store) == before
    await world.everything.call("DELETE", f"{path}?links=delete")
    assert await server.store.count(IDENTITY_LINKS, {}) == 0


async def test_the_installations_connection_is_changed_by_the_installation_alone(server, world):
    everywhere = Connecting(world.owner, None, ADMIN)
    connection = await everywhere.make("gitlab_self_hosted", OF_KINDS["gitlab_self_hosted"][0])
    await link(server, connection, world.user)
    body = {**OF_KINDS["gitlab_self_hosted"][0], "issuer": EVIL}

    await everywhere.change("gitlab_self_hosted", connection, body)

    assert (await server.store.get(CONNECTIONS, connection)).authority == EVIL
