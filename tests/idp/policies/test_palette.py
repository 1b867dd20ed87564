"""The colours that follow from four: whatever stands on anything else can be read."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path

import pytest

import templates
from idp.foundation.colours import oklch
from idp.foundation.colours.contrast import contrast, mixed
from idp.policies import palette
from idp.policies.palette import BUILT_IN, Colours
from idp.records import LabelRules
from tests.support.slices import one_in

STYLE = Path(templates.__file__).with_name("static").joinpath("css", "tokens.css").read_text()
# What is read on what: at 4.5 to 1, and edges at 3 to 1.
TEXTS = [
    *itertools.product(
        ("text", "muted", "accent", "accent-strong", "danger", "good", "warning"),
        ("page", "surface"),
    ),
    *itertools.product(("text", "muted", "accent"), ("tint",)),
    ("danger", "danger-ground"),
    ("good", "good-ground"),
    ("warning", "warning-ground"),
    ("on-accent", "accent"),
    ("on-accent", "accent-strong"),
    ("text", "danger-ground"),
    ("text", "good-ground"),
    ("text", "warning-ground"),
    ("accent-strong", "tint"),
    ("surface", "danger"),
]
EDGES = [*itertools.product(("control", "accent", "danger"), ("page", "surface"))]
GREYS = [f"#{n:02x}{n:02x}{n:02x}" for n in range(0, 256, 15)]
VIVID = ["#ff0000", "#00ff00", "#0000ff", "#ffff00", "#00ffff", "#ff00ff", "#7a1f3d"]


def test_black_and_white_are_21_apart():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
    assert contrast("#123456", "#123456") == 1


def test_what_is_mixed_lies_between():
    assert mixed("#000000", "#ffffff", 0.5) == "#808080"
    assert mixed("#102030", "#ffffff", 0) == "#102030"


def mistakes(chosen):
    """The pairs of colours that can't be read, or seen, whatever the four chosen ones are."""
    found = palette.palette(chosen)
    return [
        *((text, on) for text, on in TEXTS if contrast(found[text], found[on]) < 4.5),
        *((edge, on) for edge, on in EDGES if contrast(found[edge], found[on]) < 3),
    ]


@pytest.mark.full
@pytest.mark.parametrize("seed", one_in(30, range(30)))
def test_of_thousands_of_random_brands_everything_can_be_read(seed):
    chance = random.Random(seed)
    brands = [
        Colours(*(f"#{chance.randrange(1 << 24):06x}" for _ in range(4))) for _ in range(300)
    ]

    assert [(each, wrong) for each in brands if (wrong := mistakes(each))] == []
    assert all(palette.palette(each)["surface"] == each.background for each in brands)


@pytest.mark.full
def test_of_every_grey_and_what_is_vivid_everything_can_be_read():
    for ink, ground in itertools.product([*GREYS, *VIVID], repeat=2):
        assert mistakes(Colours(primary=ink, background=ground, warn=ink, font=ink)) == []


def test_a_colour_that_can_be_read_stays_as_it_is():
    found = palette.palette(BUILT_IN["light"])

    assert (found["accent"], found["danger"], found["text"]) == ("#3346d3", "#b42318", "#14181f")


@pytest.mark.parametrize(
    ("colour", "ground", "is_lighter"),
    [("#ffd84d", "#ffffff", False), ("#3346d3", "#161a22", True), ("#8080ff", "#7f7fff", False)],
)
def test_a_colour_that_can_not_be_read_changes_in_lightness_alone(colour, ground, is_lighter):
    chosen = Colours(primary=colour, background=ground, warn=colour, font=colour)
    shown = palette.palette(chosen)["accent"]
    before, after = oklch.read(colour), oklch.read(shown)

    assert shown != colour
    assert (after.lightness > before.lightness) is is_lighter
    if after.chroma > 0.02:  # a grey has no hue
        assert after.hue == pytest.approx(before.hue, abs=0.08)
    # One step less would not be enough.
    back = 0.011 if after.lightness < before.lightness else -0.011
    nearer = oklch.written(after._replace(lightness=after.lightness + back))
    grounds = (ground, palette.palette(chosen)["page"])
    assert min(contrast(nearer, each) for each in grounds) < 4.6


@pytest.mark.full
def test_where_neither_black_nor_white_is_read_on_both_grounds_there_is_one_ground():
    ground = next(
        grey
        for grey in (f"#{n:02x}{n:02x}{n:02x}" for n in range(256))
        if palette.palette(Colours("#000000", grey, "#000000", "#ffffff"))["page"] == grey
    )

    assert contrast(ground, "#ffffff") < 5 or contrast(ground, "#000000") < 5


def test_colours_for_dark_pages_are_derived_from_those_for_light_ones():
    chosen = palette.colours(LabelRules(primary_color="#7a1f3d"), "dark")

    assert chosen.background == BUILT_IN["dark"].background
    assert oklch.read(chosen.primary).lightness == pytest.approx(0.78, abs=0.01)
    assert oklch.read(chosen.primary).hue == pytest.approx(oklch.read("#7a1f3d").hue, abs=0.05)
    assert chosen.warn == BUILT_IN["dark"].warn


def test_the_rules_keep_what_was_entered_beside_what_is_displayed():
    entered = LabelRules(primary_color="#ffd84d", font_color="#14181f")
    shown = palette.effective(entered)

    assert entered.primary_color == "#ffd84d"
    assert contrast(shown.primary_color, "#ffffff") >= 4.5
    assert (shown.font_color, shown.warn_color, shown.primary_color_dark) == ("#14181f", "", "")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_not_named_is_the_service_s_own(scheme):
    block = STYLE.partition("prefers-color-scheme: dark")[2 if scheme == "dark" else 0]
    own = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))

    assert BUILT_IN[scheme] == Colours(
        primary=own["accent"], background=own["surface"], warn=own["danger"], font=own["text"]
    )
    assert palette.colours(LabelRules(), scheme) is None


def test_every_colour_of_the_stylesheet_follows():
    names = set(re.findall(r"--([\w-]+): #", STYLE))

    assert names == set(palette.palette(BUILT_IN["light"]))


def test_shape_and_font_are_no_colours():
    sheet = palette.stylesheet(LabelRules(radius=4, font="serif"))

    assert "--radius: 0.25rem;" in sheet
    assert "--font: Georgia," in sheet
    assert "--accent" not in sheet
    assert palette.stylesheet(LabelRules(layout="split")) == ""


def test_who_wants_more_contrast_gets_it_from_every_brand():
    sheet = palette.stylesheet(LabelRules(primary_color="#7a1f3d"))

    assert "@media (prefers-contrast: more)" in sheet
    assert sheet.index("prefers-contrast") > sheet.index("prefers-color-scheme")


def test_colours_of_one_scheme_leave_the_other_as_it_is():
    light = palette.stylesheet(LabelRules(font_color="#7a1f3d"))
    dark = palette.stylesheet(LabelRules(primary_color_dark="#ffb3c7"))

    assert palette.stylesheet(LabelRules()) == ""
    assert "--accent: #a3b1ff;" in light.partition("dark")[2]
    assert dark.startswith("@media (prefers-color-scheme: dark)")
