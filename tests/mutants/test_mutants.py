"""Each check of the protocol is missed by some test, once it is taken away."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants import MUTANTS

ROOT = Path(__file__).parents[2]
ASSERTION_FAILED = 1  # pytest's exit code; others say that no test was run


@pytest.mark.load
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.says)
def test_a_check_that_is_taken_away_is_missed(mutant, copy, tried, record_property):
    file = copy / mutant.file
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")

    ran = tried(mutant.tests)

    record_property("counts", f"missed: {mutant.says}")
    assert ran.returncode == ASSERTION_FAILED, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert " failed" in ran.stdout
