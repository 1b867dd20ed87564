"""Every page in Chromium: no barrier that axe finds, no sideways scroll, the focus where it helps.

A page is reached without scripts. What the service sent is then shown again from a copy, to axe
without the page's own script, light and narrow, and with it, dark and wide.
"""

from tests.browser import states
from tests.browser.looking import NARROW, WIDE, barriers, look_again, overflows, reach
from tests.browser.looks import every_state

ACTIVE = "document.activeElement.className || document.activeElement.id"


def test_axe_would_find_a_barrier(looker):
    looker.page.set_content("<p style='color: #aaa; background: #bbb'>Pale</p><input>")

    found = " ".join(barriers(looker.page))

    assert "color-contrast: <p" in found
    assert "label: <input" in found


@every_state("as it is")
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
    person.sign_in(program.announcement["admin"]["loginName"], one_time_password())
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
    assert not overflows(person.page)
    for with_script, scheme, size in [(False, "light", NARROW), (True, "dark", WIDE)]:
        seen = {"with_script": with_script, "scheme": scheme, "size": size}
        assert look_again(looker, person.page.url, html, **seen) == [], seen
