"""The way back from another provider counts once, in its browser, in its time, for its
connection."""

from __future__ import annotations

import pytest

from idp.records import SESSIONS
from idp.records.identity_links import IDENTITY_LINKS
from idp.records.refusals import REFUSALS
from storage import Insert
from tests.support.sign_in.federating import AT_ONCE, NAMES
from tests.support.store.audit import events_agree


@pytest.mark.promise("connections: refused")
async def test_the_answer_counts_in_the_browser_that_left_alone(
    server, federation, provider, new_visitor
):
    """Login CSRF: an address of an attacker's sign-in, opened in another browser."""
    provider.claims = NAMES
    left = await federation.leave(await federation.begin())
    victim = new_visitor()
    await federation.begin(victim)

    page = await federation.come_back(left, victim)

    assert (page.name, page.status) == ("expired", 410), page.text
    assert await server.store.count(SESSIONS) == 0
    assert not [path for path, *_ in provider.calls if path == "/token"]


@pytest.mark.promise("connections: refused")
async def test_the_cookie_of_the_attempt_alone_is_not_enough(federation, provider, new_visitor):
    left = await federation.leave(await federation.begin())
    thief = new_visitor()
    await federation.begin(thief)
    for name, value in federation.visitor.cookies.items():
        if "attempt" in name:
            thief.cookies.set(name, value)

    page = await federation.come_back(left, thief)

    assert page.name == "expired"
    assert not [path for path, *_ in provider.calls if path == "/token"]


@pytest.mark.promise("connections: refused")
@pytest.mark.parametrize(
    "changes",
    [{"state": "x"}, {"state": None}, {"state": ""}, {"state": "ä" * 500}],
    ids=["another", "none", "empty", "long"],
)
async def test_another_state_is_nobodys(federation, provider, changes):
    left = await federation.leave(await federation.begin())

    page = await federation.come_back(left, **changes)

    assert page.name == "expired"
    assert not [path for path, *_ in provider.calls if path == "/token"]


@pytest.mark.promise("connections: refused")
async def test_another_connections_address_does_not_take_the_answer(federation, provider):
    """Mix-up: the answer comes at the address of another connection."""
    left = await federation.leave(await federation.begin())
    address = provider.answer_at(left).replace(federation.connection, "other")

    page = await federation.visitor.open(address)

    assert page.name == "expired"


@pytest.mark.promise("connections: refused")
async def test_an_attempt_is_over_after_ten_minutes(server, federation, provider):
    left = await federation.leave(await federation.begin())
    server.clock.advance(601)

    page = await federation.come_back(left)

    assert page.name == "expired"


@pytest.mark.promise("connections: refused")
async def test_an_answer_counts_once(server, federation, provider):
    provider.claims = NAMES
    await federation.change(AT_ONCE)
    left = await federation.leave(await federation.begin())
    kept = dict(federation.visitor.cookies.items())
    await federation.come_back(left)
    federation.visitor.cookies.update(kept)  # as an answer that is sent twice at once

    await federation.come_back(left)

    assert len([path for path, *_ in provider.calls if path == "/token"]) == 1
    assert await server.store.count(SESSIONS) == 1


CHANGES = {
    "deactivated": ("POST", "/idps/{id}/_deactivate"),
    "offered no more": ("DELETE", "/policies/login/idps/{id}"),
    "deleted": ("DELETE", "/idps/templates/{id}"),
}


@pytest.mark.promise("connections: refused")
@pytest.mark.parametrize("change", CHANGES)
async def test_a_connection_that_is_gone_meanwhile_signs_nobody_in(
    server, federation, provider, change
):
    left = await federation.leave(await federation.begin())
    method, path = CHANGES[change]
    await federation.connecting.call(method, path.format(id=federation.connection), {})

    page = await federation.come_back(left)

    assert page.name == "login-name"
    assert not [path for path, *_ in provider.calls if path == "/token"]
    assert await server.store.count(SESSIONS) == 0


@pytest.mark.promise("connections: refused")
async def test_the_policy_can_offer_no_connection(server, federation):
    page = await federation.begin()
    assert "Continue with" in page.text
    policy = {"allowExternalIdp": False}

    await federation.connecting.call("POST", "/policies/login", policy)

    assert "Continue with" not in (await federation.begin()).text
    left = await federation.leave(page)
    assert left.location.startswith(server.issuer)


@pytest.mark.promise("connections: refused")
@pytest.mark.parametrize("path", ["/idps/x/callback", "/idps/x/callback?state=a&state=b"])
async def test_an_address_without_a_sign_in_stores_nothing(server, federation, visitor, path):
    page = await visitor.get(path)

    assert page.status in (400, 410)
    assert await server.store.count(REFUSALS) == 0


MEANWHILE = {
    "deactivated": ("POST", "/idps/{id}/_deactivate", {}),
    "deleted": ("DELETE", "/idps/templates/{id}?links=delete", None),
    "unlinked": ("DELETE", "/users/{user}/idps/{id}/person-1", None),
}


@pytest.mark.promise("connections: sessions")
@pytest.mark.parametrize(
    ("change", "is_first"),
    [("deactivated", True), ("deactivated", False), ("deleted", True), ("deleted", False)]
    + [("unlinked", False)],
)
async def test_what_ends_sessions_at_the_moment_of_a_sign_in_ends_that_one_too(
    server, federation, provider, new_visitor, monkeypatch, change, is_first
):
    """The change is whole before the session is stored, so it has found no session to end."""
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    if not is_first:
        await federation.sign_in(new_visitor())
    commit, begun = server.store.commit, []

    async def after_the_change(*writes, **options):
        inserts = [one.collection for one in writes if isinstance(one, Insert)]
        if SESSIONS in inserts and not begun:
            begun.append(change)
            await _change(server, federation, MEANWHILE[change])
        return await commit(*writes, **options)

    monkeypatch.setattr(server.store, "commit", after_the_change)
    visitor = new_visitor()
    page = await federation.sign_in(visitor)
    monkeypatch.setattr(server.store, "commit", commit)

    assert begun
    # The browser never got the cookie of the session: the page has a way to start again.
    assert page.name in ("expired", "login-name"), page.text
    sessions = (await server.store.find(SESSIONS)).records
    assert all(one.ended_at is not None for one in sessions if one.connection_id)
    assert (await federation.party.silently(visitor)).get("error") == "login_required"
    left = 1 if change == "deactivated" else 0
    assert await server.store.count(IDENTITY_LINKS) == left
    await events_agree(server.store)


async def _change(server, federation, change):
    method, path, body = change
    found = (await server.store.find(IDENTITY_LINKS)).records
    user = found[0].user_id if found else ""
    path = path.format(id=federation.connection, user=user)
    await federation.connecting.call(method, path, body)
