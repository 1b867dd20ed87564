"""The icons in the pages: drawn in the colour of the text, and said by nobody."""

from __future__ import annotations

from importlib import resources
from typing import get_args

import pytest
from markupsafe import escape

from handlers.pages import icons
from handlers.pages.rendering import icon
from idp.records.connections import ConnectionKind, OidcPreset
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
    licence = FOLDER.joinpath("LICENSE").read_text()

    assert licence.startswith("ISC License")
    assert "brand-*.svg" in licence


def test_each_kind_of_provider_has_an_icon_and_each_mark_a_kind():
    kinds = [*get_args(ConnectionKind), *filter(None, get_args(OidcPreset))]
    named = {icons.of_provider(kind) for kind in kinds}

    assert named <= set(NAMES)
    assert named - {"building-2"} == {name for name in NAMES if name.startswith("brand-")}


def test_a_mark_is_filled_with_the_colour_of_the_text():
    (path,) = Page(icon("brand-okta")).all("path")

    assert (path["fill"], path["stroke"]) == ("currentColor", "none")


def test_an_icon_that_is_not_there_is_an_error():
    with pytest.raises(FileNotFoundError):
        icon("none")
