"""How a page is looked at: as it was sent, again from a copy, with axe, and for what overflows."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe

AXE = Axe()
COLOURS = [
    "color-contrast",
    "link-in-text-block",
]  # what axe finds in one scheme and not the other
NARROW = {"width": 320, "height": 640}
WIDE = {"width": 1200, "height": 800}


def reach(go, person):
    """Go there; the HTML as it was sent."""
    sent = []
    person.page.on("response", lambda each: sent.append(each) if is_of_page(each) else None)
    go(person)
    return sent[-1].text()


def is_of_page(response):
    """Whether it is what the whole page is made of, and not a file of it or a frame."""
    return response.request.is_navigation_request() and response.frame.parent_frame is None


def show(person, url, html, *, with_script):
    """The HTML at the page's own address, with the stylesheet and perhaps the script.

    Not with it where it would leave the page at once: only who has no scripts sees that one.
    """
    person.context.unroute_all()
    if not with_script or 'data-page="form-post"' in html:
        person.context.route("**/page.js", lambda route: route.abort())
    answer = {"body": html, "content_type": "text/html; charset=utf-8"}
    person.page.route(url, lambda route: route.fulfill(**answer))
    person.page.goto(url)
    person.page.unroute_all()


def barriers(page, only=None):
    """What axe finds: the rule, the element and what is wrong with it; by these rules, or all."""
    options = {"runOnly": only} if only else None
    return [
        f"{violation['id']}: {node['html']} {node['failureSummary']}"
        for violation in AXE.run(page, options=options).response["violations"]
        for node in violation["nodes"]
    ]


def overflows(page):
    """Whether the page has to be scrolled sideways."""
    return page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


def look_again(looker, url, html, *, with_script, scheme, size):
    """What axe finds in the HTML under these circumstances."""
    looker.page.set_viewport_size(size)
    looker.page.emulate_media(color_scheme=scheme)
    show(looker, url, html, with_script=with_script)
    return barriers(looker.page)
