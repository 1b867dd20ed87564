"""A forgotten password, request by request."""

from __future__ import annotations

from idp.records import USERS, Email
from storage import Update
from tests.fire import stories
from tests.fire.run import Run
from tests.flows.flows import NEW_PASSWORD
from tests.support.sign_in.registering import mails
from tests.support.sign_in.resetting import link_to


async def reachable(run: Run) -> tuple[str, str]:
    """Login name and address of somebody who can be written to."""
    name, _ = await run.person()
    email = f"{name.lower()}@example.org"
    user = (await run.place.store.find(USERS, {"login_key": name})).records[0]
    keys = {"email_key": email, "address_key": email}
    proven = {"email": Email(address=email, is_verified=True)} | keys
    await run.place.store.commit(Update(USERS, user.id, set=proven))
    return name, email


async def a_forgotten_password_is_replaced(run: Run) -> None:
    """By the code of a mail, of which there is one; and the sign-in goes on."""
    run.is_safe_from_here()
    party, (name, email) = await stories.registered(run), await reachable(run)
    page = await stories.at_password(run, party, name)
    page = await run.get(link_to(page, "/ui/login/reset"))
    run.is_in_danger_from_here()
    page = await run.submit(page, loginName=name)
    page = await run.get(page.location)
    assert page.name == "reset-code", page.text
    (mail,) = await mails(run.browser, email)
    page = await run.submit(page, code=mail["code"])
    page = await run.browser.follow(page)
    assert page.name == "change-password", page.text
    page = await stories.signed_in(run, page, name, newPassword=NEW_PASSWORD)
    code = await stories.code_of(run, party, page)
    run.is_safe_from_here()
    await stories.redeemed(run, party, code)
    assert len([one for one in await mails(run.browser, email) if one.get("code")]) == 1


async def a_reset_link_is_used(run: Run) -> None:
    """In a browser that knows nothing of the sign-in; it opens one session."""
    run.is_safe_from_here()
    party, (name, email) = await stories.registered(run), await reachable(run)
    page = await stories.at_password(run, party, name)
    page = await run.browser.open(link_to(page, "/ui/login/reset"))
    await run.browser.submit(page, loginName=name)
    link = (await mails(run.browser, email))[0]["url"]
    run.browser.cookies.clear()
    page = await run.browser.open(link)
    run.is_in_danger_from_here()
    await stories.signed_in(run, page, name, newPassword=NEW_PASSWORD)
    run.is_safe_from_here()
    spent = await run.browser.open(link)
    page = await run.browser.sign_in(party.authorize_url(prompt="login"), name, NEW_PASSWORD)

    assert spent.status == 410
    await stories.redeemed(run, party, page.answer["code"])
