"""In which ways the pages of the login domain are looked at: with and without scripts, light and
dark, in four languages, narrow and wide.

Four ways of each page are pairwise: it meets each value, and so does each value each other one.
The default run looks in one of them, in others at the next page; `tox -e deep` in every way.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import pytest

from idp.foundation import pseudo_locale
from tests.browser import states
from tests.browser.looking import NARROW, WIDE

LANGUAGES = ("en", "ar", "zh-Hans", pseudo_locale.TAG)
SIZES = {"narrow": NARROW, "wide": WIDE}


class Way(NamedTuple):
    """One way to look: whether with scripts, and how."""

    language: str
    has_scripts: bool
    scheme: str
    size: str


EVERY = [Way(*values) for values in product(LANGUAGES, (True, False), ("light", "dark"), SIZES)]
# Four ways in which all pairs of two values meet, but for the language's.
_CORNERS = [(True, "light", "narrow"), (True, "dark", "wide"),
            (False, "light", "wide"), (False, "dark", "narrow")]  # fmt: skip


def pairwise(n: int) -> list[Way]:
    """The ways of the n-th page: languages and the rest meet differently on the next one."""
    turned = [*_CORNERS[n % 4 :], *_CORNERS[: n % 4]]
    return [Way(tag, *corner) for tag, corner in zip(LANGUAGES, turned, strict=True)]


def pages() -> list[str]:
    """The states of all pages but the console's."""
    return [name for name, (_, page, *_) in states.STATES.items() if not _is_console(page)]


def _is_console(page: str) -> bool:
    return page.startswith(("console", "docs"))


def every_page():
    """Parametrize a test by state, and the ways in which it is looked at once it was reached."""
    params = []
    for n, state in enumerate(pages()):
        # Of sixteen pages that follow each other, each meets another language and corner.
        first = pairwise(n)[n // 4 % 4]
        params.append(pytest.param(state, [first], id=_id(state, [first])))
        for how in product(LANGUAGES, (True, False)):
            rest = [way for way in EVERY if way[:2] == how and way != first]
            params.append(pytest.param(state, rest, id=_id(state, rest), marks=pytest.mark.deep))
    return pytest.mark.parametrize(("state", "ways"), params)


def _id(state: str, ways: list[Way]) -> str:
    language, has_scripts = ways[0][:2]
    looks = "+".join(f"{way.scheme} {way.size}" for way in ways)
    return f"{state}-{language}-{'with' if has_scripts else 'without'} scripts-{looks}"
