"""That a barrier would be found, and a page that no state leads to.

What the service sent is shown again from a copy, to axe without the page's own script, light and
narrow, and with it, dark and wide.
"""

from tests.browser.pages.looking import NARROW, WIDE, barriers, look_again, overflows

ACTIVE = "document.activeElement.id"


def test_axe_would_find_a_barrier(looker):
    looker.page.set_content("<p style='color: #aaa; background: #bbb'>Pale</p><input>")

    found = " ".join(barriers(looker.page))

    assert "color-contrast: <p" in found
    assert "label: <input" in found


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
    assert person.page.evaluate(ACTIVE) == "newPassword"
    person.fill(newPassword="a long and quiet afternoon")
    person.press("Save the new password")
    assert person.name == "demo"


def look_at(person, looker, html):
    assert not overflows(person.page)
    for with_script, scheme, size in [(False, "light", NARROW), (True, "dark", WIDE)]:
        seen = {"with_script": with_script, "scheme": scheme, "size": size}
        assert look_again(looker, person.page.url, html, **seen) == [], seen
