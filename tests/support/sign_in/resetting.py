"""Steps of a password reset, and its messages."""

from __future__ import annotations

from urllib.parse import urlsplit

from idp.records import USERS, Email
from storage import Update
from tests.support.sign_in.registering import mails
from tests.support.sign_in.steps import Seen, at_password

ADDRESS = "demo@example.org"
NEW_PASSWORD = "seven green kettles hum"


async def give_address(server, name="demo", address=ADDRESS, *, is_verified=True, **changes):
    """Let the user of this name have an address."""
    user = (await server.store.find(USERS, {"login_key": name})).records[0]
    email = Email(address=address, is_verified=is_verified)
    keys = {"email_key": address if is_verified else None, "address_key": address}
    await server.store.commit(Update(USERS, user.id, set={"email": email} | keys | changes))
    return user.id


def link_to(page, path):
    """The page's link to an address of the service."""
    return next(link for link in Seen(page).links if urlsplit(link).path == path)


async def at_reset(visitor, party, login_name="demo", **changes):
    """The page that asks for the login name of the user."""
    page = await at_password(visitor, party, login_name, **changes)
    page = await visitor.open(link_to(page, "/ui/login/reset"))
    assert page.name == "reset", page.text
    return page


async def at_reset_code(visitor, party, login_name="demo", **changes):
    """The page that asks for the code from the mail."""
    page = await at_reset(visitor, party, login_name, **changes)
    page = await visitor.submit(page, loginName=page.inputs["loginName"])
    assert (page.status, page.name) == (200, "reset-code"), page.text
    return page


async def newest(visitor, to=ADDRESS):
    """The newest mail to an address that has a code."""
    return next(mail for mail in await mails(visitor, to) if mail.get("code"))


async def chosen(visitor, page, password=NEW_PASSWORD):
    """The answer to the code of the newest mail, and to a new password."""
    page = await visitor.submit(page, code=(await newest(visitor))["code"])
    assert page.name == "change-password", page.text
    return await visitor.submit(page, newPassword=password)
