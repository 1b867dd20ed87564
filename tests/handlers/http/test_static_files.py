"""What is served beside the pages: static files, and the stylesheet's promises."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from handlers.pages import rendering

TEMPLATES = resources.files("templates")
STYLE = TEMPLATES.joinpath("static/style.css").read_text()
CONSOLE = TEMPLATES.joinpath("static/console.css").read_text()


def test_static_files_are_served_under_the_hash_of_their_content():
    url = rendering.static_url("style.css")
    served = rendering.static_file(url.removeprefix(rendering.STATIC_PATH))

    assert re.fullmatch(r"/ui/static/[0-9a-f]{16}/style\.css", url)
    content = TEMPLATES.joinpath("static/style.css").read_bytes()
    assert served == (content, "text/css; charset=utf-8")
    assert len(content) < 10_240


@pytest.mark.parametrize(
    "path",
    ["", "style.css", "/style.css", "0000000000000000/style.css", "x/../page.mako", "x/none.css"],
)
def test_no_other_file_is_served(path):
    assert rendering.static_file(path) is None


PHYSICAL = {"left", "right", "top", "bottom", "width", "height", "float", "transform"}


def has_sides(style):
    """Whether it names a side of the screen, or gives the two of them different lengths."""
    for name, value in re.findall(r"([\w-]+)\s*:\s*([^:;{}]+)[;}]", style):
        lengths = value.split() if name in ("margin", "padding", "inset", "border-width") else []
        if PHYSICAL & set(name.removeprefix("line-height").split("-")):
            return True
        if {"left", "right"} & set(value.split()) or (
            len(lengths) == 4 and lengths[1] != lengths[3]
        ):
            return True
    return False


@pytest.mark.parametrize(
    "style",
    [
        "a { margin-left: 1px }",
        "a { border-top-right-radius: 1px }",
        "a { left: 0; }",
        "a { text-align: right; }",
        "a { float: inline-start }",
        "a { padding: 1px 2px 1px 3px; }",
        "a { max-width: 1px; }",
        "a { transform: translateX(1px) }",
    ],
)
def test_a_side_would_be_found_in_a_stylesheet(style):
    assert has_sides(style)
    assert not has_sides("a { margin: 1px 2px 3px 2px; text-align: start; inset-inline: 0 }")


def test_the_stylesheets_fit_both_directions_and_move_nothing():
    for style in (STYLE, CONSOLE):
        assert not has_sides(style)
        assert not re.search(r"animation|transition|@import|url\(", style)
    assert not re.search("#[0-9a-f]{3}", CONSOLE)  # the colours are those that are held to WCAG


def schemes():
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
        for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    )
    assert light.keys() == dark.keys()
    return [light, dark]


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", schemes(), ids=["light", "dark"])
@pytest.mark.parametrize(
    ("front", "grounds", "least"),
    [
        ("text", "page card note-ground code-ground error-ground", 4.5),
        ("muted", "page card note-ground code-ground", 4.5),
        ("accent", "page card note-ground", 4.5),
        ("accent-strong", "page card", 4.5),
        ("error", "card error-ground", 4.5),
        ("on-accent", "accent accent-strong", 4.5),
        ("on-mark", "mark", 4.5),
        ("control", "page card", 3),
        ("focus", "page card error-ground", 3),
    ],
)
def test_colours_contrast_enough(scheme, front, grounds, least):
    for ground in grounds.split():
        darker, lighter = sorted(luminance(scheme[name]) for name in (front, ground))

        assert (lighter + 0.05) / (darker + 0.05) >= least, ground
