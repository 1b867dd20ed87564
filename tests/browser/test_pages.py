"""Every page in Chromium: no barrier that axe finds, no sideways scroll, the focus where it helps.

A page is reached without scripts. What the service sent is then shown again from a copy, to axe
without the page's own script, light and narrow, and with it, dark and wide.
"""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser import states
from tests.browser.person import Person

AXE = Axe()
NARROW = {"width": 320, "height": 640}
WIDE = {"width": 1200, "height": 800}
ACTIVE = "document.activeElement.className || document.activeElement.id"


def reach(go, person):
    """Go there; the HTML as it was sent."""
    sent = []
    person.page.on(
        "response", lambda r: sent.append(r) if r.request.is_navigation_request() else 0
    )
    go(person)
    return sent[-1].text()


def show(person, url, html, *, with_script):
    """The HTML at the page's own address, with the stylesheet and perhaps the script."""
    person.context.unroute_all()
    if not with_script:
        person.context.route("**/page.js", lambda route: route.abort())
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


def test_axe_would_find_a_barrier(looker):
    looker.page.set_content("<p style='color: #aaa; background: #bbb'>Pale</p><input>")

    found = " ".join(barriers(looker.page))

    assert "color-contrast: <p" in found
    assert "label: <input" in found


@pytest.fixture(scope="package")
def looker(chromium, program):
    """A browser with scripts, because axe is one."""
    person = Person(chromium, program)
    yield person
    person.context.close()


@pytest.fixture(scope="package")
def signed_in(chromium, program, admin):
    """The cookies of browsers where that many people are signed in, for looking only."""
    person = Person(chromium, program)
    person.sign_in_to_demo()
    one = person.context.storage_state()
    person.context.close()
    person = Person(chromium, program)
    person.sign_in_to_demo()
    person.sign_in_to_demo(*admin, prompt="select_account")
    two = person.context.storage_state()
    person.context.close()
    return {states.NOBODY: None, states.ONE: one, states.TWO: two}


@pytest.mark.parametrize("state", states.STATES)
def test_a_page_has_no_barriers(new_person, looker, signed_in, state):
    who, name, is_problem, go = states.STATES[state]
    person = new_person(scripts=False, viewport=NARROW, storage_state=signed_in[who])
    html = reach(go, person)
    look_at(person, looker, html)

    assert person.name == name
    assert person.page.title().startswith("Error: ") == is_problem
    if is_problem:
        assert person.page.evaluate(ACTIVE) == "summary"


def test_the_choice_of_a_password_has_no_barriers(new_person, looker, program, one_time_password):
    person = new_person(scripts=False, viewport=NARROW)
    person.go("/demo/sign-in")
    person.sign_in(program.told["admin"]["loginName"], one_time_password())
    look_at(person, looker, person.page.content())
    person.fill(newPassword="password")
    person.press("Save the new password")
    look_at(person, looker, person.page.content())

    assert person.name == "change-password"
    assert person.page.title().startswith("Error: ")
    assert person.page.evaluate(ACTIVE) == "summary"
    person.fill(newPassword="a long and quiet afternoon")
    person.press("Save the new password")
    assert person.name == "demo"


def look_at(person, looker, html):
    assert not person.page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    ), "sideways scroll at 320 pixels"
    for with_script, scheme, size in [(False, "light", NARROW), (True, "dark", WIDE)]:
        looker.page.set_viewport_size(size)
        looker.page.emulate_media(color_scheme=scheme)
        show(looker, person.page.url, html, with_script=with_script)
        assert barriers(looker.page) == [], (with_script, scheme, size)
