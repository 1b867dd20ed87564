"""Every administrative change of a start has its event, in the unit of the change."""

from __future__ import annotations

import pytest

from idp.identity.users import admin_recovery
from idp.records import EVENTS, INSTANCES
from tests.program.first_starts.starts import again, make_ready
from tests.support.store.audit import events_agree
from tests.support.store.stored import only

NEW = "seven green kettles hum"


async def last_change(server) -> str:
    """What the last event of the instance says."""
    events = [event async for event in server.store.scan(EVENTS, {"collection": INSTANCES.name})]
    return max(events, key=lambda event: event.sequence).type


async def test_a_first_start_has_an_event_for_all_that_it_made(server):
    await events_agree(server.store)
    types = {event.type async for event in server.store.scan(EVENTS)}

    assert types >= {"instance.demo_made", "project.created", "membership.created", "key.made"}


async def test_a_start_with_a_token_file_has_its_events(server, tmp_path):
    await make_ready(again(server, admin_pat=str(tmp_path / "pat")))

    await events_agree(server.store)
    assert "pat.created" in {event.type async for event in server.store.scan(EVENTS)}


async def test_the_administrators_own_password_has_its_events(server, demo, visitor):
    admin = server.start.admin
    page = await visitor.sign_in(demo.authorize_url(), admin.login_name, admin.password)
    await visitor.submit(page, newPassword=NEW)

    await events_agree(server.store)
    assert await last_change(server) == "instance.first_admin_forgotten"


async def test_a_reset_on_the_command_line_has_its_events(server):
    name = server.start.admin.login_name
    await admin_recovery.reset_password(server.service, name, actor="command line")

    await events_agree(server.store)
    assert (await only(server.store, INSTANCES)).first_admin is None


@pytest.mark.parametrize("issuer", ["https://login.example.com", "http://localhost:1"])
async def test_another_issuer_has_its_events(server, issuer):
    before = await server.store.count(EVENTS, {})
    await make_ready(again(server, issuer=issuer))

    await events_agree(server.store)
    assert await server.store.count(EVENTS, {}) > before
