"""The colours of an organization's pages, derived from the few that its label policy names.

The policy names up to four for a scheme (light, dark): for the main action, the background,
warnings and text. All others are derived from these. A colour that is hard to read on the
background is made lighter or darker until it is not; backgrounds stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct, structs

from idp.foundation.colours import oklch
from idp.foundation.colours.contrast import contrast, is_readable, mixed
from idp.records import LabelRules

Scheme = Literal["light", "dark"]
# The names in the API of the colours for the main action, the background, warnings and text.
NAMES: Final = tuple(
    f"{part}Color{scheme}"
    for scheme in ("", "Dark")
    for part in ("primary", "background", "warn", "font")
)
_GOOD: Final = ("#146c3a", "#7ddba1")  # for light and for dark backgrounds, as in tokens.css
_WARNING: Final = ("#8a4b00", "#f5c26b")
_MIN_CONTRAST: Final = 3.0  # the contrast of a control's edge (WCAG 2.2, 1.4.11)
_STEP: Final = 0.01  # of lightness
_DARK_LIGHTNESS: Final = (
    0.78  # of colours for dark pages that are derived from those for light ones
)


_SUFFIXES: Final[dict[Scheme, str]] = {"light": "", "dark": "_dark"}
# The colour of the pages that each colour of a policy becomes.
_ROLES: Final = {"primary": "accent", "background": "surface", "warn": "danger", "font": "text"}


class Colours(Struct, frozen=True):
    """The four colours, as `#rrggbb`, that a policy can set for one scheme."""

    primary: str
    background: str
    warn: str
    font: str


BUILT_IN: Final[dict[Scheme, Colours]] = {
    "light": Colours(primary="#3346d3", background="#ffffff", warn="#b42318", font="#14181f"),
    "dark": Colours(primary="#a3b1ff", background="#161a22", warn="#ffa79c", font="#e8ebf1"),
}


def colours(rules: LabelRules, scheme: Scheme) -> Colours | None:
    """Returns the four colours of a scheme, with derived or built-in ones for those that the
    policy does not name; None if it names none that concern the scheme."""
    chosen_colours = _named(rules, scheme)
    if scheme == "dark":
        light = _named(rules, "light")
        derived = {name: _for_dark(light[name]) for name in ("primary", "warn") if light[name]}
        chosen_colours |= {
            name: value for name, value in derived.items() if not chosen_colours[name]
        }
    if not any(chosen_colours.values()):
        return None
    built_in = BUILT_IN[scheme]
    return Colours(
        **{name: value or getattr(built_in, name) for name, value in chosen_colours.items()}
    )


def _named(rules: LabelRules, scheme: Scheme) -> dict[str, str]:
    suffix = "_dark" if scheme == "dark" else ""
    return {name: getattr(rules, f"{name}_color{suffix}") for name in Colours.__struct_fields__}


def _for_dark(colour: str) -> str:
    return oklch.with_lightness(colour, _DARK_LIGHTNESS)


def effective(rules: LabelRules) -> LabelRules:
    """Returns the rules with the colours that the pages display in place of those that are named;
    a colour that is not named stays empty."""
    displayed: dict[str, str] = {}
    for scheme, suffix in _SUFFIXES.items():
        chosen, named = colours(rules, scheme), _named(rules, scheme)
        if chosen is not None:
            colours_of_pages = palette(chosen)
            displayed |= {
                f"{name}_color{suffix}": colours_of_pages[_ROLES[name]]
                for name in named
                if named[name]
            }
    return structs.replace(rules, **displayed)


def stylesheet(rules: LabelRules) -> str:
    """Returns the custom properties that the policy sets: shape and font, and the colours of both
    schemes; an empty text if it sets none."""
    light, dark = colours(rules, "light"), colours(rules, "dark")
    text = _shape(rules) + (_block(light) if light else "")
    # The light scheme's rules apply in both, so the dark scheme has to override each of them.
    dark = dark or (BUILT_IN["dark"] if light else None)
    if dark is not None:
        text += "@media (prefers-color-scheme: dark) {\n" + _block(dark) + "}\n" + _MORE_CONTRAST
    return text


# These rules are in no layer, so they replace the ones of tokens.css.
_MORE_CONTRAST: Final = """\
@media (prefers-contrast: more) {
:root { --line: var(--control); --muted: var(--text); }
}
"""
_FONTS: Final = {
    "serif": 'Georgia, "Times New Roman", "Noto Serif", serif',
    "rounded": (
        'ui-rounded, "SF Pro Rounded", "Hiragino Maru Gothic ProN", Nunito, Quicksand, '
        '"Arial Rounded MT Bold", system-ui, sans-serif'
    ),
    "mono": "var(--font-code)",
}


def _shape(rules: LabelRules) -> str:
    lines = f"  --radius: {rules.radius / 16}rem;\n" if rules.radius != LabelRules().radius else ""
    if rules.font in _FONTS:
        lines += f"  --font: {_FONTS[rules.font]};\n"
    return f":root {{\n{lines}}}\n" if lines else ""


def preview_stylesheet(rules: LabelRules, scheme: Scheme) -> str:
    """Returns a stylesheet with the colours of one scheme, for a preview: it applies whatever
    scheme the browser prefers."""
    chosen = colours(rules, scheme) or BUILT_IN[scheme]
    return f":root {{ color-scheme: {scheme}; }}\n{_shape(rules)}{_block(chosen)}"


def _block(chosen: Colours) -> str:
    lines = "".join(f"  --{name}: {value};\n" for name, value in palette(chosen).items())
    return f":root {{\n{lines}}}\n"


@lru_cache(maxsize=256)
def palette(chosen: Colours) -> Mapping[str, str]:
    """Returns every colour of the stylesheet by its name, derived from the four chosen ones, so
    that each text and each edge has enough contrast to its background."""
    surface = chosen.background
    page = _page(surface, chosen.font)
    is_dark = contrast("#ffffff", surface) > contrast("#000000", surface)

    def readable(colour: str) -> str:
        return _readable(colour, (surface, page))

    text, accent, danger = map(readable, (chosen.font, chosen.primary, chosen.warn))
    good, warning = readable(_GOOD[is_dark]), readable(_WARNING[is_dark])
    shades = (mixed(text, surface, share) for share in (0.3, 0.15))
    muted = _first(shades, _legible_on(surface, page), text)
    on_accent = max(("#ffffff", "#000000"), key=lambda text_colour: contrast(text_colour, accent))
    strong = _first(
        (mixed(accent, "#000000", 0.2), mixed(accent, "#ffffff", 0.2)),
        _legible_on(surface, page, on_accent),
        accent,
    )
    return {
        "page": page,
        "surface": surface,
        "text": text,
        "muted": muted,
        "line": mixed(surface, text, 0.15),
        "control": _first(
            (mixed(text, surface, share) for share in (0.5, 0.35)),
            lambda shade: min(contrast(shade, surface), contrast(shade, page)) >= _MIN_CONTRAST,
            text,
        ),
        "accent": accent,
        "accent-strong": strong,
        "on-accent": on_accent,
        "tint": _background(surface, accent, (text, muted, accent, strong)),
        "danger": danger,
        "danger-ground": _background(surface, danger, (text, danger, accent)),
        "good": good,
        "good-ground": _background(surface, good, (text, good)),
        "warning": warning,
        "warning-ground": _background(surface, warning, (text, warning)),
    }


def _page(surface: str, font: str) -> str:
    """Returns the background around cards: a shade of their colour, or that colour itself if
    neither black nor white text can be read on both."""
    shade = mixed(surface, font, 0.04)
    return shade if any(map(_legible_on(surface, shade), ("#000000", "#ffffff"))) else surface


def _readable(colour: str, backgrounds: tuple[str, ...]) -> str:
    """Returns the colour with the nearest lightness at which it can be read on all backgrounds."""
    is_legible = _legible_on(*backgrounds)
    if is_legible(colour):
        return colour
    lch = oklch.read(colour)
    for step in range(1, int(1 / _STEP) + 1):
        for lightness in (lch.lightness - step * _STEP, lch.lightness + step * _STEP):
            if 0 <= lightness <= 1 and is_legible(
                readable := oklch.written(lch._replace(lightness=lightness))
            ):
                return readable
    return _first(("#000000", "#ffffff"), is_legible, colour)


def _background(surface: str, colour: str, text_colours: Iterable[str]) -> str:
    """Returns a shade of the surface in a colour on which all texts can be read, or the
    surface."""
    text_colours = tuple(text_colours)
    shades = (mixed(surface, colour, share) for share in (0.12, 0.08, 0.04))
    return _first(
        shades,
        lambda shade: all(is_readable(text_colour, shade) for text_colour in text_colours),
        surface,
    )


def _legible_on(*backgrounds: str) -> Callable[[str], bool]:
    """Returns a function that returns whether a text can be read on all these backgrounds."""
    return lambda text_colour: all(
        is_readable(text_colour, background) for background in backgrounds
    )


def _first(candidates: Iterable[str], is_suitable: Callable[[str], bool], otherwise: str) -> str:
    return next((shade for shade in candidates if is_suitable(shade)), otherwise)
