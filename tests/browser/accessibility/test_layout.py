"""Whether a page is whole in a small window, in large text, with wide spacing, and for fingers."""

from __future__ import annotations

import pytest

from tests.browser.accessibility import probes
from tests.browser.pages.looking import overflows

DESK = {"width": 1280, "height": 1024}
# A window of 1280 x 1024 at 400 % has as many CSS pixels.
AT_400_PERCENT = {"width": 320, "height": 256, "deviceScaleFactor": 4, "mobile": False}
# The values of WCAG 2.2, 1.4.12.
SPACED = """* { line-height: 1.5 !important; letter-spacing: 0.12em !important;
    word-spacing: 0.16em !important; } p { margin-block-end: 2em !important; }"""
TWICE_AS_LARGE = "html { font-size: 200% !important; }"
SIZES = [pytest.param({"width": 320, "height": 640}, id="320"), pytest.param(DESK, id="1280")]


def style(page, rules):
    """Give the page a user's own rules, which its Content-Security-Policy does not refuse."""
    page.evaluate(
        """(rules) => {
            const sheet = new CSSStyleSheet();
            sheet.replaceSync(rules);
            document.adoptedStyleSheets = [sheet];
        }""",
        rules,
    )


def assert_whole(page):
    assert not overflows(page)
    assert page.evaluate(probes.CUT_OFF) == []
    assert page.evaluate(probes.OUT_OF_PLACE) == []


def test_a_page_reflows_in_320_pixels_upright_and_across(page):
    """1.4.10, and 1.3.4: no direction of a screen is locked."""
    for height in (640, 256):
        page.set_viewport_size({"width": 320, "height": height})

        assert_whole(page)


def test_a_page_reflows_at_400_percent(visit, page):
    """1.4.10, and 1.4.4."""
    devtools = visit.context.new_cdp_session(page)
    devtools.send("Emulation.setDeviceMetricsOverride", AT_400_PERCENT)

    try:
        assert page.evaluate("devicePixelRatio") == 4
        assert_whole(page)
    finally:
        devtools.send("Emulation.clearDeviceMetricsOverride")
        devtools.detach()


def test_a_page_is_whole_with_text_of_twice_the_size(page):
    """1.4.4; 11.7: the font size of the browser's settings."""
    page.set_viewport_size(DESK)
    size = page.locator("main").evaluate("one => parseFloat(getComputedStyle(one).fontSize)")
    style(page, TWICE_AS_LARGE)

    larger = page.locator("main").evaluate("one => parseFloat(getComputedStyle(one).fontSize)")
    assert larger == 2 * size
    assert_whole(page)


@pytest.mark.parametrize("size", SIZES)
def test_a_page_is_whole_with_the_spacing_of_a_reader(page, size):
    """1.4.12."""
    page.set_viewport_size(size)
    style(page, SPACED)

    assert_whole(page)


def test_what_is_cut_off_or_over_each_other_would_be_found(looker):
    looker.page.set_content(
        "<div style='width: 40px; overflow: hidden'>Incomprehensibility</div>"
        "<p>First</p><p style='margin-top: -2.2em'>Second</p>"
        "<table style='table-layout: fixed; width: 20px'><td>Incomprehensibility</td></table>"
    )

    assert len(looker.page.evaluate(probes.CUT_OFF)) == 1
    found = looker.page.evaluate(probes.OUT_OF_PLACE)
    assert "over each other: First | Second" in found
    assert "out of its box: Incomprehensibility" in found


def test_a_target_has_24_pixels(page):
    """2.5.8."""
    assert page.evaluate(probes.SMALL_TARGETS) == []


def test_a_small_target_would_be_found(looker):
    small = "<a href='#' style='display: inline-block; font: 8px/10px serif'>Me</a>"
    looker.page.set_content(f"{small} {small}<p>Words and <a href='#'>a link</a>.</p>")

    assert len(looker.page.evaluate(probes.SMALL_TARGETS)) == 2


def test_a_page_is_text_controls_and_known_pictures(page):
    """1.2.1 to 1.2.5 (there is no audio and no video), 1.4.2, 1.4.5, 2.3.1."""
    assert page.evaluate(probes.OTHER_THAN_TEXT) == []


def test_a_control_is_named_by_the_text_that_is_seen_on_it(page):
    """2.5.3."""
    assert page.evaluate(probes.OTHERWISE_NAMED) == []
