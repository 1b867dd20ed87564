"""A page in a state, met once for all tests of this package."""

from __future__ import annotations

import pytest

from tests.browser import states
from tests.browser.accessibility import visits
from tests.browser.person import Person


@pytest.fixture(scope="package", params=visits.every_state())
def visit(request, chromium, program, signed_in):
    """Somebody at a page in that state, in a narrow window. No test may leave the page."""
    who, name, _, go = states.STATES[request.param]
    person = Person(
        chromium, program, locale="en", viewport=visits.NARROW, storage_state=signed_in[who]
    )
    try:
        go(person)
        assert person.name == name
        yield person
        assert person.complaints == []
    finally:
        person.context.close()


@pytest.fixture
def page(visit):
    """The page as it was at first: in the narrow window, at its top, with its own styles."""
    page = visit.page
    page.set_viewport_size(visits.NARROW)
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    yield page
    page.evaluate("() => { document.adoptedStyleSheets = []; }")
