"""Connections in the console: made, offered on the sign-in pages, withdrawn and deactivated."""

from __future__ import annotations

import pytest

from idp.records.connection_tests import CONNECTION_TESTS
from idp.records.connections import CONNECTIONS, OFFERED_CONNECTIONS
from tests.support.management import console
from tests.support.samples.connections import unresolved
from tests.support.sign_in.federating import link_of
from tests.support.sign_in.steps import text_of

FILLED = {
    "name": "Corp",
    "issuer": "https://login.corp.example",
    "clientId": "idp",
    "clientSecret": "a secret of the provider",
}
OWNERS = {"/connections": "", "/installation/connections": " --instance"}
every_owner = pytest.mark.parametrize("where", OWNERS)


async def made(server, visitor, where):
    page = await console.admin(server, visitor, f"/ui/console{where}/new/generic_oidc")
    page = await visitor.submit(page, **FILLED)
    assert (page.status, page.name) == (200, "console/show"), page.text
    return page, (await server.store.find(CONNECTIONS)).records[0].id


@every_owner
async def test_every_page_of_a_connection_opens(server, visitor, where):
    page, connection_id = await made(server, visitor, where)
    names = ("edit/generic_oidc", "check", "test", "offer", "deactivate", "delete")

    pages = [
        await visitor.open(link_of(page, f"/ui/console{where}/{connection_id}/{name}"))
        for name in names
    ]

    assert [(each.status, each.name) for each in pages] == [(200, "console/action")] * 6
    assert f"connection test{OWNERS[where]} {connection_id}" in text_of(pages[2])
    assert f"connection offer{OWNERS[where]} --idp-id {connection_id}" in text_of(pages[3])


@every_owner
async def test_a_connection_is_checked(server, visitor, where):
    page, connection_id = await made(server, visitor, where)
    server.service.outgoing._resolve = unresolved
    form = await visitor.open(link_of(page, f"/ui/console{where}/{connection_id}/check"))

    page = await visitor.submit(form)

    assert (page.status, page.name) == (200, "console/show"), page.text
    text = text_of(page)
    assert all(each in text for each in ("Provider", "Failed", "outgoing_networks")), text
    assert f"connection check{OWNERS[where]} {connection_id}" in text
    page = await visitor.open(link_of(page, f"/ui/console{where}/{connection_id}"))
    assert page.name == "console/show"


@every_owner
async def test_a_connection_is_tested_and_its_result_shown(server, visitor, where):
    page, connection_id = await made(server, visitor, where)
    server.service.outgoing._resolve = unresolved
    form = await visitor.open(link_of(page, f"/ui/console{where}/{connection_id}/test"))

    page = await visitor.submit(form)

    assert (page.status, page.name) == (200, "connection-test"), page.text
    test = (await server.store.find(CONNECTION_TESTS)).records[0]
    at = f"/ui/console{where}/{connection_id}/tests/{test.id}"
    waiting = await visitor.open(at)
    assert "Waiting for the sign-in" in text_of(waiting)
    page = await visitor.submit(page)
    page = await visitor.open(link_of(page, at))
    assert (page.status, page.name) == (200, "console/show"), page.text
    text = text_of(page)
    shown = ("Refuse the sign-in", "Failed", "Not determined", "outgoing_networks")
    assert all(each in text for each in shown), text
    assert f"connection test-result{OWNERS[where]} --idp {connection_id} {test.id}" in text


@pytest.mark.parametrize("where", OWNERS)
async def test_the_result_of_no_test_is_an_error_page(server, visitor, where):
    _, connection_id = await made(server, visitor, where)

    page = await visitor.open(f"/ui/console{where}/{connection_id}/tests/nobody")

    assert (page.status, page.name) == (404, "console/message")


@every_owner
async def test_a_connection_is_offered_and_withdrawn(server, visitor, where):
    page, connection_id = await made(server, visitor, where)
    at = f"/ui/console{where}/{connection_id}"

    page = await visitor.submit(await visitor.open(link_of(page, f"{at}/offer")))

    (offered,) = (await server.store.find(OFFERED_CONNECTIONS)).records
    assert offered.connection_ids == [connection_id]
    page = await visitor.submit(await visitor.open(link_of(page, f"{at}/withdraw")))
    assert (page.status, page.name) == (200, "console/show")
    (offered,) = (await server.store.find(OFFERED_CONNECTIONS)).records
    assert offered.connection_ids == []


@every_owner
async def test_a_connection_is_deactivated_and_activated(server, visitor, where):
    page, connection_id = await made(server, visitor, where)
    at = f"/ui/console{where}/{connection_id}"
    states = []

    for name in ("deactivate", "activate"):
        page = await visitor.submit(await visitor.open(link_of(page, f"{at}/{name}")))
        states.append((await server.store.get(CONNECTIONS, connection_id)).state)

    assert states == ["inactive", "active"]
