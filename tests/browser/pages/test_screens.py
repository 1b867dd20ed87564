"""The pictures of the pages: each state can be drawn, and one that is taken again is the same.

`test_matrix` looks at pages too, so `tox -e full` draws only some of the console and the manual,
each in another look. `tox -e load` draws the others, and each state in every look, with a service
of its own, as `python -m tests.screens` does.
"""

from __future__ import annotations

import io
import re

import pytest
from PIL import Image

from tests.browser import states
from tests.browser.chromium import FLAGS, executable
from tests.browser.pages import matrix
from tests.screens import gallery
from tests.screens.stage import Stage
from tests.support.pages import page_samples

ADVICE = "give each page a state in tests/browser/states.py, then: python -m tests.screens"
MOST_BYTES = 100_000
DRAWN_BY_DEFAULT = 9
LOOKS = list(gallery.LOOKS)

_SHOWN = re.compile(r"(?:!\[[^\]]+\]\(|\bsrc(?:set)?=\")([^)\"\s]+\.png)[)\"]")


def test_every_page_has_a_state_to_look_at():
    shown = {name for _, name, _, _ in states.STATES.values()}

    assert shown == set(page_samples.BARE), ADVICE


def in_turn():
    """Each state with one of the looks; of the console's and the manual's, all but one in
    DRAWN_BY_DEFAULT are in the suite load."""
    others = [state for state in states.STATES if state not in matrix.pages()]
    usual = set(others[::DRAWN_BY_DEFAULT])
    params = []
    for n, state in enumerate(states.STATES):
        marks = [] if state in usual else [pytest.mark.load]
        params.append(pytest.param(state, LOOKS[n % len(LOOKS)], marks=marks))
    return params


@pytest.mark.parametrize(("state", "look"), in_turn())
def test_every_state_can_be_drawn(new_person, signed_in, state, look):
    who, name, _, go = states.STATES[state]
    options = gallery.USUAL | gallery.LOOKS[look]
    person = new_person(storage_state=signed_in[who], **options)

    go(person)

    assert person.name == name
    assert_drawn(gallery.whole(person.page), look)


def assert_drawn(png, look):
    """A page fills the browser's window, and has more than a few colours."""
    window = (gallery.USUAL | gallery.LOOKS[look])["viewport"]
    with Image.open(io.BytesIO(png)) as picture:
        width, height = picture.size
        colours = picture.convert("RGB").getcolors(width * height)

    assert width == window["width"]
    assert window["height"] <= height <= gallery.MOST_HIGH
    assert len(colours) > 10


def test_the_index_shows_every_state_in_every_look():
    shown = _SHOWN.findall(gallery.index())

    assert shown == gallery.files()
    assert len(set(shown)) == len(states.STATES) * len(gallery.LOOKS)


# Those that documents show


def test_the_pictures_in_the_repository_are_those_that_documents_show():
    pages = [*gallery.ROOT.glob("*.md"), *gallery.ROOT.glob("docs/**/*.md")]
    shown = {
        (page.parent / link).resolve()
        for page in pages
        for link in _SHOWN.findall(page.read_text(encoding="utf-8"))
    }

    assert set(gallery.kept()) <= set(gallery.files())
    assert shown == {gallery.KEPT_FOLDER / name for name in gallery.kept()}
    assert shown == set(gallery.ROOT.glob("docs/**/*.png")), "run: python -m tests.screens"


def test_the_pictures_in_the_repository_are_small():
    sizes = [path.stat().st_size for path in gallery.KEPT_FOLDER.glob("*.png")]

    assert max(sizes) < MOST_BYTES


# Taken by the command


@pytest.fixture(scope="module")
def stage():
    with Stage() as stage:
        yield stage


@pytest.fixture(scope="module")
def stage_chromium(chromium, stage):
    flags = [*FLAGS, stage.flag]
    browser = chromium.browser_type.launch(executable_path=executable(), args=flags)
    yield browser
    browser.close()


@pytest.mark.load
@pytest.mark.parametrize("state", states.STATES)
def test_every_state_is_taken_in_every_look(stage_chromium, stage, state):
    taken = dict(gallery.pictures(stage_chromium, stage, state))

    assert list(taken) == LOOKS
    for look, png in taken.items():
        assert_drawn(png, look)
        assert len(png) < MOST_BYTES


def test_what_was_imported_is_shown_and_stored_and_what_is_gone_is_removed(tmp_path, monkeypatch):
    kept, state = tmp_path / "kept", gallery.KEPT[0][0]
    kept.mkdir()
    monkeypatch.setattr(gallery, "FOLDER", tmp_path)
    monkeypatch.setattr(gallery, "INDEX", tmp_path / "README.md")
    monkeypatch.setattr(gallery, "KEPT_FOLDER", kept)
    (tmp_path / "gone-light.png").touch()
    written = io.BytesIO()
    Image.new("RGB", (2, 2)).save(written, "PNG")

    for look in gallery.LOOKS:
        gallery.put(state, look, written.getvalue())
    gallery.tidy()

    names = {gallery.file_of(state, look) for look in gallery.LOOKS}
    assert {path.name for path in tmp_path.glob("*.png")} == names
    assert {path.name for path in kept.iterdir()} == names & set(gallery.kept()) != set()
    assert (tmp_path / "README.md").read_text() == gallery.index()


@pytest.mark.load
def test_a_picture_that_is_taken_again_is_the_same(stage_chromium, stage):
    """On a page full of what is random and of what changes with time."""
    first, second = (
        dict(gallery.pictures(stage_chromium, stage, "demo, signed in")) for _ in "12"
    )

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
def test_a_picture_is_taken_for_another_only_when_they_can_not_be_distinguished(change, is_alike):
    pictures = []
    for changed in ({}, change):
        picture = Image.new("RGB", (100, 100), "white")
        for at, colour in changed.items():
            picture.putpixel(at, colour)
        pictures.append(io.BytesIO())
        picture.save(pictures[-1], "PNG")

    assert gallery.are_alike(*(each.getvalue() for each in pictures)) == is_alike
