"""What the stylesheets promise: contrast, both directions of writing, and no motion unasked."""

from __future__ import annotations

import itertools
import re
from importlib import resources

import pytest
import tinycss2

from idp.foundation.colours.contrast import contrast

FOLDER = resources.files("templates").joinpath("static", "css")
PARTS = {part.name: part.read_text() for part in FOLDER.iterdir()}
LAYERS = "@layer reset, tokens, base, components, page;"
STILL = "(prefers-reduced-motion: no-preference)"
MOTION = re.compile("transition|animation|scroll-behavior|keyframes|view-transition")
PHYSICAL = {"left", "right", "top", "bottom", "width", "height", "float", "transform"}

every_part = pytest.mark.parametrize("part", PARTS)


def has_sides(style):
    """Whether it names a side of the screen, or gives the two of them different lengths."""
    for name, value in re.findall(r"([\w-]+)\s*:\s*([^:;{}]+)[;}]", style):
        lengths = value.split() if name in ("margin", "padding", "inset", "border-width") else []
        if PHYSICAL & set(re.sub("^(line-height|stroke-width)", "", name).split("-")):
            return True
        if {"left", "right"} & set(value.split()) or (
            len(lengths) == 4 and lengths[1] != lengths[3]
        ):
            return True
    return False


def without_conditions(style):
    """The same without what stands in the parentheses of media queries."""
    return re.sub(r"@media[^{]*", "@media ", style)


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


@every_part
def test_a_stylesheet_fits_both_directions_and_loads_nothing(part):
    assert not has_sides(without_conditions(PARTS[part]))
    assert not re.search(r"@import|url\(", PARTS[part])


@every_part
def test_a_stylesheet_is_valid_and_in_layers(part):
    rules = parsed(PARTS[part])

    assert [rule for rule in everything(rules) if rule.type == "error"] == []
    assert {getattr(rule, "at_keyword", None) for rule in rules} == {"layer"}
    assert LAYERS in PARTS["tokens.css"]


@every_part
def test_colours_are_named_in_the_tokens_alone(part):
    named = re.findall(r"#[0-9a-f]{3,8}\b|rgb\(|hsl\(|oklch\(", PARTS[part])

    assert bool(named) == (part == "tokens.css")


def parsed(style):
    return tinycss2.parse_stylesheet(style, skip_comments=True, skip_whitespace=True)


def parsed_block(rule):
    return tinycss2.parse_blocks_contents(rule.content, skip_comments=True, skip_whitespace=True)


def everything(rules):
    """The rules, those within them, and their declarations."""
    for rule in rules:
        yield rule
        if getattr(rule, "content", None) is not None:
            yield from everything(parsed_block(rule))


def moving(rules):
    """What moves without asking whether it may."""
    for rule in rules:
        name = getattr(rule, "at_keyword", None) or getattr(rule, "name", "")
        if name == "media" and tinycss2.serialize(rule.prelude).strip() == STILL:
            continue
        if MOTION.match(name):
            yield name
        elif getattr(rule, "content", None) is not None:
            yield from moving(parsed_block(rule))


@pytest.mark.parametrize(
    "style",
    [
        "a { transition: color 1s }",
        "@layer page { a { animation-name: turn } }",
        "@keyframes turn { to { rotate: 1turn } }",
        "@media (min-width: 1px) { a { transition-duration: 1s } }",
        "@view-transition { navigation: auto }",
        "html { scroll-behavior: smooth }",
    ],
)
def test_motion_would_be_found_in_a_stylesheet(style):
    assert list(moving(parsed(style)))
    assert list(moving(parsed(f"@media {STILL} {{ {style} }}"))) == []


def test_nothing_moves_for_who_wants_less_motion_and_one_block_holds_all_that_moves():
    blocks = []
    for style in PARTS.values():
        assert list(moving(parsed(style))) == []
        blocks += re.findall(re.escape(f"@media {STILL}"), style)

    assert len(blocks) == 1


def schemes():
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
        for block in re.findall(r":root \{(.*?)\}", PARTS["tokens.css"], re.DOTALL)[:2]
    )
    assert light.keys() == dark.keys()
    return [light, dark]


TEXTS = [
    *itertools.product(
        ("text", "muted", "accent", "accent-strong", "danger", "good", "warning"),
        ("page", "surface"),
    ),
    *itertools.product(("text", "muted", "accent", "accent-strong"), ("tint",)),
    *itertools.product(("text", "danger"), ("danger-ground",)),
    *itertools.product(("text", "good"), ("good-ground",)),
    *itertools.product(("text", "warning"), ("warning-ground",)),
    *itertools.product(("on-accent",), ("accent", "accent-strong")),
    ("surface", "danger"),
]
EDGES = [
    *itertools.product(("control", "accent", "danger", "good", "warning"), ("page", "surface")),
    ("accent", "danger-ground"),
]
LEAST = {**dict.fromkeys(TEXTS, 4.5), **{pair: 3 for pair in EDGES if pair not in TEXTS}}


@pytest.mark.parametrize("scheme", schemes(), ids=["light", "dark"])
@pytest.mark.parametrize(("front", "ground"), LEAST)
def test_colours_contrast_enough(scheme, front, ground):
    assert contrast(scheme[front], scheme[ground]) >= LEAST[front, ground]


@pytest.mark.parametrize("scheme", schemes(), ids=["light", "dark"])
def test_every_colour_is_in_some_pair_or_only_decoration(scheme):
    assert scheme.keys() - set(itertools.chain(*LEAST)) == {"line"}
