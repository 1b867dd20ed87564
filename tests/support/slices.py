"""Matrices of similar rows, of which the suite `load` runs most."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def one_in(n: int, rows: Iterable, *, first: int = 0) -> list:
    """The rows as parameters (tuples as several each), of which the suites `gate` and `full`
    run every nth from `first` on, and `load` the others."""
    return [
        pytest.param(
            *(row if isinstance(row, tuple) else (row,)),
            marks=[] if index % n == first else pytest.mark.load,
        )
        for index, row in enumerate(rows)
    ]
