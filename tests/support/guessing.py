"""Somebody who tries passwords, at an address as the trusted proxy in front reports it."""

from __future__ import annotations

from tests.support.steps import at_password
from tests.support.visitor import Visitor


def begun_by(new_visitor, demo):
    """A function that opens the page of the password of a name, and answers with one that sends
    it; without a browser, in a new one."""

    async def begin(name="demo", address="192.0.2.1", browser: Visitor | None = None):
        browser = browser or new_visitor()
        browser.http.headers["X-Forwarded-For"] = address
        page = await at_password(browser, demo, name, prompt="select_account")
        return lambda password: browser.send(page, password=password)

    return begin
