"""Steps of a sign-in that several test modules take, and what they look at in a page."""

from __future__ import annotations

from html.parser import HTMLParser

ADMIN_PASSWORD = "a long and quiet afternoon"


class Seen(HTMLParser):
    """The elements of a page, and the words of its `<main>`."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.words, self._open = [], [], []
        self.feed(page.text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if "main" in self._open:
            self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def one(self, tag):
        (attributes,) = self.all(tag)
        return attributes

    @property
    def links(self):
        """Where the page leads, but to another place on it and to itself in another language."""
        return [
            a["href"]
            for a in self.all("a")
            if not a["href"].startswith("#") and "hreflang" not in a
        ]


def text_of(page):
    """The visible text of the page's main part."""
    return Seen(page).text


def shape(page):
    """The names that scripts rely on: the page, its inputs and its buttons."""
    return page.name, list(page.inputs), page.buttons


def leads_on(page):
    """Whether the page has a link, or a step with something to press."""
    seen = Seen(page)
    return bool(seen.links) or any(form.get("id") == "step" for form in seen.all("form"))


def without_secrets(page, *typed):
    """The page's text with the form's token and what was typed taken out."""
    text = page.text
    for value in (page.hidden["token"], *typed):
        text = text.replace(value, "…")
    return text


async def at_password(visitor, party, login_name, **changes):
    """The password page of a new sign-in."""
    page = await visitor.open(party.authorize_url(**changes))
    if page.name == "accounts":
        page = await visitor.submit(page, account="other")
    page = await visitor.submit(page, loginName=login_name)
    assert page.name == "password", page.text
    return page


def account_of(page, login_name):
    """The value of the person's button, found as a person finds it."""
    before = page.text.split(f">{login_name}<")[0]
    return before.rsplit('name="account" value="', 1)[1].split('"')[0]


async def at_change(visitor, party, admin, **changes):
    """The page that asks the administrator for a password of their own."""
    page = await visitor.sign_in(party.authorize_url(**changes), admin.login_name, admin.password)
    assert page.name == "change-password", page.text
    return page


async def cancel(visitor, page):
    return await visitor.submit(page, decision="cancel")
