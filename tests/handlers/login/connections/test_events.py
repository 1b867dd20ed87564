"""What the audit log states of connections, and of the sessions that users open by them."""

from __future__ import annotations

import pytest

from idp.records import EVENTS
from tests.support.sign_in.federating import ALL, AT_ONCE, NAMES
from tests.support.sign_in.hostile_provider import CLIENT_ID, CLIENT_SECRET


@pytest.fixture
def federation(federation):
    """Without the secret in each change, which would set it again."""
    del federation.body["clientSecret"]
    return federation


async def payloads(server, type):
    """The payloads of the events of a type, the oldest first."""
    found = [one async for one in server.store.scan(EVENTS) if one.type == type]
    return [dict(one.payload) for one in sorted(found, key=lambda one: (one.at, one.sequence))]


async def test_a_change_is_stated_with_the_old_and_the_new_values(server, federation):
    options = {**ALL, "isCreationAllowed": False, "mapping": {"email": ["mail", "email"]}}
    await federation.change(options, name="Corporation", scopes=["groups"])

    (payload,) = await payloads(server, "connection.changed")
    assert payload == {
        "name.before": "Corp",
        "name.after": "Corporation",
        "scopes.before": "",
        "scopes.after": '["groups"]',
        "providerOptions.isCreationAllowed.before": "true",
        "providerOptions.isCreationAllowed.after": "",
        "providerOptions.mapping.email.before": "",
        "providerOptions.mapping.email.after": '["mail", "email"]',
    }


async def test_of_a_secret_it_is_stated_that_it_was_changed(server, federation):
    await federation.change(clientSecret="another secret of the provider")

    assert await payloads(server, "connection.changed") == [{"clientSecret": "changed"}]
    events = [repr(one) async for one in server.store.scan(EVENTS)]
    assert not any("another secret" in each or CLIENT_SECRET in each for each in events)


async def test_a_change_of_trust_has_every_other_change_too(server, federation):
    await federation.change(clientId="another", name="Corporation")

    (payload,) = await payloads(server, "connection.trust_changed")
    assert payload == {
        "clientId.before": CLIENT_ID,
        "clientId.after": "another",
        "name.before": "Corp",
        "name.after": "Corporation",
    }


async def test_long_values_are_cut(server, federation):
    await federation.change(scopes=[f"{n}" + "x" * 190 for n in range(20)])

    (payload,) = await payloads(server, "connection.changed")
    assert {name: len(value) for name, value in payload.items()} == {
        "scopes.before": 0,
        "scopes.after": 1000,
    }


async def test_a_list_of_offers_states_what_was_added_and_removed(server, federation):
    other = await federation.connecting.make(
        "generic_oidc", {**federation.body, "name": "Other", "clientSecret": CLIENT_SECRET}
    )
    await federation.connecting.call("POST", "/policies/login/idps", {"idpId": other})
    path = f"/policies/login/idps/{federation.connection}"
    await federation.connecting.call("DELETE", path)

    created = await payloads(server, "offered_connections.created")
    assert created == [{"added": federation.connection}]
    changed = await payloads(server, "offered_connections.changed")
    assert changed == [{"added": other}, {"removed": federation.connection}]


async def test_a_session_names_the_connection_by_which_it_was_opened(
    server, federation, provider, new_visitor
):
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    await federation.sign_in()
    await federation.party.tokens(new_visitor(), *server.user)

    # Both sign-ins are at one instant of the test's clock, so their events have no order.
    opened = sorted(await payloads(server, "session.opened"), key=len)
    assert opened == [{}, {"connection_id": federation.connection}]
