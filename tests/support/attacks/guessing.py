"""An attacker who guesses passwords, from the address that the trusted proxy reports."""

from __future__ import annotations

from datetime import timedelta

from tests.support.browsers.visitor import Visitor
from tests.support.sign_in.steps import at_password


async def fail_from(server, network, accounts=100):
    """That many more accounts have failed from the network within this hour."""
    await server.store.increment(f"spray:{network}", accounts, window=timedelta(hours=1))


def begun_by(new_visitor, demo):
    """Returns a function that opens the password page for a login name and returns a function that
    sends a password; without a browser, it opens a new one."""

    async def begin(name="demo", address="192.0.2.1", browser: Visitor | None = None):
        browser = browser or new_visitor()
        browser.http.headers["X-Forwarded-For"] = address
        page = await at_password(browser, demo, name, prompt="select_account")
        return lambda password: browser.send(page, password=password)

    return begin
