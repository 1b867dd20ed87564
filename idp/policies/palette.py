"""The colours of an organization's pages, derived from the few that its label policy names.

The policy names up to four for a scheme (light, dark): for the main action, the background,
warnings and text. All others are derived from these so that every text has enough contrast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

from msgspec import Struct

from idp.foundation.contrast import contrast, is_readable, mixed
from idp.records import LabelRules

Scheme = Literal["light", "dark"]
# The names in the API of the colours for the main action, the background, warnings and text.
NAMES: Final = tuple(
    f"{part}Color{scheme}"
    for scheme in ("", "Dark")
    for part in ("primary", "background", "warn", "font")
)
_VISIBLE: Final = 3.0  # the contrast of a control's edge (WCAG 2.2, 1.4.11)


class Colours(Struct, frozen=True):
    """The four colours, as `#rrggbb`, that a policy can set for one scheme."""

    primary: str
    background: str
    warn: str
    font: str


OWN: Final[dict[Scheme, Colours]] = {
    "light": Colours(primary="#2b4fc7", background="#ffffff", warn="#b3261e", font="#1a2233"),
    "dark": Colours(primary="#9db8ff", background="#191e29", warn="#ffb0a6", font="#e7ebf3"),
}


def colours(rules: LabelRules, scheme: Scheme) -> Colours | None:
    """Returns the four colours of a scheme, with built-in ones for those that the policy does
    not name; None if it names none."""
    suffix, own = "_dark" if scheme == "dark" else "", OWN[scheme]
    colours_set = {
        name: getattr(rules, f"{name}_color{suffix}") for name in Colours.__struct_fields__
    }
    if not any(colours_set.values()):
        return None
    return Colours(**{name: value or getattr(own, name) for name, value in colours_set.items()})


def unreadable(rules: LabelRules, scheme: Scheme) -> Iterator[str]:
    """Yields the names of the colours with too little contrast to the background: `primary`,
    `warn`, `font`."""
    chosen = colours(rules, scheme)
    if chosen is not None:
        for name in ("primary", "warn", "font"):
            if not is_readable(getattr(chosen, name), chosen.background):
                yield name


def stylesheet(rules: LabelRules) -> str:
    """Returns the colours of both schemes as custom properties; an empty text if the policy
    names none."""
    light, dark = colours(rules, "light"), colours(rules, "dark")
    text = _block(light) if light else ""
    # The light scheme's rules apply in both, so the dark scheme has to override each of them.
    dark = dark or (OWN["dark"] if light else None)
    return text + (
        "@media (prefers-color-scheme: dark) {\n" + _block(dark) + "}\n" if dark else ""
    )


def specimen(rules: LabelRules, scheme: Scheme) -> str:
    """Returns a stylesheet with the colours of one scheme, for a preview: it applies whatever
    scheme the browser prefers."""
    chosen = colours(rules, scheme) or OWN[scheme]
    return f":root {{ color-scheme: {scheme}; }}\n{_block(chosen)}"


def _block(chosen: Colours) -> str:
    lines = "".join(f"  --{name}: {value};\n" for name, value in palette(chosen).items())
    return f":root {{\n{lines}}}\n"


def palette(chosen: Colours) -> dict[str, str]:
    """Returns every colour of the stylesheet by its name, derived from the four chosen ones."""
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
