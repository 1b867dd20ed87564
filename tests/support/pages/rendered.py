"""Pages, rendered from samples, and a strict reader of their HTML."""

from __future__ import annotations

from html.parser import HTMLParser

from handlers.pages import rendering
from idp.foundation import i18n
from tests.support.pages import page_samples

VOID = {"meta", "link", "img", "input", "br", "source"}


class Page(HTMLParser):
    """The elements of a page in order, each with its attributes and its text."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.mistakes = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.mistakes.append(f"<{tag}> has an attribute twice")
        element = {"tag": tag, "text": "", **dict(attrs)}
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop()["tag"] != tag:
            self.mistakes.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, *tags):
        return [element for element in self.elements if element["tag"] in tags]

    def one(self, tag):
        (element,) = self.all(tag)
        return element

    def named(self, name):
        return [element for element in self.elements if element.get("name") == name]

    def shape(self):
        return [
            (element["tag"], sorted(element.keys() - {"tag", "text"})) for element in self.elements
        ]


def as_it_is(text):
    return text


def rendered(name, tag="en", said=as_it_is, **more):
    values = {**page_samples.pages(said)[name], **page_samples.common(said), **more}
    return rendering.render(name, i18n.load(tag), **values)


def quiet(name, **more):
    """The page in its initial state, without problems."""
    return Page(rendered(name, problems=[], notice=None, retry_seconds=None, **more))


def bare(name, tag="en"):
    return rendering.render(name, i18n.load(tag), **page_samples.BARE[name])
