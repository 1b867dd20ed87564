"""Every page of the login domain in every way in which people may meet it."""

from __future__ import annotations

from urllib.parse import urlsplit

from tests.browser import states
from tests.browser.looking import COLOURS, barriers, overflows, reach, show
from tests.browser.matrix import EVERY, SIZES, every_page, pages, pairwise

HEAVIEST = (
    30_000  # bytes of a page with all that it loads, but for a logo of the organization's own
)

# What the Tab key reaches, in the order of the document.
REACHABLE = """() => [...document.querySelectorAll(
        "a[href], button, input:not([type=hidden]), select, textarea, summary")]
    .filter((each) => !each.disabled && each.checkVisibility({visibilityProperty: true}))
    .filter((each) => each.type !== "radio" || each.checked
        || !document.querySelector(`input[name="${each.name}"]:checked`))
    .map((each, n) => { each.dataset.n = n; return each.tabIndex; })"""
# The page and its files, but for what is the organization's own.
BYTES = """() => performance.getEntries()
    .filter((each) => "decodedBodySize" in each && !each.name.includes("/ui/brand/"))
    .reduce((sum, each) => sum + each.decodedBodySize, 0)"""
FOCUSED = "() => Number(document.activeElement.dataset.n ?? -1)"


def test_each_page_meets_each_way_in_some_pair():
    for n in range(len(pages())):
        ways = pairwise(n)
        assert {way.language for way in ways} == {way.language for way in EVERY}
        for one in range(1, 4):
            for other in range(one + 1, 4):
                assert len({(way[one], way[other]) for way in ways}) == 4


@every_page()
def test_a_page_is_for_everybody(new_person, looker, signed_in, state, ways):
    who, name, is_problem, go = states.STATES[state]
    language, has_scripts = ways[0][:2]
    person = new_person(
        scripts=has_scripts,
        locale=language,
        viewport=SIZES[ways[0].size],
        color_scheme=ways[0].scheme,
        storage_state=signed_in[who],
    )
    elsewhere = asked_elsewhere(person)
    html = go(person) if has_scripts else reach(go, person)

    assert person.name == name
    assert person.page.locator("html").get_attribute("lang") == language
    assert person.page.title().startswith("Error: ") <= (is_problem or language != "en")
    if is_problem:
        person.page.wait_for_selector(".summary:focus")
    assert elsewhere == []
    assert 0 < person.page.evaluate(BYTES) < HEAVIEST
    shown = person if has_scripts else shown_again(looker, person.page.url, html)
    looked_at = set()
    for way in ways:
        for each in (person, shown):
            each.page.set_viewport_size(SIZES[way.size])
            each.page.emulate_media(color_scheme=way.scheme)
        assert not overflows(person.page), way
        only = COLOURS if way.size in looked_at else None
        assert barriers(shown.page, only) == [], way
        looked_at.add(way.size)
    places = tabbed(person.page)
    assert sum(after < before for before, after in zip(places, places[1:], strict=False)) <= 1, (
        places
    )


def shown_again(looker, url, html):
    """A page that was sent to who has no scripts, before axe, which is one."""
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
