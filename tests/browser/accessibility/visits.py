"""Which states of pages are looked at closely by default; in `tox -e deep`, all others are."""

from __future__ import annotations

import pytest

from tests.browser import states

# Of each kind of page one: a short form, a long one, a picture, an account, a table.
USUAL = (
    "password, wrong",
    "register, refused",
    "factor, new app",
    "account, security",
    "console, users",
)
NARROW = {"width": 320, "height": 480}


def every_state():
    """Each state as a parameter; what is not usual is deep."""
    return [
        pytest.param(state, marks=[] if state in USUAL else pytest.mark.deep)
        for state in states.STATES
    ]
