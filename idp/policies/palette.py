"""The colours of an organization's pages: what follows from the few that it names.

It names four for a scheme (light, dark) at most: of the main action, the ground, warnings, and
text. All others follow from these, so that whatever stands on anything else can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

from msgspec import Struct

from idp.foundation.contrast import contrast, is_readable, mixed
from idp.records import LabelRules

Scheme = Literal["light", "dark"]
# The colours by the names of the API: of the main action, the ground, warnings and text.
NAMES: Final = tuple(
    f"{part}Color{scheme}"
    for scheme in ("", "Dark")
    for part in ("primary", "background", "warn", "font")
)
_VISIBLE: Final = 3.0  # of a control's edge (WCAG 2.2, 1.4.11)


class Colours(Struct, frozen=True):
    """The four of one scheme."""

    primary: str
    background: str
    warn: str
    font: str


OWN: Final[dict[Scheme, Colours]] = {
    "light": Colours(primary="#2b4fc7", background="#ffffff", warn="#b3261e", font="#1a2233"),
    "dark": Colours(primary="#9db8ff", background="#191e29", warn="#ffb0a6", font="#e7ebf3"),
}


def colours(rules: LabelRules, scheme: Scheme) -> Colours | None:
    """The four of a scheme, the service's own where none is named; None where all are."""
    suffix, own = "_dark" if scheme == "dark" else "", OWN[scheme]
    named = {name: getattr(rules, f"{name}_color{suffix}") for name in Colours.__struct_fields__}
    if not any(named.values()):
        return None
    return Colours(**{name: value or getattr(own, name) for name, value in named.items()})


def unreadable(rules: LabelRules, scheme: Scheme) -> Iterator[str]:
    """Which of the colours can't be read on the ground: `primary`, `warn`, `font`."""
    chosen = colours(rules, scheme)
    if chosen is not None:
        for name in ("primary", "warn", "font"):
            if not is_readable(getattr(chosen, name), chosen.background):
                yield name


def stylesheet(rules: LabelRules) -> str:
    """The colours as custom properties for both schemes; empty where nothing is named."""
    light, dark = colours(rules, "light"), colours(rules, "dark")
    text = _block(light) if light else ""
    # What is named for the light scheme must not shine through in the dark one.
    dark = dark or (OWN["dark"] if light else None)
    return text + (
        "@media (prefers-color-scheme: dark) {\n" + _block(dark) + "}\n" if dark else ""
    )


def specimen(rules: LabelRules, scheme: Scheme) -> str:
    """The colours of one scheme, whichever the browser prefers."""
    chosen = colours(rules, scheme) or OWN[scheme]
    return f":root {{ color-scheme: {scheme}; }}\n{_block(chosen)}"


def _block(chosen: Colours) -> str:
    lines = "".join(f"  --{name}: {value};\n" for name, value in palette(chosen).items())
    return f":root {{\n{lines}}}\n"


def palette(chosen: Colours) -> dict[str, str]:
    """Every colour of the stylesheet that follows from the four."""
    primary, ground, font = chosen.primary, chosen.background, chosen.font
    on_primary = max(("#ffffff", "#000000"), key=lambda ink: contrast(ink, primary))
    page = _first(
        (mixed(ground, font, 0.04),),
        lambda shade: all(is_readable(ink, shade) for ink in (font, primary, chosen.warn)),
        ground,
    )

    def is_read(ink: str) -> bool:
        return is_readable(ink, ground) and is_readable(ink, page)

    strong = _first(
        (mixed(primary, "#000000", 0.2), mixed(primary, "#ffffff", 0.2)),
        lambda shade: is_read(shade) and is_readable(on_primary, shade),
        primary,
    )
    edge = _first(
        (mixed(font, ground, 0.5), mixed(font, ground, 0.35)),
        lambda shade: min(contrast(shade, ground), contrast(shade, page)) >= _VISIBLE,
        font,
    )
    return {
        "page": page,
        "card": ground,
        "text": font,
        "muted": _first((mixed(font, ground, 0.3), mixed(font, ground, 0.15)), is_read, font),
        "line": mixed(ground, font, 0.15),
        "control": edge,
        "accent": primary,
        "accent-strong": strong,
        "on-accent": on_primary,
        "focus": primary,
        "error": chosen.warn,
        "error-ground": page,
        "note-ground": page,
        "code-ground": page,
    }


def _first(candidates: Iterable[str], is_fit: Callable[[str], bool], otherwise: str) -> str:
    return next((shade for shade in candidates if is_fit(shade)), otherwise)
