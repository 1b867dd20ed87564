"""The benchmarks themselves: they measure what there is."""

from __future__ import annotations

import importlib

import pytest

from tests.support.repository import ROOT

MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "benchmarks").rglob("*.py")
    if not path.name.startswith("__")
)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_the_benchmarks_can_be_imported(name):
    assert importlib.import_module(name).__doc__
