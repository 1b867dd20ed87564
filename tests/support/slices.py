"""Matrices of similar rows: some of the rows run by default, all of them in the deep run."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def one_in(n: int, rows: Iterable, *, first: int = 0) -> list:
    """The rows as parameters (tuples as several each), of which every nth from `first` on runs by
    default."""
    return [
        pytest.param(
            *(row if isinstance(row, tuple) else (row,)),
            marks=[] if index % n == first else pytest.mark.deep,
        )
        for index, row in enumerate(rows)
    ]
