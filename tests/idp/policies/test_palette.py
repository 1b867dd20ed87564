"""The colours that follow from four: whatever stands on anything else can be read."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

import templates
from idp.foundation.contrast import contrast, mixed
from idp.policies import palette
from idp.policies.palette import OWN, Colours
from idp.records import LabelRules

STYLE = Path(templates.__file__).with_name("static").joinpath("style.css").read_text()
# What is read on what: at 4.5 to 1, and edges at 3 to 1.
TEXTS = [
    *itertools.product(("text", "muted", "accent", "accent-strong", "error"), ("page", "card")),
    *itertools.product(("text", "accent"), ("note-ground", "code-ground")),
    ("error", "error-ground"),
    ("on-accent", "accent"),
    ("on-accent", "accent-strong"),
]
EDGES = [*itertools.product(("control", "focus", "accent", "error"), ("page", "card"))]
GREYS = [f"#{n:02x}{n:02x}{n:02x}" for n in range(0, 256, 15)]
VIVID = ["#ff0000", "#00ff00", "#0000ff", "#ffff00", "#00ffff", "#ff00ff", "#7a1f3d"]


def pairs():
    """Every ink that can be read on a ground, of greys and of what is vivid."""
    colours = [*GREYS, *VIVID]
    for ink, ground in itertools.product(colours, colours):
        if contrast(ink, ground) >= 4.5:
            yield ink, ground


def test_black_and_white_are_21_apart():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
    assert contrast("#123456", "#123456") == 1


def test_what_is_mixed_lies_between():
    assert mixed("#000000", "#ffffff", 0.5) == "#808080"
    assert mixed("#102030", "#ffffff", 0) == "#102030"


def test_whatever_is_chosen_everything_can_be_read():
    checked = 0
    for ink, ground in pairs():
        found = palette.palette(Colours(primary=ink, background=ground, warn=ink, font=ink))
        for text, on in TEXTS:
            assert contrast(found[text], found[on]) >= 4.5, (ink, ground, text, on)
        for edge, on in EDGES:
            assert contrast(found[edge], found[on]) >= 3, (ink, ground, edge, on)
        checked += 1

    assert checked > 100


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_not_named_is_the_service_s_own(scheme):
    block = STYLE.partition("prefers-color-scheme: dark")[2 if scheme == "dark" else 0]
    own = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))

    assert OWN[scheme] == Colours(
        primary=own["accent"], background=own["card"], warn=own["error"], font=own["text"]
    )
    assert list(palette.unreadable(LabelRules(), scheme)) == []


def test_every_colour_of_the_stylesheet_follows_but_the_marker_s():
    names = set(re.findall(r"--([\w-]+): #", STYLE))

    assert names - set(palette.palette(OWN["light"])) == {"mark", "on-mark"}


def test_colours_of_one_scheme_leave_the_other_as_it_is():
    light = palette.stylesheet(LabelRules(primary_color="#7a1f3d"))
    dark = palette.stylesheet(LabelRules(primary_color_dark="#ffb3c7"))

    assert palette.stylesheet(LabelRules()) == ""
    assert "--accent: #9db8ff;" in light.partition("dark")[2]
    assert dark.startswith("@media (prefers-color-scheme: dark)")
