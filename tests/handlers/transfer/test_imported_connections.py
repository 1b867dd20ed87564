"""Connections in a package: whom they trust, and the links that are there already."""

from __future__ import annotations

import pytest

from idp.records import EVENTS
from idp.records.connections import CONNECTIONS
from idp.records.identity_links import IDENTITY_LINKS, IdentityLink, link_id
from storage import Insert
from tests.support.management.callers import new_caller, refused
from tests.support.management.connecting import Connecting
from tests.support.protocol.claiming import organization_of, user_of
from tests.support.transfer.bulk import imported, package

ISSUER = "https://login.corp.example"
SETTINGS = {"name": "Corp", "issuer": ISSUER, "clientId": "idp", "clientSecret": "a secret"}


@pytest.fixture
def home(io_loop, server):
    """The organization that the package is about."""
    return io_loop.run_sync(lambda: organization_of(server))


async def bring(server, owner, home, **changes):
    """Imports the connection, and returns the report and what is stored of it."""
    row = {"connectionId": "corp", "genericOidc": {**SETTINGS, **changes}}
    offered = {"connectionIds": ["corp", *(["other"] if changes else [])]}
    org = {
        "orgId": home.id,
        "org": {"name": home.name},
        "connections": [row],
        "offeredConnections": offered,
    }
    report = await imported(owner, package(org, update=True))
    return report, await server.store.get(CONNECTIONS, "corp")


async def left_behind(server):
    """A link of a connection that has been deleted."""
    user, now = await user_of(server), server.clock.now()
    made = IdentityLink(
        id=link_id("corp", ISSUER, "1"),
        connection_id="corp",
        authority=ISSUER,
        external_id="1",
        user_id=user.id,
        org_id=user.org_id,
        user_name="ada",
        created_at=now,
        changed_at=now,
    )
    await server.store.commit(Insert(IDENTITY_LINKS, made))


async def test_a_connection_whose_id_has_links_is_one_with_links(server, visitor, owner, home):
    await left_behind(server)

    _, made = await bring(server, owner, home)

    assert made.is_linked
    manager = Connecting(await new_caller(server, visitor, home, "ORG_SETTINGS_MANAGER"), home.id)
    body = {**SETTINGS, "issuer": "https://evil.example"}
    page = await manager.send("PUT", "/idps/generic_oidc/corp", body)
    assert refused(page, 403, 7) == {"": "connection.owner_needed"}


async def test_a_connection_of_a_new_id_has_no_links(server, owner, home):
    _, made = await bring(server, owner, home)

    assert not made.is_linked


@pytest.mark.parametrize("changes", [{"issuer": "https://evil.example"}, {"clientId": "other"}])
async def test_an_import_does_not_change_whom_a_connection_trusts(server, owner, home, changes):
    _, before = await bring(server, owner, home)

    report, after = await bring(server, owner, home, **changes)

    assert [each["slug"] for each in report["errors"]] == ["connection.owner_needed"]
    assert after == before


@pytest.mark.parametrize(
    ("changes", "is_same"),
    [({"position": 3}, True), ({"providerOptions": {"mapping": {"email": ["mail"]}}}, False)],
)
async def test_an_import_that_changes_what_sign_ins_rely_on_gives_a_new_stamp(
    server, owner, home, changes, is_same
):
    _, before = await bring(server, owner, home)

    report, after = await bring(server, owner, home, **changes)

    assert "errors" not in report, report
    assert after.sequence == before.sequence + 1
    assert (after.stamp == before.stamp) is is_same


async def test_the_events_of_an_import_state_what_has_changed(server, owner, home):
    await bring(server, owner, home)
    await bring(server, owner, home, name="Corporation")

    found = [one async for one in server.store.scan(EVENTS) if "connection" in one.type]
    stated = {one.type: dict(one.payload) for one in found}
    changed = stated["connection.changed"]
    assert (changed["name.before"], changed["name.after"]) == ("Corp", "Corporation")
    assert "clientSecret" not in changed
    assert stated["offered_connections.created"]["added"] == "corp"
    assert stated["offered_connections.changed"] == {"added": "other"}
