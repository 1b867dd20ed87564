"""What a restless person does, by chance. Another action is a function and a line in ACTIONS."""

from __future__ import annotations

from urllib.parse import urlsplit

from tests.support.browsers.visitor import Page
from tests.support.sign_in.registering import FIELDS
from tests.walks import mailbox
from tests.walks.walk import HTML, Walk, looked_at
from tests.walks.ways import WAYS, forward

PATHS = [
    "/ui/login",
    *(f"/ui/login/{name}" for name in ("name", "password", "accounts", "change-password")),
    *(f"/ui/login/{name}" for name in ("register", "verify-email", "user-name")),
    *(f"/ui/login/{name}" for name in ("reset", "reset-code", "consent")),
    *(f"/ui/login/{name}" for name in ("factor", "totp", "recovery-code", "totp-enrol")),
]
TYPED = ["", " ", "nobody", "demo", "x" * 201, "\0", "٠١٢٣", "12345678", "<svg onload=alert(1)>"]


async def begin(walk: Walk) -> Page:
    wishes = {
        "prompt": walk.chance.choice([None, None, "login", "select_account", "create"]),
        "ui_locales": walk.chance.choice([None, "de", "ar", "xx"]),
        "login_hint": walk.chance.choice([None, walk.person.email, "nobody@example.org"]),
    }
    return await walk.get(walk.party.authorize_url(**wishes))


async def reload(walk: Walk) -> Page:
    return await walk.get(walk.page.url)


async def go_back(walk: Walk) -> None:
    """The browser shows what it has kept, and asks for nothing."""
    if len(walk.tab.pages) > 1:
        walk.tab.pages.pop()


async def another_tab(walk: Walk) -> Page:
    address = walk.page.url
    walk.open_tab(walk.tab.browser)
    return await walk.get(address)


async def switch_tab(walk: Walk) -> None:
    walk.tab = walk.chance.choice([tab for tab in walk.tabs if tab.pages])


async def other_browser(walk: Walk) -> Page:
    """The address is opened where it was not meant to be."""
    address = walk.page.url
    walk.open_tab(_other(walk))
    return await walk.get(address)


async def lose_cookies(walk: Walk) -> None:
    walk.tab.browser.cookies.clear()


async def wait(walk: Walk) -> None:
    walk.server.clock.advance(walk.chance.choice([1, 61, 601, 1801, 3601, 90_000]))


async def switch_language(walk: Walk) -> Page:
    address = urlsplit(walk.page.url)
    pairs = [pair for pair in address.query.split("&") if pair and not pair.startswith("lang=")]
    pairs.append(f"lang={walk.chance.choice(['de', 'ar', 'en', 'xx'])}")
    return await walk.get(f"{address.path}?{'&'.join(pairs)}")


async def go_forward(walk: Walk) -> Page | None:
    return await forward(walk, walk.page) if walk.page.name in WAYS else None


async def type_nonsense(walk: Walk) -> Page:
    fields = {name: walk.chance.choice(TYPED) for name in walk.page.inputs}
    return await walk.send(walk.page, fields)


async def press_something(walk: Walk) -> Page | None:
    if not walk.page.buttons:
        return None
    return await walk.press(walk.page, *walk.chance.choice(walk.page.buttons))


async def follow_a_link(walk: Walk) -> Page | None:
    links = [link for link in looked_at(walk.page).links if _is_ours(walk, link)]
    return await walk.get(walk.chance.choice(links)) if links else None


async def send_an_old_form(walk: Walk) -> Page | None:
    """From any tab of this browser, as if it were the newest."""
    mine = [tab for tab in walk.tabs if tab.browser is walk.tab.browser]
    old = [page for tab in mine for page in tab.pages if page.hidden]
    if not old:
        return None
    page = walk.chance.choice(old)
    known = {"loginName": walk.person.login_name, "password": walk.person.password}
    return await walk.send(page, known if "password" in page.inputs else page.inputs)


async def send_a_form_elsewhere(walk: Walk) -> Page:
    """One browser's form out of the other."""
    page = walk.page
    walk.open_tab(_other(walk))
    return await walk.send(page, page.inputs)


