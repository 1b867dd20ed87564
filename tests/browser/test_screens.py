"""The pictures of the pages: none is missing, and one that is taken again is the same."""

from __future__ import annotations

import pytest

from tests.browser import states
from tests.browser.chromium import FLAGS, executable
from tests.handlers import page_samples
from tests.screens import gallery
from tests.screens.stage import Stage

ADVICE = "give each page a state in tests/browser/states.py, then: python -m tests.screens"


def test_every_page_has_a_state_to_look_at():
    shown = {name for _, name, _, _ in states.STATES.values()}

    assert shown == set(page_samples.BARE), ADVICE


def test_every_state_is_shown_in_every_look():
    there = sorted(path.name for path in gallery.FOLDER.glob("*.png"))

    assert there == sorted(gallery.files()), ADVICE
    assert gallery.INDEX.read_text() == gallery.index(), ADVICE


def test_the_pictures_are_small():
    sizes = [path.stat().st_size for path in gallery.FOLDER.glob("*.png")]

    assert max(sizes) < 100_000
    assert sum(sizes) < 4_000_000


@pytest.fixture
def stage():
    with Stage() as stage:
        yield stage


def test_a_picture_that_is_taken_again_is_the_same(chromium, stage):
    """On a page full of what is random and of what changes with time."""
    flags = [*FLAGS, stage.flag]
    browser = chromium.browser_type.launch(executable_path=executable(), args=flags)
    first, second = (dict(gallery.pictures(browser, stage, "demo, signed in")) for _ in "12")
    browser.close()

    assert list(first) == list(gallery.LOOKS)
    assert first == second
