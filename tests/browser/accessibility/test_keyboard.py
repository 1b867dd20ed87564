"""What a user without a mouse meets on a page, and one whose pointer or focus only passes by."""

from __future__ import annotations

import re
import string
from importlib import resources

import pytest

from tests.browser.accessibility import probes, visits
from tests.browser.pages.looking import REACHABLE

# The events that scripts may wait for: those of a finished click or a sent form, of a changed
# checkbox, of text that is typed, of a single key, and of a page that is shown again.
KNOWN_EVENTS = {"change", "click", "submit", "input", "keydown", "pageshow"}
STATIC = resources.files("templates") / "static"
EVENT = re.compile(r"""addEventListener\(\s*["'](\w+)|\bon(\w+)\s*=[^=]""")


def walk(page):
    """Press Tab once more than there are places to go to; how many these are, and where the focus
    was each time."""
    count = len(page.evaluate(REACHABLE))
    stops = []
    for _ in range(count + 1):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(probes.STOP))
    return count, [stop for stop in stops if stop["place"] >= 0]


@pytest.fixture(scope="package")
def walked(visit):
    """The walk through a page in a narrow window."""
    before = visit.page.url
    visit.page.set_viewport_size(visits.NARROW)
    result = walk(visit.page)
    assert visit.page.url == before
    return result


def test_the_tab_key_goes_everywhere_in_order_and_out_again(walked, page):
    """2.1.1, 2.1.2, 2.4.3, 3.2.1: every control, as it comes in the document, and the page stays
    the same."""
    count, stops = walked
    places = [stop["place"] for stop in stops]

    assert set(places) == set(range(count))
    assert [a for a, b in zip(places, places[1:], strict=False) if b <= a] in ([], [count - 1])
    assert page.evaluate(probes.ONLY_FOR_MICE) == []


def test_what_has_the_focus_is_outlined_and_in_sight(walked):
    """2.4.7 and 2.4.11."""
    _, stops = walked

    assert stops
    assert [stop["what"] for stop in stops if not stop["isOutlined"]] == []
    assert [stop["what"] for stop in stops if not stop["isSeen"]] == []


def test_a_hidden_focus_and_a_shortcut_would_be_found(looker):
    looker.page.set_content(
        "<button style='outline: none'>Hidden</button>"
        "<div style='position: fixed; inset: 0; background: white'></div>"
        "<span style='cursor: pointer'>For mice</span>"
        "<script>onkeyup = (event) => { document.title = event.key; };</script>"
    )
    looker.page.evaluate(probes.TYPE, "?")
    title = looker.page.title()
    _, stops = walk(looker.page)

    assert (stops[0]["isOutlined"], stops[0]["isSeen"]) == (False, False)
    assert len(looker.page.evaluate(probes.ONLY_FOR_MICE)) == 1
    assert title == "?"


def test_nothing_appears_by_a_pointer_or_a_focus_that_passes(page):
    """1.4.13: there is no content that is shown only on hover or focus."""
    count = len(page.evaluate(REACHABLE))
    before = page.evaluate(probes.VISIBLE)

    for n in range(count):
        x, y = page.evaluate(probes.FOCUS_ON, n)
        page.mouse.move(x, y)
        assert page.evaluate(probes.VISIBLE) == before, n
    page.mouse.move(0, 0)


def test_a_single_character_does_nothing(page):
    """2.1.4."""
    before = page.url, page.content()

    page.evaluate(probes.TYPE, string.ascii_letters + string.digits + string.punctuation)

    assert (page.url, page.content()) == before


def test_a_change_of_a_field_sends_nothing(page):
    """3.2.2."""
    sent, before = [], page.url

    def note(request):
        sent.append(request.url)

    page.on("request", note)
    for control in page.locator("input:visible, select:visible, textarea:visible").all():
        kind = control.evaluate("one => one.type")
        if kind in ("checkbox", "radio"):
            control.click(force=True)
        elif kind == "select-one":
            control.press("ArrowDown")
        elif kind not in ("file", "color") and control.is_editable():
            control.fill("2")
            control.press("Tab")
    page.remove_listener("request", note)

    assert sent == []
    assert page.url == before


def test_scripts_wait_for_finished_clicks_and_typed_text_alone():
    """2.5.1, 2.5.2, 2.5.4, 2.5.7: no path, press, motion or drag does anything."""
    scripts = [each for each in STATIC.iterdir() if each.name.endswith(".js")]
    found = {
        name
        for script in scripts
        for names in EVENT.findall(script.read_text())
        for name in names
        if name
    }

    assert len(scripts) >= 2
    assert found == KNOWN_EVENTS
