"""A walk: one person, two browsers with several tabs, and chance.

What can be done is in `actions.py`, what somebody sensible does at a page in `ways.py`. Whatever
is met on the way is looked at here: every answer is a page with one heading and a way forward, or
leads to the application; and from wherever a walk stands, its person gets signed in.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.support.browsers.visitor import Page, Visitor
from tests.support.sign_in.steps import Seen

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
ENOUGH = 25  # steps to get signed in from anywhere
# What a text looks like that was never filled in, or is no text at all.
_RAW = re.compile(r"%\(\w+\)s|\$\{|<%|\bNone\b|Message\(")


class DeadEnd(AssertionError):
    """A page that nobody should meet; it tells the way there."""


@dataclass
class Person:
    """Whose walk it is, with the password of the moment."""

    login_name: str
    email: str
    password: str
    choices: int = 0

    def next_password(self) -> str:
        self.choices += 1
        return f"{self.choices} green kettles hum along"


@dataclass
class Tab:
    """A tab of a browser: what it has shown; the last page is in front."""

    browser: Visitor
    pages: list[Page] = field(default_factory=list)

    @property
    def page(self) -> Page | None:
        return self.pages[-1] if self.pages else None


class Walk:
    """One walk. `story` is what was done."""

    def __init__(self, seed, server, browsers, person: Person) -> None:
        self.chance = random.Random(seed)
        self.seed, self.server, self.person = seed, server, person
        self.party = server.demo()
        self.tabs = [Tab(browser) for browser in browsers]
        self.tab = self.tabs[0]
        self.story: list[str] = []

    @property
    def page(self) -> Page | None:
        return self.tab.page

    def open_tab(self, browser: Visitor) -> None:
        """Another tab of this browser, which is looked at from now on."""
        self.tab = Tab(browser)
        self.tabs.append(self.tab)

    async def get(self, url: str) -> Page:
        return self.seen(await self.tab.browser.open(url, headers=HTML))

    async def send(self, page: Page, fields: dict[str, str]) -> Page:
        """The form of a page as it was shown, with what is typed."""
        browser = self.tab.browser
        answer = await browser.post(page.url, {**page.hidden, **fields}, headers=HTML)
        return self.seen(await browser.follow(answer))

    async def press(self, page: Page, name: str, value: str) -> Page:
        return await self.send(page, {**page.inputs, name: value})

    async def act(self, action) -> None:
        self.story.append(action.__name__)
        page = await action(self)
        if page is not None:
            self.story[-1] += f" -> {page.status} {page.name or page.location}"
            self.tab.pages.append(page)

    def seen(self, page: Page) -> Page:
        """The answer, which is no dead end."""
        if self.is_answer(page):
            return page
        seen = looked_at(page)
        headings = len(seen.all("h1"))
        problems = [
            (not page.headers.get("Content-Type", "").startswith("text/html"), "no page"),
            (page.status >= 500, "a failure"),
            (page.status in range(300, 400), f"leads to {page.location}"),
            (headings != 1, f"{headings} headings"),
            (not leads_on(page, seen), "no way forward"),
            (bool(_RAW.search(seen.text)), "a text that is none"),
        ]
        found = [told for is_so, told in problems if is_so]
        if found:
            self.fail(f"{', '.join(found)} at {page.status} {page.url}\n{page.text}")
        return page

    def is_answer(self, page: Page | None) -> bool:
        """Whether it leads back to the application, with a code or with an error."""
        location = page.location if page else None
        return bool(location) and location.startswith(self.party.redirect_uri)

    def is_signed_in(self, page: Page | None) -> bool:
        return self.is_answer(page) and "code" in page.answer

    async def arrive(self, ways) -> None:
        """Follow the way forward from here until the application has its answer."""
        page = self.page or await self.get(self.party.authorize_url())
        self.story.append("now straight on")
        for _ in range(ENOUGH):
            if self.is_signed_in(page):
                return
            if self.is_answer(page):  # cancelled, or in vain: it begins anew
                page = await self.get(self.party.authorize_url())
            else:
                page = await ways(self, page)
            self.story.append(
                f"{page.status} {page.name or page.location} {urlsplit(page.url).path}"
            )
        self.fail(f"not signed in after {ENOUGH} steps; last {page.url}\n{page.text}")

    def fail(self, told: str) -> None:
        way = "\n  ".join(self.story)
        raise DeadEnd(f"walk {self.seed}\n  {way}\n{told}")


def looked_at(page: Page) -> Seen:
    """The page's elements and words; it is read once."""
    if not hasattr(page, "looks"):
        page.looks = Seen(page)
    return page.looks


def leads_on(page: Page, seen: Seen) -> bool:
    """Whether there is something to press, or a link that leads somewhere."""
    is_step = any(form.get("id") == "step" for form in seen.all("form"))
    return is_step or bool(seen.links)


def link_to(page: Page, *paths: str) -> str | None:
    """The first of the page's links that leads to one of these addresses, the liked best first."""
    for path in paths:
        for link in looked_at(page).links:
            if urlsplit(link).path == path:
                return link
    return None
