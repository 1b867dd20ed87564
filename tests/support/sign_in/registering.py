"""Steps of a registration, and its messages."""

from __future__ import annotations

from idp.identity.users.lookup import login_key
from idp.records import USERS

INPUTS = ["givenName", "familyName", "email", "newPassword", "userName"]
ADDRESS = "nora@example.org"
PASSWORD = "a quiet afternoon in May"
FIELDS = {
    "givenName": "Nora",
    "familyName": "Nguyễn",
    "email": ADDRESS,
    "userName": "",
    "newPassword": PASSWORD,
}


async def at_register(visitor, party, **changes):
    """The form of a new registration."""
    page = await visitor.open(party.authorize_url(**({"prompt": "create"} | changes)))
    assert page.name == "register", page.text
    return page


async def at_code(visitor, party, **fields):
    """The page that asks for the code from the mail."""
    page = await visitor.submit(await at_register(visitor, party), **(FIELDS | fields))
    assert (page.status, page.name) == (200, "verify-email"), page.text
    return page


async def mails(visitor, to=None):
    """The held mails, the newest first; those to one address."""
    page = await visitor.get("/dev/mail", headers={"Accept": "application/json"})
    return [mail for mail in page.json()["result"] if to in (None, mail["to"])]


async def newest(visitor, to=ADDRESS):
    return (await mails(visitor, to))[0]


async def code_for(visitor, to=ADDRESS):
    return (await newest(visitor, to))["code"]


async def registered(visitor, party, **fields):
    """The redirect to the client after a whole registration."""
    page = await at_code(visitor, party, **fields)
    code = await code_for(visitor, fields.get("email", ADDRESS))
    return await visitor.submit(page, code=code)


async def found(server, name):
    """The user of this name."""
    page = await server.store.find(USERS, {"login_key": login_key(name)})
    return page.records[0]


async def users(server):
    """The user names that there are, beside those of the start."""
    names = {user.user_name async for user in server.store.scan(USERS)}
    return names - {"demo", "admin@localhost"}
