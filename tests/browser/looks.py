"""Which pages are looked at in which way.

Three tests look at pages: as they are, from right to left, and in the pseudo-locale. A third of
the pages is looked at in one of these ways whenever the tests run, and all of them in all ways by
`tox -e deep`. The first two ways are for the console and the manual: `test_matrix` does more with
all other pages, and looks at each in every run.
"""

from __future__ import annotations

import pytest

from tests.browser import matrix, states

WAYS = ("as it is", "from right to left", "pseudo-locale")
_PART = 3  # of the pages whose turn it would be


def every_state(way):
    """Parametrize a test by all states; those whose turn it isn't are deep."""
    turn = WAYS.index(way)
    elsewhere = set() if way == "pseudo-locale" else set(matrix.pages())
    params = [
        pytest.param(state, marks=[] if n % (_PART * len(WAYS)) == turn else pytest.mark.deep)
        for n, state in enumerate(states.STATES)
        if state not in elsewhere
    ]
    return pytest.mark.parametrize("state", params)