async def another_step(walk: Walk) -> Page:
    address = urlsplit(walk.page.url)
    return await walk.get(f"{walk.chance.choice(PATHS)}?{address.query}")


async def register(walk: Walk) -> Page | None:
    if walk.page.name != "register" or "email" not in walk.page.inputs:
        return None
    who = walk.chance.choice([walk.person.email, f"new-{walk.chance.getrandbits(40)}@example.org"])
    return await walk.send(walk.page, FIELDS | {"email": who})


async def forget_the_password(walk: Walk) -> Page | None:
    links = [link for link in looked_at(walk.page).links if "/ui/login/reset" in link]
    if walk.page.name == "reset":
        return await walk.send(walk.page, {"loginName": walk.person.login_name})
    return await walk.get(links[0]) if links else None


async def open_a_mail(walk: Walk) -> Page | None:
    """The newest mail's link, here or in the other browser."""
    letter = await mailbox.newest(walk, walk.person.email)
    if letter is None or letter.url is None:
        return None
    walk.open_tab(walk.chance.choice([walk.tab.browser, _other(walk)]))
    return await walk.get(letter.url)


async def type_a_code(walk: Walk) -> Page | None:
    letter = await mailbox.newest(walk, walk.person.email)
    if letter is None or "code" not in walk.page.inputs:
        return None
    return await walk.send(walk.page, {"code": letter.code})


async def look_at_the_account(walk: Walk) -> Page:
    """Pages of the service's own, to which another sign-in leads."""
    pages = ["/ui/account", "/ui/account/password", "/ui/console", "/.well-known/change-password"]
    return await walk.get(walk.chance.choice(pages))


async def sign_out(walk: Walk) -> Page:
    page = await walk.get("/oidc/v1/end_session")
    return await walk.press(page, "decision", "logout") if page.name == "logout-confirm" else page


async def mistype_the_address(walk: Walk) -> Page:
    """An address that is none, or an old one that was cut off or mangled on its way."""
    address = urlsplit(walk.page.url)
    end = walk.chance.randrange(len(address.query) + 1)
    cut = f"{address.path}?{address.query[:end]}"
    nowhere = ["/ui/nowhere", "/ui/login/nowhere", "/ui/login?flow=%", "/ui/reset", "/ui/logout"]
    return await walk.get(walk.chance.choice([cut, cut, *nowhere]))


async def use_another_method(walk: Walk) -> Page:
    method = walk.chance.choice(["PUT", "DELETE", "PATCH"])
    return walk.seen(await walk.tab.browser.request(method, walk.page.url, headers=HTML))


async def send_too_much(walk: Walk) -> Page:
    return await walk.send(walk.page, {"loginName": "x" * 100_000})


async def send_without_the_token(walk: Walk) -> Page:
    browser = walk.tab.browser
    answer = await browser.post(walk.page.url, walk.page.inputs, headers=HTML)
    return walk.seen(await browser.follow(answer))


def _other(walk: Walk):
    return next(tab.browser for tab in walk.tabs if tab.browser is not walk.tab.browser)


def _is_ours(walk: Walk, link: str) -> bool:
    parts = urlsplit(link)
    return not parts.netloc or link.startswith(walk.server.issuer)


# How often each is done, beside the others.
ACTIONS = {
    begin: 3,
    reload: 2,
    go_back: 3,
    another_tab: 2,
    switch_tab: 2,
    other_browser: 1,
    lose_cookies: 1,
    wait: 2,
    switch_language: 2,
    go_forward: 8,
    type_nonsense: 3,
    press_something: 3,
    follow_a_link: 4,
    send_an_old_form: 2,
    send_a_form_elsewhere: 1,
    another_step: 3,
    register: 2,
    forget_the_password: 4,
    open_a_mail: 3,
    type_a_code: 2,
    look_at_the_account: 1,
    sign_out: 1,
    mistype_the_address: 1,
    use_another_method: 1,
    send_too_much: 1,
    send_without_the_token: 1,
}
