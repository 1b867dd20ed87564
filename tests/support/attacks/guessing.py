"""An attacker who guesses passwords, from the address that the trusted proxy reports."""

from __future__ import annotations

from datetime import timedelta

from idp.records import NETWORK_FAILURES, NetworkFailures
from storage import Insert, Update
from tests.support.browsers.visitor import Visitor
from tests.support.sign_in.steps import at_password


async def fail_from(server, network, accounts=100):
    """That many more accounts have failed from the network within this hour."""
    if await server.store.get(NETWORK_FAILURES, network):
        write = Update(NETWORK_FAILURES, network, increment={"accounts": accounts})
    else:
        ends_at = server.clock.now() + timedelta(hours=1)
        write = Insert(
            NETWORK_FAILURES,
            NetworkFailures(id=network, accounts=accounts, expires_at=ends_at),
        )
    await server.store.commit(write)


def begun_by(new_visitor, demo):
    """Returns a function that opens the password page for a login name and returns a function that
    sends a password; without a browser, it opens a new one."""

    async def begin(name="demo", address="192.0.2.1", browser: Visitor | None = None):
        browser = browser or new_visitor()
        browser.http.headers["X-Forwarded-For"] = address
        page = await at_password(browser, demo, name, prompt="select_account")
        return lambda password: browser.send(page, password=password)

    return begin
