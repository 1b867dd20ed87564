"""Users of the console: signed in, in an organization, with certain roles."""

from __future__ import annotations

from idp.identity.sessions import browsers
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import memberships
from idp.records import ORGANIZATIONS, USERS

PASSWORD = "a long and quiet evening"


async def admin(server, visitor, path="/ui/console"):
    """Signs in the first administrator, at this page."""
    admin_account = server.start.admin
    page = await visitor.open(path)
    page = await visitor.submit(page, loginName=admin_account.login_name)
    page = await visitor.submit(page, password=admin_account.password)
    if page.name == "change-password":
        page = await visitor.submit(page, newPassword=PASSWORD)
    return page


async def manager(server, visitor, *roles, org_id="", path="/ui/console", name="manager"):
    """Signs in a user with these roles in an organization, by default the user's own; in the
    instance if `org_id` is None."""
    login_name, password = await server.copy_user(name)
    user = (await server.store.find(USERS, {"login_key": name})).records[0]
    if roles:
        where = user.org_id if org_id == "" else org_id
        held = memberships.new(user.id, where, roles, server.clock.now())
        await server.store.commit(
            *memberships.insertion(server.service.random, held, "a test", server.clock.now())
        )
    return await sign_in(visitor, login_name, password, path)


async def sign_in(visitor, login_name, password, path="/ui/console"):
    page = await visitor.open(path)
    if page.name == "accounts":
        page = await visitor.submit(page, account="other")
    page = await visitor.submit(page, loginName=login_name)
    return await visitor.submit(page, password=password)


async def own_org(server):
    """The installation's first organization."""
    return [one async for one in server.store.scan(ORGANIZATIONS)][0]


async def token(server, visitor, path):
    """The hidden input that the form at this address would have for this visitor."""
    cookie = visitor.cookies["idp_agent"]
    agent = await browsers.find(server.service, cookie)
    (live,) = await session_lifetime.find_live(server.service, agent)
    subject = f"{live.session.id}\n{path}"
    return {"token": browsers.form_token(server.service.master_key, agent, subject)}
