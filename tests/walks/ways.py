"""What somebody sensible does at each page to get signed in. Another page is a line in WAYS."""

from __future__ import annotations

from tests.support.browsers.visitor import Page
from tests.support.sign_in import factors
from tests.walks import mailbox
from tests.walks.walk import Walk, link_to, looked_at

TOO_MANY = 429


async def forward(walk: Walk, page: Page) -> Page:
    """One step on; who is told to wait waits."""
    if page.status == TOO_MANY:
        walk.server.clock.advance(int(page.headers["Retry-After"]) + 1)
    way = WAYS.get(page.name.partition("/")[0])
    if way is None:
        walk.fail(f"nobody has said what to do at {page.name} {page.url}")
    return await way(walk, page)


async def tell_name(walk: Walk, page: Page) -> Page:
    return await walk.send(page, {"loginName": walk.person.login_name})


async def enter_password(walk: Walk, page: Page) -> Page:
    if page.inputs.get("loginName") not in (walk.person.login_name, walk.person.email):
        return await walk.get(link_to(page, "/ui/login/name"))
    return await walk.send(page, {"password": walk.person.password})


async def another_account(walk: Walk, page: Page) -> Page:
    return await walk.send(page, {"account": "other"})


async def choose_password(walk: Walk, page: Page) -> Page:
    chosen = walk.person.next_password()
    answer = await walk.send(page, {"newPassword": chosen})
    if answer.name not in ("change-password", "expired"):
        walk.person.password = chosen
    return answer


async def enter_code(walk: Walk, page: Page) -> Page:
    """The code of the mail that has just come; without one, what the page offers otherwise."""
    mail = await mailbox.newest(walk, walk.person.email)
    remembers = link_to(page, "/ui/login/password", "/ui/login/name", "/ui/login")
    if mail is None or walk.chance.random() < 0.5:
        return await walk.get(remembers or "/")
    answer = await walk.send(page, {"code": mail.code})
    return answer if answer.name != page.name else await walk.get(remembers or "/")


async def show_the_app(walk: Walk, page: Page) -> Page:
    """A code counts once: the person waits for the next one."""
    walk.server.clock.advance(30)
    return await walk.send(page, {"code": factors.code(walk.server.clock)})


async def take_the_app(walk: Walk, page: Page) -> Page:
    found = link_to(page, "/ui/login/totp")
    return await walk.get(found or walk.fail(f"no way to the app\n{page.text}"))


async def not_now(walk: Walk, page: Page) -> Page:
    return await walk.send(page, {"decision": "skip"})


async def to_the_sign_in(walk: Walk, page: Page) -> Page:
    found = link_to(page, "/ui/login/name", "/ui/login/password", "/ui/login")
    return await walk.get(found or walk.fail(f"no way to the sign-in\n{page.text}"))


async def start_again(walk: Walk, page: Page) -> Page:
    """The button that the page offers first, else its first link."""
    seen = looked_at(page)
    buttons = [a["href"] for a in seen.all("a") if "button" in a.get("class", "")]
    return await walk.get((buttons or seen.links)[0])


async def to_the_application(walk: Walk, page: Page) -> Page:
    found = link_to(page, "/demo/sign-in", "/demo", "/")
    return await walk.get(found or walk.fail(f"no way to the application\n{page.text}"))


async def stay(walk: Walk, page: Page) -> Page:
    return await walk.send(page, {"decision": "stay"})


async def type_again(walk: Walk, page: Page) -> Page:
    """A page that is met by mistake, and is left by the address of the application."""
    return await walk.get(walk.party.authorize_url())


WAYS = {
    "login-name": tell_name,
    "password": enter_password,
    "accounts": another_account,
    "change-password": choose_password,
    "totp": show_the_app,
    "factor": take_the_app,
    "recovery-code": take_the_app,
    "factor-offer": not_now,
    "organization": to_the_sign_in,
    "register": to_the_sign_in,
    "verify-email": to_the_sign_in,
    "user-name": to_the_sign_in,
    "reset": to_the_sign_in,
    "reset-code": enter_code,
    "expired": start_again,
    "error": start_again,
    "explain": type_again,
    "signed-in": to_the_application,
    "demo": to_the_application,
    "logout-confirm": stay,
    "logged-out": to_the_application,
    "held-mail": type_again,
    "passkey": to_the_sign_in,
    "account": type_again,
    "console": type_again,
}
