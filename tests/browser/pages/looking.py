"""How a page is looked at: as it was sent, again from a copy, with axe, and for what overflows."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe

AXE = Axe()
NARROW = {"width": 320, "height": 640}
WIDE = {"width": 1200, "height": 800}
# What the Tab key reaches, in the order of the document.
REACHABLE = """() => [...document.querySelectorAll(
        "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
    .filter((each) => !each.disabled && each.checkVisibility({visibilityProperty: true}))
    .filter((each) => each.type !== "radio" || each.checked
        || !document.querySelector(`input[name="${each.name}"]:checked`))
    .map((each, n) => { each.dataset.n = n; return each.tabIndex; })"""


def show(person, url, html, *, with_script):
    """The HTML at the page's own address, with the stylesheet and perhaps the script.

    Not with it where it would leave the page at once: only who has no scripts sees that one.
    """
    person.context.unroute_all()
    if not with_script or 'data-page="form-post"' in html:
        person.context.route("**/page.*.js", lambda route: route.abort())
    answer = {"body": html, "content_type": "text/html; charset=utf-8"}
    person.page.route(url, lambda route: route.fulfill(**answer))
    person.page.goto(url)
    person.page.unroute_all()


def barriers(page):
    """What axe finds: the rule, the element and what is wrong with it."""
    return [
        f"{violation['id']}: {node['html']} {node['failureSummary']}"
        for violation in AXE.run(page).response["violations"]
        for node in violation["nodes"]
    ]


def overflows(page):
    """Whether the page has to be scrolled sideways."""
    return page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


def look_again(looker, url, html, *, with_script, scheme, size):
    """What axe finds in the HTML under these circumstances, whatever was emulated before."""
    looker.page.set_viewport_size(size)
    looker.page.emulate_media(color_scheme=scheme, forced_colors="none")
    show(looker, url, html, with_script=with_script)
    return barriers(looker.page)
