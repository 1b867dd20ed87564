"""The icons in the pages: drawn in the colour of the text, and said by nobody."""

from __future__ import annotations

from importlib import resources

import pytest
from markupsafe import escape

from handlers.pages.rendering import icon
from tests.support.pages.rendered import Page

FOLDER = resources.files("templates").joinpath("static", "icons")
NAMES = sorted(file.name.removesuffix(".svg") for file in FOLDER.iterdir() if ".svg" in file.name)


@pytest.mark.parametrize("name", NAMES)
def test_an_icon_is_small_and_hidden_from_screen_readers(name):
    markup = icon(name)
    (svg,) = Page(markup).all("svg")

    assert (svg["aria-hidden"], svg["class"]) == ("true", "icon")
    assert len(markup) < 900
    assert escape(markup) == markup
    for absent in ("style", "<script", "href", "onload", "<!--", "xmlns"):
        assert absent not in markup


def test_an_icon_that_points_onward_is_mirrored_from_right_to_left():
    (onward,), (other,) = (Page(icon(name)).all("svg") for name in ("arrow-right", "eye"))

    assert "data-mirrored" in onward
    assert "data-mirrored" not in other


def test_the_licence_stands_beside_the_icons():
    assert FOLDER.joinpath("LICENSE").read_text().startswith("ISC License")


def test_an_icon_that_is_not_there_is_an_error():
    with pytest.raises(FileNotFoundError):
        icon("none")
