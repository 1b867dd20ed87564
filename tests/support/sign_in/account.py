"""The pages of the account of the demo's user."""

from __future__ import annotations

from idp.records import EVENTS, USERS

ACCOUNT = "/ui/account"


async def enter(server, visitor, path="", who=None):
    """A page of the account, after the sign-in on the way there."""
    name, password = who or server.user
    page = await visitor.open(ACCOUNT + path)
    if page.name == "accounts":
        page = await visitor.submit(page, account="other")
    if page.name == "login-name":
        page = await visitor.submit(page, loginName=name)
    if page.name == "password":
        page = await visitor.submit(page, password=password)
    return page


async def user(server, name="demo"):
    """The record of a user."""
    return (await server.store.find(USERS, {"login_key": name})).records[0]


async def events_of(server, type):
    """The events of a type, the oldest first."""
    found = [one async for one in server.store.scan(EVENTS) if one.type == type]
    return sorted(found, key=lambda one: one.id)
