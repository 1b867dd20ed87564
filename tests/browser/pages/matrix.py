"""In which ways every page is looked at: with and without scripts, light, dark and in forced
colours, in five languages, on a phone and on a desk.

Six ways of each state have every value, and they shift from state to state. `tox -e full` looks at
every second state in one of them, some with scripts and some without, so that a run meets all
pairs of values; what a page says and how it is built is tested on its HTML in
`tests/handlers/pages`. `tox -e load` looks at every state in all six, and in a tenth of all 90
ways, in others each week.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from typing import NamedTuple

import pytest

from idp.foundation import pseudo_locale
from tests.browser import states

LANGUAGES = ("en", "ar", "de", "ja", pseudo_locale.TAG)
SCHEMES = ("light", "dark", "forced colours")
SIZES = {
    "320": {"width": 320, "height": 640},
    "390": {"width": 390, "height": 844},
    "1280": {"width": 1280, "height": 800},
}
WAYS_OF_A_STATE = 6
USUAL_STATES = range(0, len(states.STATES), 2)


class Way(NamedTuple):
    """One way to look: whether with scripts, and how."""

    language: str
    has_scripts: bool
    scheme: str
    size: str

    @property
    def media(self) -> dict[str, str]:
        """What Chromium is told of the preferences of the user."""
        is_forced = self.scheme == "forced colours"
        return {
            "color_scheme": "light" if is_forced else self.scheme,
            "forced_colors": "active" if is_forced else "none",
        }


EVERY = [Way(*values) for values in product(LANGUAGES, (True, False), SCHEMES, SIZES)]


def six(n: int) -> list[Way]:
    """The ways of the n-th state."""
    sizes = tuple(SIZES)
    return [
        Way(
            LANGUAGES[(i + n) % len(LANGUAGES)],
            (i + n) % 2 == 0,
            SCHEMES[(i + n // 2) % len(SCHEMES)],
            sizes[(i // 2 + n // 3) % len(sizes)],
        )
        for i in range(WAYS_OF_A_STATE)
    ]


def by_default(n: int) -> list[Way]:
    """One of the six ways of the n-th state: of those with scripts, or of those without."""
    half = [way for way in six(n) if way.has_scripts is has_scripts_by_default(n)]
    return [half[n % len(half)]]


def has_scripts_by_default(n: int) -> bool:
    return n // 6 % 2 == n % 2


def tenth(n: int) -> list[Way]:
    """Another tenth of all ways of the n-th state each week."""
    week = datetime.now(UTC).isocalendar().week
    return EVERY[(n + week) % 10 :: 10]


def pages() -> list[str]:
    """The states of all pages but the console's."""
    return [name for name, (_, page, *_) in states.STATES.items() if not is_console(page)]


def is_console(page: str) -> bool:
    return page.startswith(("console", "docs"))


def every_page():
    """Parametrize a test by state, whether with scripts, and the ways to look then."""
    params = []
    for n, state in enumerate(states.STATES):
        for has_scripts in (True, False):
            load = [pytest.mark.load]
            usual = by_default(n) if n in USUAL_STATES else []
            others = [way for way in six(n) if way not in usual]
            for kind, ways, marks in (
                ("one", usual, []),
                ("six", others, load),
                ("tenth", tenth(n), load),
            ):
                chosen = [way for way in ways if way.has_scripts is has_scripts]
                scripts = "scripts" if has_scripts else "no scripts"
                if chosen:
                    params.append(
                        pytest.param(state, chosen, marks=marks, id=f"{state}-{scripts}-{kind}")
                    )
    return pytest.mark.parametrize(("state", "ways"), params)
