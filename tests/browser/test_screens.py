"""The pictures of the pages: none is missing, and one that is taken again is the same."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from tests.browser import states
from tests.browser.chromium import FLAGS, executable
from tests.screens import gallery
from tests.screens.stage import Stage
from tests.support.pages import page_samples

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
    assert sum(sizes) < 12_000_000


@pytest.fixture
def stage():
    with Stage() as stage:
        yield stage


@pytest.mark.deep
def test_a_picture_that_is_taken_again_is_the_same(chromium, stage):
    """On a page full of what is random and of what changes with time."""
    flags = [*FLAGS, stage.flag]
    browser = chromium.browser_type.launch(executable_path=executable(), args=flags)
    first, second = (dict(gallery.pictures(browser, stage, "demo, signed in")) for _ in "12")
    browser.close()

    assert list(first) == list(second) == list(gallery.LOOKS)
    assert all(gallery.are_alike(first[look], second[look]) for look in first)
    assert not gallery.are_alike(first["light"], first["dark"])
    assert not gallery.are_alike(first["light"], first["320 px"])


@pytest.mark.parametrize(
    ("change", "is_alike"),
    [
        ({}, True),
        ({(3, 4): (250, 255, 255)}, True),
        ({(3, 4): (230, 255, 255)}, False),
        ({(x, y): (250, 255, 255) for x in range(100) for y in range(2)}, False),
    ],
    ids=["nothing", "a faint pixel", "a pixel that shows", "many faint pixels"],
)
def test_a_picture_is_taken_for_another_only_when_nobody_could_tell(change, is_alike):
    pictures = []
    for changed in ({}, change):
        picture = Image.new("RGB", (100, 100), "white")
        for at, colour in changed.items():
            picture.putpixel(at, colour)
        pictures.append(io.BytesIO())
        picture.save(pictures[-1], "PNG")

    assert gallery.are_alike(*(each.getvalue() for each in pictures)) == is_alike
