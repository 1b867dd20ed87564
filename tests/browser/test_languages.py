"""Every page in a language from right to left, and in one that shows what was never translated."""

import re

from idp.foundation import pseudo_locale
from tests.browser import states
from tests.browser.looking import NARROW, look_again, overflows, reach
from tests.browser.looks import every_state

# What is in nobody's language, or says which one it is in: names, addresses, identifiers.
TEXTS = """() => {
    const data = "title, script, code, pre, bdi, time, textarea, option[dir], .person, .initial,"
        + " [lang]:not(html)";
    const walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) {
        if (!walker.currentNode.parentElement.closest(data)) texts.push(walker.currentNode.data);
    }
    for (const name of ["aria-label", "alt", "title", "placeholder", "data-show"]) {
        for (const element of document.querySelectorAll(`[${name}]`)) {
            texts.push(element.getAttribute(name));
        }
    }
    return texts.map((text) => text.trim()).filter((text) => text);
}"""


@every_state("pseudo-locale")
def test_every_text_can_be_translated_and_has_room_to_grow(new_person, signed_in, state):
    who, name, _, go = states.STATES[state]
    tag = pseudo_locale.TAG
    person = new_person(locale=tag, viewport=NARROW, storage_state=signed_in[who])
    go(person)
    texts = person.page.evaluate(TEXTS)

    assert (person.name, person.page.locator("html").get_attribute("lang")) == (name, tag)
    assert [text for text in texts if re.search("[A-Za-z]", text)] == []
    assert any(pseudo_locale.BEGIN in text for text in texts)
    assert not re.search("[A-Za-z]", title_of(person.page))
    assert not overflows(person.page)


def title_of(page):
    """Without what follows in each, and the names of what it shows."""
    title = page.title().partition(" – ")[0]
    for name in page.locator("h1 bdi").all_inner_texts():
        title = title.replace(name, "")
    return title


@every_state("from right to left")
def test_a_page_from_right_to_left_has_no_barriers(new_person, looker, signed_in, state):
    who, name, _, go = states.STATES[state]
    person = new_person(scripts=False, locale="ar", viewport=NARROW, storage_state=signed_in[who])
    html = reach(go, person)
    seen = {"with_script": True, "scheme": "light", "size": NARROW}

    assert (person.name, person.page.locator("html").get_attribute("dir")) == (name, "rtl")
    assert not overflows(person.page)
    assert look_again(looker, person.page.url, html, **seen) == []


def test_a_page_is_laid_out_from_its_languages_side(new_person):
    """The names of fields and the logo begin at the right, addresses still read to the right."""
    at = "element => element.getBoundingClientRect()"
    sides = {}
    for tag in ("en", "ar"):
        person = new_person(locale=tag, viewport=NARROW)
        states.at_password(person)
        logo, name = (person.page.locator(one) for one in ("header img", "header span"))
        sides[tag] = logo.evaluate(at)["x"] < name.evaluate(at)["x"]
        direction = "element => getComputedStyle(element).direction"
        assert person.page.locator("input[name=loginName]").evaluate(direction) == "ltr"

    assert sides == {"en": True, "ar": False}
