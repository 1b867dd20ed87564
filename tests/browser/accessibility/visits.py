"""Which states of pages `tox -e full` looks at closely; `tox -e load` looks at all others."""

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
        pytest.param(state, marks=[] if state in USUAL else pytest.mark.load)
        for state in states.STATES
    ]
