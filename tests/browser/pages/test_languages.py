"""Every page in a language that shows what was never translated."""

import re

import pytest

from idp.foundation import pseudo_locale
from tests.browser import states
from tests.browser.pages.looking import NARROW, overflows
from tests.support.slices import one_in

# What is in nobody's language, or says which one it is in: names, addresses, identifiers.
TEXTS = """() => {
    const data = "title, script, code, pre, bdi, time, textarea, option[dir], .person, .initial,"
        + " [lang]:not(html)";
    const walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
    const texts = [];
    const names = [...document.querySelectorAll("bdi")].map((each) => each.textContent);
    while (walker.nextNode()) {
        if (!walker.currentNode.parentElement.closest(data)) texts.push(walker.currentNode.data);
    }
    for (const name of ["aria-label", "alt", "title", "placeholder"]) {
        for (const element of document.querySelectorAll(`[${name}]:not(time)`)) {
            const label = element.getAttribute(name);
            texts.push(names.reduce((text, shown) => text.replace(shown, ""), label));
        }
    }
    return texts.map((text) => text.trim()).filter((text) => text);
}"""


@pytest.mark.parametrize("state", one_in(4, states.STATES, first=1))
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
