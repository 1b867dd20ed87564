"""Every page in every way in which users may meet it."""

from __future__ import annotations

import re
from itertools import combinations, product
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.browser import states
from tests.browser.pages.looking import REACHABLE, barriers, overflows, show
from tests.browser.pages.matrix import (
    EVERY,
    SIZES,
    USUAL_STATES,
    by_default,
    every_page,
    is_console,
    six,
)

# On the wire, without headers: the page and its files, but for what is the organization's own.
BYTES = """() => performance.getEntries()
    .filter((each) => "encodedBodySize" in each && !each.name.includes("/ui/brand/"))
    .reduce((sum, each) => sum + each.encodedBodySize, 0)"""
FOCUSED = "() => Number(document.activeElement.dataset.n ?? -1)"
PROBLEM = ":is(.summary, [aria-invalid], fieldset):focus"
# What users read, but for code: there are no durations and instants as programs write them.
TEXTS = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) {
        if (!walker.currentNode.parentElement.closest("code, pre, script, textarea"))
            texts.push(walker.currentNode.data);
    }
    return texts.join("\\n");
}"""
RAW = re.compile(r"\d+h\d+m|\d{4}-\d\d-\d\dT")


def most_bytes(page):
    if page.startswith("docs"):  # which show the whole API
        return 1_000_000
    if page.startswith("console"):
        return 40_000
    return 30_000 if page.startswith(("account", "demo")) else 25_000


def test_every_state_meets_every_value_and_a_run_all_pairs():
    pairs = set()
    for n in range(len(states.STATES)):
        ways = six(n)
        for at in range(4):
            assert {way[at] for way in ways} == {way[at] for way in EVERY}
        assert len(set(ways)) == 6
        for way in by_default(n) if n in USUAL_STATES else []:
            pairs |= {(one, other, way[one], way[other]) for one, other in PLACES}

    values = [{way[at] for way in EVERY} for at in range(4)]
    wanted = {
        (one, other, *pair)
        for one, other in PLACES
        for pair in product(values[one], values[other])
    }
    assert pairs == wanted


PLACES = list(combinations(range(4), 2))


@every_page()
def test_a_page_is_for_everybody(new_person, looker, signed_in, state, ways):
    person, html = None, None
    for way in ways:
        other = None if person is None else in_language(person, state, way)
        if other is None:
            person, html = met(new_person, signed_in, state, way)
        else:
            html = other
        look(person, looker, html, state, way)
    if person is not None:
        places = tabbed(person.page)
        back = sum(after < before for before, after in zip(places, places[1:], strict=False))
        assert back <= 1, places


def met(new_person, signed_in, state, way):
    """A browser that was led to the state, and the HTML of the page as it was sent."""
    who, _, _, go = states.STATES[state]
    person = new_person(scripts=way.has_scripts, locale=way.language, storage_state=signed_in[who])
    person.sent, person.elsewhere = [], asked_elsewhere(person)
    person.page.on("response", lambda each: person.sent.append(each) if is_page(each) else None)
    prepare(person, way)
    go(person)
    return person, html_of(person)


def html_of(person):
    """The page as it was sent to a browser without scripts. One with scripts may have left it."""
    return "" if person.has_scripts else person.sent[-1].text()


def is_page(response):
    return response.request.is_navigation_request() and response.frame.parent_frame is None


def in_language(person, state, way):
    """The HTML of the same page in the language of the way, as its link leads there; None where
    the page is the answer to a form, or another one is there by now."""
    _, name, is_problem, _ = states.STATES[state]
    if is_problem or person.status != 200:
        return None
    parts = urlsplit(person.page.url)
    query = [pair for pair in parse_qsl(parts.query) if pair[0] != "lang"]
    prepare(person, way)
    person.page.goto(parts._replace(query=urlencode([*query, ("lang", way.language)])).geturl())
    return html_of(person) if (person.name, person.status) == (name, 200) else None


def prepare(person, way):
    person.page.set_viewport_size(SIZES[way.size])
    person.page.emulate_media(**way.media)


def look(person, looker, html, state, way):
    _, name, is_problem, _ = states.STATES[state]
    page = person.page

    assert person.name == name
    assert page.locator("html").get_attribute("lang") == way.language
    if is_problem:
        page.wait_for_selector(PROBLEM)
        assert way.language != "en" or page.title().startswith("Error: ")
    else:
        assert not page.title().startswith("Error: ")
    assert person.elsewhere == []
    assert 0 < page.evaluate(BYTES) < most_bytes(name)
    assert page.locator("h1").count() == 1
    assert is_console(name) or page.locator("[data-kind=primary]:visible").count() <= 1
    assert not overflows(page), way
    assert name.startswith("docs") or not RAW.search(page.evaluate(TEXTS))
    shown = person if way.has_scripts else shown_again(looker, page.url, html, way)
    assert barriers(shown.page) == [], way


def shown_again(looker, url, html, way):
    """A page that was sent to a browser without scripts, before axe, which is one."""
    prepare(looker, way)
    show(looker, url, html, with_script=False)
    return looker


def tabbed(page):
    """The places in the document of what the Tab key goes to, from where the focus is: in the
    document's order, but for one step from its end to its beginning."""
    indices = page.evaluate(REACHABLE)
    assert not [index for index in indices if index > 0], "an order of its own"
    places = []
    for _ in range(min(len(indices), 12)):
        page.keyboard.press("Tab")
        places.append(page.evaluate(FOCUSED))
    return [place for place in places if place >= 0]


def asked_elsewhere(person):
    """The addresses of others that the pages of this browser load files from, once they have."""
    own, found = urlsplit(person.program.issuer).port, []

    def see(request):
        parts = urlsplit(request.url)
        is_file = not request.is_navigation_request() and parts.scheme in ("http", "https")
        if is_file and parts.port != own:
            found.append(request.url)

    person.page.on("request", see)
    return found
